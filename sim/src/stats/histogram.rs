//! A histogram of waits with a bounded relative error.

use super::quantile::rank_of;

/// Bits of a value that choose its bucket within an octave: 128 buckets each.
const SUB_BITS: u32 = 7;
const SUB_BUCKETS: u64 = 1 << SUB_BITS;

/// A log-bucketed histogram of waits in nanoseconds.
///
/// Each octave (from a power of two to the next) is cut into 128 equal buckets, so a bucket is at
/// most 1/128 of its values wide and its middle is within 0.4 % of every value in it; values below
/// 256 ns, zero among them, are kept exactly. Everything is integer arithmetic, so merging in any
/// order gives the same histogram. The layout is that of HdrHistogram (Tene). Memory: 8 bytes a
/// bucket up to the largest value's, about 35 kB for waits up to a quarter of an hour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    sum_nanos: u128,
    min_nanos: u64,
    max_nanos: u64,
}

impl Histogram {
    /// Nothing recorded.
    #[must_use]
    pub const fn new() -> Self {
        Self { buckets: Vec::new(), count: 0, sum_nanos: 0, min_nanos: 0, max_nanos: 0 }
    }

    /// Takes in one wait.
    pub fn record(&mut self, nanos: u64) {
        let index = bucket_of(nanos);
        if index >= self.buckets.len() {
            self.buckets.resize(index + 1, 0);
        }
        self.buckets[index] += 1;
        self.min_nanos = if self.count == 0 { nanos } else { self.min_nanos.min(nanos) };
        self.max_nanos = self.max_nanos.max(nanos);
        self.count += 1;
        self.sum_nanos += u128::from(nanos);
    }

    /// Takes in everything that `other` has recorded.
    pub fn merge(&mut self, other: &Histogram) {
        if other.count == 0 {
            return;
        }
        if other.buckets.len() > self.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        for (ours, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *ours += theirs;
        }
        self.min_nanos =
            if self.count == 0 { other.min_nanos } else { self.min_nanos.min(other.min_nanos) };
        self.max_nanos = self.max_nanos.max(other.max_nanos);
        self.count += other.count;
        self.sum_nanos += other.sum_nanos;
    }

    /// How many waits were recorded.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// How many of them were exactly zero.
    #[must_use]
    pub fn zeros(&self) -> u64 {
        self.buckets.first().copied().unwrap_or(0)
    }

    /// The exact mean, nanoseconds; `None` when empty.
    #[must_use]
    pub fn mean_nanos(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_nanos as f64 / self.count as f64)
    }

    /// The exact smallest wait, nanoseconds; `None` when empty.
    #[must_use]
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min_nanos)
    }

    /// The exact largest wait, nanoseconds; `None` when empty.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max_nanos)
    }

    /// The `q`-quantile, nanoseconds, within 0.4 %: the middle of the bucket that holds the order
    /// statistic of rank `ceil(count q)`. `None` when empty or with `q` outside 0 to 1.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let rank = rank_of(q, self.count)?;
        let mut below = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            below += count;
            if below >= rank {
                let (first, last) = bounds_of(index);
                return Some((first + (last - first) / 2).clamp(self.min_nanos, self.max_nanos));
            }
        }
        Some(self.max_nanos)
    }

    /// The share of waits that were at most `nanos`, 0 to 1; a bucket that `nanos` falls into
    /// counts wholly. `None` when empty.
    #[must_use]
    pub fn share_at_most(&self, nanos: u64) -> Option<f64> {
        let below: u64 = self.buckets.iter().take(bucket_of(nanos) + 1).sum();
        (self.count > 0).then(|| below as f64 / self.count as f64)
    }

    /// The empirical distribution function as points (nanoseconds, share at most that), one per
    /// bucket that holds anything, ascending; the last has share 1 and is the exact maximum.
    pub fn cdf(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        let mut below = 0;
        self.buckets.iter().enumerate().filter(|(_, count)| **count > 0).map(
            move |(index, count)| {
                below += count;
                (bounds_of(index).1.min(self.max_nanos), below as f64 / self.count as f64)
            },
        )
    }
}

/// Values below `2 * SUB_BUCKETS` are their own bucket; above, the leading one bit and the
/// `SUB_BITS` bits after it choose it.
fn bucket_of(nanos: u64) -> usize {
    let octave = nanos.max(1).ilog2();
    let index = if octave <= SUB_BITS {
        nanos
    } else {
        let shift = octave - SUB_BITS;
        u64::from(shift) * SUB_BUCKETS + (nanos >> shift)
    };
    index as usize
}

/// The smallest and the largest value of a bucket.
fn bounds_of(index: usize) -> (u64, u64) {
    let index = index as u64;
    if index < 2 * SUB_BUCKETS {
        return (index, index);
    }
    let shift = index / SUB_BUCKETS - 1;
    let first = (index - shift * SUB_BUCKETS) << shift;
    (first, first + ((1 << shift) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::test_random::SplitMix64;

    #[test]
    fn buckets_meet_without_gap_and_keep_the_error_bound() {
        let mut expected_first = 0_u64;
        for index in 0..=bucket_of(u64::MAX) {
            let (first, last) = bounds_of(index);
            assert_eq!(first, expected_first, "bucket {index}");
            assert_eq!((bucket_of(first), bucket_of(last)), (index, index));
            let middle = first + (last - first) / 2;
            assert!((last - middle) as f64 <= 0.004 * first as f64, "bucket {index}");
            expected_first = last.wrapping_add(1);
        }
        assert_eq!(expected_first, 0, "the last bucket ends with the range");
    }

    #[test]
    fn zero_is_counted_exactly() {
        let mut waits = Histogram::new();
        for nanos in [0, 0, 1, 5_000_000_000] {
            waits.record(nanos);
        }
        assert_eq!((waits.zeros(), waits.count()), (2, 4));
        assert_eq!(waits.share_at_most(0), Some(0.5));
        assert_eq!(waits.quantile(0.5), Some(0));
        assert_eq!(waits.quantile(1.0), Some(5_000_000_000));
        assert_eq!((waits.min(), waits.max()), (Some(0), Some(5_000_000_000)));
        assert_eq!(waits.mean_nanos(), Some(1_250_000_000.25));
    }

    #[test]
    fn quantiles_are_within_a_percent() {
        let seed = 42;
        println!("seed {seed}");
        let mut random = SplitMix64(seed);
        let mut waits = Histogram::new();
        let mut exact: Vec<u64> =
            (0..20_000).map(|_| (random.exponential() * 20e9) as u64).collect();
        exact.iter().for_each(|&nanos| waits.record(nanos));
        exact.sort_unstable();
        for q in [0.01, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0] {
            let truth = exact[rank_of(q, 20_000).unwrap() as usize - 1] as f64;
            let found = waits.quantile(q).unwrap() as f64;
            assert!((found - truth).abs() <= 0.01 * truth, "{q}: {found} for {truth}");
        }
    }

    #[test]
    fn merging_parts_is_the_whole_in_any_order() {
        let mut random = SplitMix64(3);
        let (mut whole, mut left, mut right) =
            (Histogram::new(), Histogram::new(), Histogram::new());
        for i in 0..1000 {
            let nanos = random.next() >> (random.next() % 64);
            whole.record(nanos);
            if i % 3 == 0 { left.record(nanos) } else { right.record(nanos) }
        }
        let mut forward = left.clone();
        forward.merge(&right);
        right.merge(&left);
        right.merge(&Histogram::new());
        assert_eq!(forward, whole);
        assert_eq!(right, whole);
    }

    #[test]
    fn the_cdf_ascends_to_one() {
        let mut waits = Histogram::new();
        for nanos in [0, 300, 300, 1_000_000, 77] {
            waits.record(nanos);
        }
        let points: Vec<(u64, f64)> = waits.cdf().collect();
        assert_eq!(points.first(), Some(&(0, 0.2)));
        assert_eq!(points.last(), Some(&(1_000_000, 1.0)));
        assert!(points.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1));
        assert_eq!(Histogram::new().cdf().count(), 0);
        assert_eq!(Histogram::new().quantile(0.5), None);
    }
}
