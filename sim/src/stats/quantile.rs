//! Quantiles within a replication and over replications.

use super::histogram::Histogram;
use super::interval::Interval;

/// The `q`-quantile of numbers in ascending order: the order statistic of rank `ceil(n q)`, at
/// least the first (the inverse of the empirical distribution function; type 1 of Hyndman and Fan
/// 1996, "Sample quantiles in statistical packages"). `None` without numbers or with `q` outside
/// 0 to 1.
#[must_use]
pub fn quantile_of_sorted(sorted: &[f64], q: f64) -> Option<f64> {
    let rank = rank_of(q, sorted.len() as u64)?;
    debug_assert!(sorted.is_sorted(), "quantiles need numbers in ascending order");
    sorted.get(rank as usize - 1).copied()
}

/// Rank, from 1, of the order statistic that is the `q`-quantile of `count` numbers.
pub(super) fn rank_of(q: f64, count: u64) -> Option<u64> {
    if count == 0 || !(0.0..=1.0).contains(&q) {
        return None;
    }
    // The last bit of `q` must not push a rank such as 0.95 * 100 up by one.
    let rank = (q * count as f64 * (1.0 - 4.0 * f64::EPSILON)).ceil() as u64;
    Some(rank.clamp(1, count))
}

/// The `q`-quantile of a histogram of nanoseconds, in seconds.
pub(super) fn quantile_seconds(histogram: &Histogram, q: f64) -> Option<f64> {
    histogram.quantile(q).map(|nanos| nanos as f64 / 1e9)
}

/// The sectioning interval of the `q`-quantile of waits, in seconds: the centre is the quantile of
/// all replications pooled, the spread that of each replication's own quantile about it (see
/// [`Interval::around`] for the source). Pooling matters in the tail: one replication's 99th
/// percentile rests on few waits and is biased, the pooled one is hardly so.
///
/// Replications without waits are left out; `None` when none is left.
#[must_use]
pub fn quantile_interval<'a>(
    replications: impl IntoIterator<Item = &'a Histogram>,
    q: f64,
    confidence: f64,
) -> Option<Interval> {
    let mut pooled = Histogram::new();
    let mut sections = Vec::new();
    for replication in replications {
        if let Some(seconds) = quantile_seconds(replication, q) {
            sections.push(seconds);
            pooled.merge(replication);
        }
    }
    Interval::around(quantile_seconds(&pooled, q)?, &sections, confidence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::CONFIDENCE;
    use crate::stats::test_random::SplitMix64;

    #[test]
    fn quantiles_are_order_statistics() {
        let numbers: Vec<f64> = (1..=100).map(f64::from).collect();
        for (q, rank) in
            [(0.0, 1.0), (0.5, 50.0), (0.95, 95.0), (0.99, 99.0), (0.995, 100.0), (1.0, 100.0)]
        {
            assert_eq!(quantile_of_sorted(&numbers, q), Some(rank), "{q}");
        }
        assert_eq!(quantile_of_sorted(&[], 0.5), None);
        assert_eq!(quantile_of_sorted(&numbers, 1.5), None);
        assert_eq!(quantile_of_sorted(&numbers, f64::NAN), None);
    }

    #[test]
    fn sectioning_covers_the_true_quantile() {
        let seed = 95;
        println!("seed {seed}");
        let mut random = SplitMix64(seed);
        let truth = 10_f64.ln();
        let runs = 400;
        let mut covered = 0;
        for _ in 0..runs {
            let replications: Vec<Histogram> = (0..10)
                .map(|_| {
                    let mut waits = Histogram::new();
                    for _ in 0..400 {
                        waits.record((random.exponential() * 1e9) as u64);
                    }
                    waits
                })
                .collect();
            let found = quantile_interval(&replications, 0.9, CONFIDENCE).unwrap();
            if found.low().unwrap() <= truth && truth <= found.high().unwrap() {
                covered += 1;
            }
        }
        let share = f64::from(covered) / f64::from(runs);
        assert!((0.91..=0.985).contains(&share), "{share}");
    }

    #[test]
    fn replications_without_waits_do_not_count() {
        let mut waits = Histogram::new();
        waits.record(2_000_000_000);
        let found = quantile_interval(&[Histogram::new(), waits], 0.5, CONFIDENCE).unwrap();
        assert_eq!((found.n, found.half_width), (1, None));
        assert_eq!(found.mean, 2.0);
        assert_eq!(quantile_interval(&[Histogram::new()], 0.5, CONFIDENCE), None);
    }
}
