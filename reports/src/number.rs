//! Numbers as a reader wants them: as many digits as the interval supports, and no more.

use crate::data::Estimate;

/// The minus sign of typography, as wide as a plus sign.
const MINUS: char = '\u{2212}';

/// Decimal places that show `digits` significant digits of `size`, 0 to 6.
pub(crate) fn decimals_for(size: f64, digits: i32) -> usize {
    let size = size.abs();
    if size == 0.0 || !size.is_finite() {
        return 0;
    }
    let decimals = digits - 1 - size.log10().floor() as i32;
    decimals.clamp(0, 6) as usize
}

/// A number with a fixed count of decimals, thousands grouped by thin spaces, a real minus sign
/// and no minus before zero. From ten million on, and below what the decimals can show, powers of
/// ten are written out.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    let size = value.abs();
    let sign = |text: &str| if value < 0.0 { format!("{MINUS}{text}") } else { text.to_string() };
    if size >= 1e7 || (size > 0.0 && size < 1e-6) {
        return sign(&powers_of_ten(size));
    }
    let text = format!("{size:.decimals$}");
    if text.bytes().all(|byte| byte == b'0' || byte == b'.') {
        return text;
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut grouped = String::new();
    for (i, digit) in whole.chars().enumerate() {
        // Four digits read well without a gap.
        if i > 0 && whole.len() > 4 && (whole.len() - i).is_multiple_of(3) {
            grouped.push('\u{2009}');
        }
        grouped.push(digit);
    }
    if !fraction.is_empty() {
        grouped.push('.');
        grouped.push_str(fraction);
    }
    sign(&grouped)
}

/// `fixed` with a plus sign before what is above zero.
pub(crate) fn signed(value: f64, decimals: usize) -> String {
    let text = fixed(value, decimals);
    let is_zero = text.chars().all(|c| c == '0' || c == '.');
    if value > 0.0 && !is_zero { format!("+{text}") } else { text }
}

/// A number by itself, with at most three significant digits behind the point.
pub(crate) fn plain(value: f64) -> String {
    let text = fixed(value, decimals_for(value, 3));
    if text.contains('.') && !text.contains('\u{d7}') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

/// A tick label: as many decimals as the step between ticks needs.
pub(crate) fn tick(value: f64, step: f64) -> String {
    fixed(value, decimals_for_step(step))
}

/// Decimals that tell ticks one `step` apart: 0.25 needs two, 0.5 one, 20 none.
fn decimals_for_step(step: f64) -> usize {
    (0..6)
        .find(|&decimals| {
            let scaled = step * 10_f64.powi(decimals);
            (scaled - scaled.round()).abs() < 1e-6 * scaled.abs().max(1.0) && scaled.round() >= 1.0
        })
        .unwrap_or(6) as usize
}

/// `mean ± half-width`, or `mean [low, high]` where the interval is lopsided, or the mean alone.
pub(crate) fn estimate(estimate: &Estimate) -> String {
    with(estimate, fixed)
}

/// A difference: as `estimate`, with a sign on everything but the half-width.
pub(crate) fn difference(estimate: &Estimate) -> String {
    with(estimate, signed)
}

fn with(estimate: &Estimate, write: fn(f64, usize) -> String) -> String {
    let Some((low, high)) = estimate.interval else {
        return write(estimate.mean, decimals_for(estimate.mean, 3));
    };
    let half = high / 2.0 - low / 2.0;
    let decimals = if half > 0.0 { decimals_for(half, 2) } else { decimals_for(estimate.mean, 3) };
    let centre = low + half;
    if (estimate.mean - centre).abs() <= 0.02 * half + f64::EPSILON * estimate.mean.abs() {
        format!("{} \u{b1} {}", write(estimate.mean, decimals), fixed(half, decimals))
    } else {
        interval_around(estimate.mean, low, high, decimals, write)
    }
}

fn interval_around(
    mean: f64,
    low: f64,
    high: f64,
    decimals: usize,
    write: fn(f64, usize) -> String,
) -> String {
    format!("{} [{}, {}]", write(mean, decimals), write(low, decimals), write(high, decimals))
}

/// The mean of a difference alone, with as many digits as `ends` shows.
pub(crate) fn difference_mean(estimate: &Estimate) -> String {
    let size = match estimate.interval {
        Some((low, high)) if high > low => high / 2.0 - low / 2.0,
        _ => return signed(estimate.mean, decimals_for(estimate.mean, 3)),
    };
    signed(estimate.mean, decimals_for(size, 2))
}

/// The two ends of an interval, signed: `[−4.1, −2.3]`; a dash where there is none.
pub(crate) fn ends(estimate: &Estimate) -> String {
    match estimate.interval {
        None => "\u{2013}".into(),
        Some((low, high)) => {
            let decimals = decimals_for(high / 2.0 - low / 2.0, 2);
            format!("[{}, {}]", signed(low, decimals), signed(high, decimals))
        }
    }
}

fn powers_of_ten(size: f64) -> String {
    let exponent = size.log10().floor() as i32;
    let mantissa = size / 10_f64.powi(exponent);
    // Dividing by a power below the smallest normal number overflows; such a number is as good as
    // zero to a reader.
    if !mantissa.is_finite() {
        return "0".into();
    }
    let mut digits = String::new();
    for c in exponent.to_string().chars() {
        digits.push(match c {
            '-' => '\u{207b}',
            '1' => '\u{b9}',
            '2' => '\u{b2}',
            '3' => '\u{b3}',
            other => char::from_u32(0x2070 + other.to_digit(10).unwrap_or(0)).unwrap_or('?'),
        });
    }
    format!("{mantissa:.1}\u{d7}10{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_half_width() {
        assert_eq!(estimate(&Estimate::new(12.345, 12.115, 12.575)), "12.35 \u{b1} 0.23");
        assert_eq!(estimate(&Estimate::new(1234.5, 1134.5, 1334.5)), "1234 \u{b1} 100");
        assert_eq!(estimate(&Estimate::new(0.0, 0.0, 0.0)), "0 \u{b1} 0");
        assert_eq!(estimate(&Estimate::point(0.66916)), "0.669");
    }

    #[test]
    fn a_lopsided_interval_shows_both_ends() {
        assert_eq!(estimate(&Estimate::new(2.0, 1.9, 2.7)), "2.00 [1.90, 2.70]");
    }

    #[test]
    fn differences_carry_their_sign() {
        assert_eq!(difference(&Estimate::new(-3.0, -4.0, -2.0)), "\u{2212}3.0 \u{b1} 1.0");
        assert_eq!(ends(&Estimate::new(3.0, 2.0, 4.0)), "[+2.0, +4.0]");
        assert_eq!(ends(&Estimate::point(3.0)), "\u{2013}");
    }

    #[test]
    fn a_plain_number_has_no_trailing_zeros() {
        assert_eq!(plain(10.0), "10");
        assert_eq!(plain(0.1), "0.1");
        assert_eq!(plain(2.345), "2.35");
        assert_eq!(plain(0.0), "0");
    }

    #[test]
    fn zero_has_no_minus() {
        assert_eq!(fixed(-0.0001, 2), "0.00");
        assert_eq!(signed(0.0001, 2), "0.00");
        assert_eq!(fixed(-0.0, 0), "0");
    }

    #[test]
    fn large_and_tiny_numbers_stay_short() {
        assert_eq!(fixed(1_234_567.0, 0), "1\u{2009}234\u{2009}567");
        assert_eq!(fixed(1e12, 0), "1.0\u{d7}10\u{b9}\u{b2}");
        assert_eq!(fixed(-2.5e-9, 2), "\u{2212}2.5\u{d7}10\u{207b}\u{2079}");
        for value in [f64::MAX, f64::MIN_POSITIVE, 5e-324] {
            assert!(fixed(value, 3).chars().count() < 12, "{}", fixed(value, 3));
        }
    }

    #[test]
    fn ticks_have_the_decimals_of_their_step() {
        assert_eq!(tick(0.25, 0.25), "0.25");
        assert_eq!(tick(1.0, 0.5), "1.0");
        assert_eq!(tick(40.0, 20.0), "40");
    }
}
