//! Differences between two policies that met the same luck.

use super::histogram::Histogram;
use super::interval::Interval;
use super::quantile::quantile_seconds;

/// What an interval of a difference says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The whole interval lies below zero.
    Below,
    /// The whole interval lies above zero.
    Above,
    /// Zero lies in the interval, or there is no interval.
    Unclear,
}

impl Direction {
    /// Reads it off an interval.
    #[must_use]
    pub fn of(difference: &Interval) -> Direction {
        match (difference.excludes_zero(), difference.mean < 0.0) {
            (false, _) => Direction::Unclear,
            (true, true) => Direction::Below,
            (true, false) => Direction::Above,
        }
    }
}

/// The paired-t interval of `other - base`, replication by replication (Law, "Simulation Modeling
/// and Analysis", 5th ed., section 10.2.1).
///
/// Replication `i` of both must have met the same arrivals and the same luck (common random
/// numbers); then what they share cancels and the interval is far narrower than that of two
/// independent runs. A replication in which either has no value is left out. `None` when no pair
/// is left.
///
/// A difference below one part in 10^12 of the values is rounding and counts as none; otherwise two
/// policies that behave the same could differ significantly in the last bit.
#[must_use]
pub fn paired_difference(
    base: &[Option<f64>],
    other: &[Option<f64>],
    confidence: f64,
) -> Option<Interval> {
    let differences: Vec<f64> = base
        .iter()
        .zip(other)
        .filter_map(|(base, other)| Some(apart((*base)?, (*other)?)))
        .collect();
    Interval::of(&differences, confidence)
}

/// `other - base`, without what is rounding.
fn apart(base: f64, other: f64) -> f64 {
    let difference = other - base;
    if difference.abs() <= 1e-12 * base.abs().max(other.abs()) { 0.0 } else { difference }
}

/// The paired interval of the difference of a quantile, in seconds: its centre is the difference
/// of the pooled quantiles, its spread that of the replications' own differences (sectioning, see
/// [`Interval::around`]). So the centre agrees with the two quantiles in the table.
///
/// `None` when no pair of replications has values on both sides.
#[must_use]
pub fn paired_quantile_difference<'a>(
    base: impl IntoIterator<Item = &'a Histogram>,
    other: impl IntoIterator<Item = &'a Histogram>,
    q: f64,
    confidence: f64,
) -> Option<Interval> {
    let (mut all_base, mut all_other) = (Histogram::new(), Histogram::new());
    let mut differences = Vec::new();
    for (base, other) in base.into_iter().zip(other) {
        if let (Some(from), Some(to)) = (quantile_seconds(base, q), quantile_seconds(other, q)) {
            differences.push(to - from);
            all_base.merge(base);
            all_other.merge(other);
        }
    }
    let centre = quantile_seconds(&all_other, q)? - quantile_seconds(&all_base, q)?;
    Interval::around(centre, &differences, confidence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::CONFIDENCE;
    use crate::stats::test_random::SplitMix64;

    fn some(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().copied().map(Some).collect()
    }

    #[test]
    fn a_known_difference() {
        let base = some(&[126.97, 124.31, 126.68, 122.66, 127.23]);
        let other = some(&[118.21, 120.22, 122.45, 122.68, 119.40]);
        let found = paired_difference(&base, &other, 0.90).unwrap();
        // Differences -8.76, -4.09, -4.23, 0.02, -7.83: mean -4.978, s 3.483, t(4, 0.95) = 2.132.
        assert!((found.mean + 4.978).abs() < 1e-9);
        assert!((found.half_width.unwrap() - 3.321).abs() < 0.01, "{found:?}");
        assert_eq!(Direction::of(&found), Direction::Below);
    }

    #[test]
    fn replications_without_a_value_are_left_out_in_pairs() {
        let base = vec![Some(1.0), None, Some(3.0), Some(4.0)];
        let other = vec![Some(2.0), Some(9.0), None, Some(5.0)];
        let found = paired_difference(&base, &other, CONFIDENCE).unwrap();
        assert_eq!((found.n, found.mean), (2, 1.0));
        assert_eq!(paired_difference(&[None], &[Some(1.0)], CONFIDENCE), None);
    }

    #[test]
    fn rounding_is_no_difference() {
        let base = some(&[0.3, 0.6, 0.7]);
        let other = some(&[0.1 + 0.2, 0.4 + 0.2, 0.1 + 0.6]);
        assert_ne!(base, other);
        let found = paired_difference(&base, &other, CONFIDENCE).unwrap();
        assert_eq!((found.mean, found.half_width), (0.0, Some(0.0)));
    }

    #[test]
    fn sharing_luck_narrows_the_interval() {
        let seed = 7;
        println!("seed {seed}");
        let mut random = SplitMix64(seed);
        let luck: Vec<f64> = (0..20).map(|_| 10.0 * random.exponential()).collect();
        let base = some(&luck);
        let other: Vec<Option<f64>> =
            luck.iter().map(|l| Some(l + 0.5 + 0.1 * random.uniform())).collect();
        let paired = paired_difference(&base, &other, CONFIDENCE).unwrap();
        let alone = Interval::of(&luck, CONFIDENCE).unwrap();
        assert!(paired.half_width.unwrap() * 50.0 < alone.half_width.unwrap());
        assert_eq!(Direction::of(&paired), Direction::Above);
        let same = paired_difference(&base, &base, CONFIDENCE).unwrap();
        assert_eq!(Direction::of(&same), Direction::Unclear);
    }

    #[test]
    fn a_quantile_difference_is_centred_on_the_pooled_quantiles() {
        let mut random = SplitMix64(11);
        let (mut base, mut other) = (Vec::new(), Vec::new());
        for _ in 0..12 {
            let (mut left, mut right) = (Histogram::new(), Histogram::new());
            for _ in 0..2000 {
                let nanos = (random.exponential() * 1e9) as u64;
                left.record(nanos);
                right.record(nanos * 2);
            }
            base.push(left);
            other.push(right);
        }
        let found = paired_quantile_difference(&base, &other, 0.95, CONFIDENCE).unwrap();
        // The 95th percentile of a mean-one exponential is ln 20, and twice that less once that.
        assert!((found.mean - 20_f64.ln()).abs() < 0.08, "{found:?}");
        assert!(found.excludes_zero());
        assert_eq!(paired_quantile_difference(&[], &[], 0.95, CONFIDENCE), None);
    }
}
