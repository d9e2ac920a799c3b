//! How wide a text will be, and how to make it fit. No font is at hand, so widths are those of a
//! common sans-serif face, rounded up.

/// Width of a text, pixels, at a font size in pixels.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

/// Advance of one character, in font sizes.
fn advance(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '\'' | '|' | '\u{2009}' => 0.24,
        'I' | 'f' | 't' | 'r' | ' ' | '.' | ',' | ':' | ';' | '!' | '/' | '(' | ')' | '[' | ']'
        | '-' => 0.34,
        'm' | 'M' | 'W' | '%' | '@' | '\u{2026}' => 0.92,
        'w' | 'O' | 'Q' | 'G' | 'D' | 'C' | 'H' | 'N' | 'R' | 'U' => 0.76,
        'A'..='Z' | '&' => 0.69,
        '+' | '=' | '<' | '>' | '~' | '\u{2212}' | '\u{b1}' => 0.6,
        c if c.is_ascii() => 0.56,
        // Wide scripts and symbols take a full square.
        c if c >= '\u{1100}' => 1.0,
        _ => 0.62,
    }
}

/// The text, cut with an ellipsis if it is wider than `max_width` pixels.
pub(crate) fn cut(text: &str, size: f64, max_width: f64) -> String {
    if width(text, size) <= max_width {
        return text.to_string();
    }
    let mut kept = String::new();
    let mut used = advance('\u{2026}') * size;
    for c in text.chars() {
        used += advance(c) * size;
        if used > max_width {
            break;
        }
        kept.push(c);
    }
    let mut kept = kept.trim_end().to_string();
    kept.push('\u{2026}');
    kept
}

/// The text in at most `max_lines` lines, broken at spaces and after hyphens and underscores; what
/// does not fit is cut.
pub(crate) fn wrap(text: &str, size: f64, max_width: f64, max_lines: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for piece in text.split_inclusive([' ', '-', '_', '/', ',']) {
        let longer = format!("{line}{piece}");
        if !line.is_empty()
            && width(longer.trim_end(), size) > max_width
            && lines.len() + 1 < max_lines
        {
            lines.push(line.trim_end().to_string());
            line = piece.to_string();
        } else {
            line = longer;
        }
    }
    lines.push(line.trim_end().to_string());
    lines.into_iter().map(|line| cut(&line, size, max_width)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_stays_whole() {
        assert_eq!(cut("base", 13.0, 100.0), "base");
        assert_eq!(wrap("base", 13.0, 100.0, 2), ["base"]);
        assert_eq!(wrap("", 13.0, 100.0, 2), [""]);
    }

    #[test]
    fn what_is_cut_fits_and_says_so() {
        let name = "warm=3, borrow_keep_free=2, sandbox_wait_seconds=45, likely starts";
        let cut_name = cut(name, 13.0, 120.0);
        assert!(cut_name.ends_with('\u{2026}') && width(&cut_name, 13.0) <= 120.0, "{cut_name}");
        let lines = wrap(name, 13.0, 120.0, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| width(line, 13.0) <= 120.0), "{lines:?}");
        assert!(lines[1].ends_with('\u{2026}'));
    }

    #[test]
    fn one_long_word_is_cut_too() {
        let lines = wrap(&"x".repeat(500), 13.0, 80.0, 3);
        assert!(lines.iter().all(|line| width(line, 13.0) <= 80.0), "{lines:?}");
    }
}
