//! Numbers for people: as many digits as the interval supports.

/// A mean with its half-width, such as `12.34 ± 0.12`. The half-width has two significant digits
/// and the mean as many decimals; without a half-width the mean has four significant digits;
/// without a mean there is a dash.
pub(super) fn mean_and_half_width(mean: Option<f64>, half_width: Option<f64>) -> String {
    match (mean, half_width) {
        (None, _) => "-".to_owned(),
        (Some(mean), None) => fixed(mean, decimals_for(mean, 4)),
        (Some(mean), Some(half)) if half == 0.0 => format!("{} ± 0", plain(mean)),
        (Some(mean), Some(half)) => {
            let decimals = decimals_for(half, 2);
            format!("{} ± {}", fixed(mean, decimals), fixed(half, decimals))
        }
    }
}

/// An interval, such as `-1.20 to -0.80`, with as many decimals as its width supports.
pub(super) fn interval(low: Option<f64>, high: Option<f64>) -> String {
    let (Some(low), Some(high)) = (low, high) else { return "-".to_owned() };
    let half = (high - low) / 2.0;
    if half == 0.0 {
        return format!("{} to {}", plain(low), plain(high));
    }
    let decimals = decimals_for(half, 2);
    format!("{} to {}", fixed(low, decimals), fixed(high, decimals))
}

/// A difference with its sign, with as many decimals as its half-width supports.
pub(super) fn signed(mean: Option<f64>, half_width: Option<f64>) -> String {
    let Some(mean) = mean else { return "-".to_owned() };
    let text = match half_width {
        Some(half) if half > 0.0 => fixed(mean, decimals_for(half, 2)),
        _ => plain(mean),
    };
    if mean > 0.0 && text.chars().any(|c| ('1'..='9').contains(&c)) {
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
            (0.0, Some(0.0), "0 ± 0"),
            (-0.001, Some(0.5), "0.00 ± 0.50"),
            (3.141_59, None, "3.142"),
        ] {
            assert_eq!(mean_and_half_width(Some(mean), half), text);
        }
        assert_eq!(mean_and_half_width(None, None), "-");
    }

    #[test]
    fn signs_are_shown_where_there_is_something() {
        assert_eq!(signed(Some(1.234), Some(0.5)), "+1.23");
        assert_eq!(signed(Some(-1.234), Some(0.5)), "-1.23");
        assert_eq!(signed(Some(0.001), Some(0.5)), "0.00");
        assert_eq!(signed(Some(0.0), Some(0.0)), "0");
        assert_eq!(signed(None, None), "-");
    }

    #[test]
    fn intervals_have_equal_decimals() {
        assert_eq!(interval(Some(-1.234), Some(0.8)), "-1.2 to 0.8");
        assert_eq!(interval(Some(2.0), Some(2.0)), "2 to 2");
        assert_eq!(interval(None, Some(2.0)), "-");
    }
}
