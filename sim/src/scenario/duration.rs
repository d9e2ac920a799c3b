//! Lengths of time as people write them: `"24h"`, `"90m"`, `"1h30m"`.

use sandpool_core::Span;

/// The units, with their lengths in nanoseconds.
const UNITS: [(&str, u64); 5] = [
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// The units in words, for messages.
pub(crate) const UNIT_HINT: &str =
    "write a number and a unit, ms, s, m, h or d, such as \"30s\", \"24h\" or \"1h30m\"";

/// The longest length of time that a file may name, about 285 years. Half of what integer
/// nanoseconds hold, so that the sum of two of them still does.
const LONGEST_NANOS: f64 = 9e18;

/// Reads a length of time: one or more numbers, each followed by its unit. Fractions are allowed;
/// the result is rounded to the nanosecond.
///
/// # Errors
/// With a fragment that says what is wrong with the text.
pub(crate) fn parse_duration(text: &str) -> Result<Span, String> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err("is empty".to_owned());
    }
    if rest.starts_with('-') {
        return Err("is negative".to_owned());
    }
    let mut nanos = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let number: f64 = number.parse().map_err(|_| {
            if number.is_empty() {
                format!("lacks a number before {rest:?}")
            } else {
                format!("contains {number:?}, which is no number")
            }
        })?;
        let after = after.trim_start();
        let letters = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let (unit, next) = after.split_at(letters);
        if unit.is_empty() {
            return Err(format!("lacks a unit after {number}"));
        }
        let scale = UNITS
            .iter()
            .find(|(name, _)| *name == unit)
            .map(|&(_, scale)| scale)
            .ok_or_else(|| format!("has the unknown unit {unit:?}"))?;
        nanos += number * scale as f64;
        rest = next.trim_start();
    }
    if nanos > LONGEST_NANOS {
        return Err("is too long".to_owned());
    }
    Ok(Span::from_nanos(nanos.round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_add_up() {
        let seconds = |text: &str| parse_duration(text).unwrap().as_secs_f64();
        assert_eq!(seconds("24h"), 86_400.0);
        assert_eq!(seconds("90m"), 5_400.0);
        assert_eq!(seconds("1h30m"), 5_400.0);
        assert_eq!(seconds("1d 2h"), 93_600.0);
        assert_eq!(seconds("0.5s"), 0.5);
        assert_eq!(seconds("250ms"), 0.25);
        assert_eq!(seconds("0s"), 0.0);
    }

    #[test]
    fn mistakes_are_named() {
        let wrong = |text: &str| parse_duration(text).unwrap_err();
        assert_eq!(wrong(""), "is empty");
        assert_eq!(wrong("90"), "lacks a unit after 90");
        assert_eq!(wrong("3 weeks"), "has the unknown unit \"weeks\"");
        assert_eq!(wrong("-3s"), "is negative");
        assert_eq!(wrong("h"), "lacks a number before \"h\"");
        assert_eq!(wrong("1.2.3s"), "contains \"1.2.3\", which is no number");
        assert_eq!(wrong("999999999d"), "is too long");
    }
}
