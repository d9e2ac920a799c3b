//! Random orders that need no memory.

use super::stream::StreamFamily;

/// Enough rounds that no order of a small set is noticeably favoured.
const ROUNDS: u32 = 8;

/// A random order of the numbers below `len`, worked out place by place: a Feistel network over
/// the next power of four, walked until it lands below `len` again (Black and Rogaway, "Ciphers
/// with arbitrary finite domains", 2002). Any place can be asked for at any time, so nothing has
/// to be kept for those who come back to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Permutation {
    len: u32,
    half_bits: u32,
}

impl Permutation {
    /// Orders of `len` things.
    pub(crate) fn new(len: u32) -> Self {
        let bits = u32::BITS - len.saturating_sub(1).leading_zeros();
        Self { len, half_bits: bits.div_ceil(2).max(1) }
    }

    /// What stands at `place` in order number `order` of this family.
    ///
    /// # Panics
    /// When `place` is not below the length.
    pub(crate) fn at(&self, family: &StreamFamily, order: u64, place: u32) -> u32 {
        assert!(place < self.len, "place {place} in an order of {}", self.len);
        let mask = (1u32 << self.half_bits) - 1;
        let mut value = place;
        loop {
            let (mut left, mut right) = (value >> self.half_bits, value & mask);
            for round in 0..ROUNDS {
                let mixed = family.part(order, round + 1, right).bits() as u32 & mask;
                (left, right) = (right, left ^ mixed);
            }
            value = left << self.half_bits | right;
            // A bijection of the larger set comes back below `len` after a few steps.
            if value < self.len {
                return value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;
    use std::collections::BTreeMap;

    #[test]
    fn every_order_holds_everything_once() {
        let family = StreamFamily::new(3, 1, Purpose::TraceStart);
        for len in [1u32, 2, 3, 4, 5, 16, 17, 234, 7366] {
            for order in 0..3 {
                let permutation = Permutation::new(len);
                let mut found: Vec<u32> =
                    (0..len).map(|place| permutation.at(&family, order, place)).collect();
                found.sort_unstable();
                assert!(found.into_iter().eq(0..len), "length {len}, order {order}");
            }
        }
        // The largest length must not overflow.
        assert!(Permutation::new(u32::MAX).at(&family, 0, u32::MAX - 1) < u32::MAX);
    }

    #[test]
    fn every_order_of_a_small_set_is_as_likely() {
        let seed = 11;
        let family = StreamFamily::new(seed, 0, Purpose::TraceStart);
        for (len, orders) in [(2u32, 2usize), (3, 6), (4, 24)] {
            let mut counts: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
            let draws = 24_000;
            for order in 0..draws {
                let permutation = Permutation::new(len);
                let found = (0..len).map(|place| permutation.at(&family, order, place)).collect();
                *counts.entry(found).or_default() += 1.0;
            }
            assert_eq!(counts.len(), orders, "seed {seed}, length {len}");
            let p = 1.0 / orders as f64;
            let sd = (draws as f64 * p * (1.0 - p)).sqrt();
            for (found, count) in counts {
                let off = count - draws as f64 * p;
                assert!(off.abs() < 4.5 * sd, "seed {seed}: {found:?} is {off} off, SD {sd}");
            }
        }
    }

    #[test]
    fn neighbours_do_not_stay_neighbours() {
        let family = StreamFamily::new(5, 0, Purpose::TraceStart);
        let permutation = Permutation::new(234);
        let order: Vec<u32> = (0..234).map(|place| permutation.at(&family, 9, place)).collect();
        let rising = order.windows(2).filter(|pair| pair[0] < pair[1]).count();
        // Half of 233 is expected, with a standard deviation of about 4.4.
        assert!((98..=136).contains(&rising), "{rising} of 233 neighbours are in order");
    }
}
