//! Shortens a tool's output: what it began with and how it ended are what a model needs.

use super::rules::ContextRules;
use std::borrow::Cow;

/// The text in at most this many bytes. What is short enough stays as it is, so that shortening
/// twice is the same as once.
pub(super) fn shorten(text: &str, most_bytes: usize) -> Cow<'_, str> {
    let most = most_bytes.max(ContextRules::SHORTEST);
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    // The note is never longer than one that leaves out the whole text.
    let room = most - note(text.len()).len();
    let head = text.floor_char_boundary(room.div_ceil(2));
    let tail = text.ceil_char_boundary(text.len() - room / 2);
    Cow::Owned(format!("{}{}{}", &text[..head], note(tail - head), &text[tail..]))
}

fn note(bytes: usize) -> String {
    format!("\n... {bytes} bytes left out ...\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_and_tail_are_kept_and_the_rest_is_counted() {
        let text = format!("begin{}end", "x".repeat(1_000));
        let short = shorten(&text, 100);
        assert!(short.starts_with("beginxxx") && short.ends_with("xxxend"), "{short}");
        // The note's number may have fewer digits than the room that was kept for it.
        assert!((95..=100).contains(&short.len()), "{}", short.len());
        let note = short.split("... ").nth(1).unwrap();
        let left_out: usize = note.split(' ').next().unwrap().parse().unwrap();
        let kept = short.len() - super::note(left_out).len();
        assert_eq!(left_out + kept, text.len());
    }

    #[test]
    fn letters_are_not_cut_in_two() {
        let text = "\u{1f980}".repeat(200);
        for most in 0..=810 {
            let short = shorten(&text, most);
            assert!(short.len() <= most.max(ContextRules::SHORTEST), "{most}");
            assert_eq!(shorten(&short, most), short, "{most}");
        }
        assert_eq!(shorten(&text, 800), text);
    }
}
