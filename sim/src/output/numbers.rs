//! Numbers for people: as many digits as the interval supports.

/// A mean with its half-width, such as `12.34 ± 0.12`. The half-width has two significant digits
/// and the mean as many decimals; without a half-width the mean has four significant digits;
/// without a mean there is a dash.
pub(super) fn mean_and_half_width(mean: Option<f64>, half_width: Option<f64>) -> String {
    match (mean, half_width) {
        (None, _) => "-".to_owned(),
        (Some(mean), None) => fixed(mean, decimals_for(mean, 4)),
        // Half-widths of rounding size say nothing but zero.
        (Some(mean), Some(half)) if half <= 1e-9 * mean.abs() => format!("{} ± 0", plain(mean)),
        (Some(mean), Some(half)) => {
            let decimals = decimals_for(half, 2);
            format!("{} ± {}", fixed(mean, decimals), fixed(half, decimals))
        }
    }
}

/// A difference with its sign and half-width, such as `+1.23 ± 0.50`.
pub(super) fn signed(mean: Option<f64>, half_width: Option<f64>) -> String {
    let text = mean_and_half_width(mean, half_width);
    let shown = text.split(' ').next().unwrap_or_default();
    if mean.is_some_and(|mean| mean > 0.0) && shown.chars().any(|c| ('1'..='9').contains(&c)) {
        format!("+{text}")
    } else {
        text
    }
}

/// Up to four significant digits, without zeros at the end.
fn plain(value: f64) -> String {
    let text = fixed(value, decimals_for(value, 4));
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// How many decimals show `digits` significant digits of `value`; at most 9.
fn decimals_for(value: f64, digits: i32) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    let exponent = value.abs().log10().floor() as i32;
    // A value such as 0.0996 gains a digit when it is rounded.
    let rounds_up = value.abs() * 10_f64.powi(digits - 1 - exponent) >= 10_f64.powi(digits) - 0.5;
    (digits - 1 - exponent - i32::from(rounds_up)).clamp(0, 9) as usize
}

fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    // Minus zero means nothing to a reader.
    match text.strip_prefix('-') {
        Some(rest) if !rest.chars().any(|c| ('1'..='9').contains(&c)) => rest.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_half_width() {
        for (mean, half, text) in [
            (12.3456, Some(0.1234), "12.35 ± 0.12"),
            (0.093_948, Some(0.001_55), "0.0939 ± 0.0015"),
            (1234.5, Some(56.7), "1234 ± 57"),
            (1.0, Some(0.0996), "1.00 ± 0.10"),
            (5.0, Some(0.0), "5 ± 0"),
            (0.1, Some(1e-17), "0.1 ± 0"),
            (0.0, Some(0.0), "0 ± 0"),
            (-0.001, Some(0.5), "0.00 ± 0.50"),
            (2.345_67, None, "2.346"),
        ] {
            assert_eq!(mean_and_half_width(Some(mean), half), text);
        }
        assert_eq!(mean_and_half_width(None, None), "-");
    }

    #[test]
    fn signs_are_shown_where_there_is_something() {
        assert_eq!(signed(Some(1.234), Some(0.5)), "+1.23 ± 0.50");
        assert_eq!(signed(Some(-1.234), Some(0.5)), "-1.23 ± 0.50");
        assert_eq!(signed(Some(0.001), Some(0.5)), "0.00 ± 0.50");
        assert_eq!(signed(Some(0.0), Some(0.0)), "0 ± 0");
        assert_eq!(signed(Some(2.5), None), "+2.500");
        assert_eq!(signed(None, None), "-");
    }
}
