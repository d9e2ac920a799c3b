//! The random generator: a keyed hash of a counter.
//!
//! The value number `i` of a stream is a function of `(seed, replication, purpose, entity, i)` and
//! of nothing else. Two policies that meet the same conversation therefore meet the same luck,
//! however differently they order their work (common random numbers), a stream costs nothing to
//! make, and no order of calls and no number of threads can change a result.
//!
//! The mixing function is the finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable
//! pseudorandom number generators", 2014, with the constants of Stafford's variant 13). It works
//! on integers only, so every platform computes the same values, and it is written out here, so no
//! upgrade of a crate can change them. It is not fit for secrets.

use rand::TryRng;
use std::convert::Infallible;

/// What a random number is for. The numbers are part of every result: never change or reuse one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Purpose {
    /// Gaps between the starts of conversations.
    Arrival = 1,
    /// Whose a conversation is.
    Account = 2,
    /// Turns of a conversation.
    Turns = 3,
    /// Pause between two turns.
    Think = 4,
    /// Whether a turn runs code.
    NeedsCode = 5,
    /// How well a caller foresees that.
    Hint = 6,
    /// Executes of a turn.
    Executes = 7,
    /// Agent work before the first execute.
    WorkBefore = 8,
    /// Agent work between two executes.
    WorkBetween = 9,
    /// Agent work after the last execute.
    WorkAfter = 10,
    /// How long an execute runs.
    ExecuteSeconds = 11,
    /// Class of a conversation's sandboxes.
    ClassMix = 12,
    /// How long a blocked execute waits.
    Patience = 13,
    /// Whether and when a refused execute is tried again.
    Retry = 14,
    /// From the last turn to the closing of the conversation.
    CloseAfter = 15,
    /// How long the provider takes to create a sandbox.
    CreateLatency = 16,
    /// How long the prepare steps take.
    PrepareLatency = 17,
    /// How long a delete takes.
    DeleteLatency = 18,
    /// How long a short call takes.
    CallLatency = 19,
    /// Whether a call goes wrong, and how.
    Fault = 20,
    /// Whether a create hangs.
    Stuck = 21,
    /// Silent deaths of single sandboxes.
    Death = 22,
    /// Silent deaths of several sandboxes at once.
    GroupDeath = 23,
    /// What a partial list leaves out.
    ListPartial = 24,
    /// What other tenants use.
    Tenants = 25,
    /// Crashes of our own server.
    Crash = 26,
    /// Which conversations of a trace are kept.
    TraceSample = 27,
    /// In which order the conversations of a trace are replayed.
    TraceStart = 28,
    /// Checks against closed forms.
    Oracle = 29,
    /// How a sandbox that hung while starting ends.
    StuckOutcome = 30,
    /// Whether a delete hangs.
    StuckDestroying = 31,
    /// How long a sandbox hangs.
    StuckFor = 32,
    /// Which sandboxes a group death takes.
    GroupVictim = 33,
    /// How long other tenants' use stays the same.
    TenantStep = 34,
    /// How old what a list shows is.
    ListLag = 35,
    /// How long the provider works at a stop, a start, an archive and the like.
    Work = 36,
    /// Ids and secrets that the provider's API shows.
    Identity = 37,
    /// Scenarios of the fault search.
    Fuzz = 38,
}

/// The increment of SplitMix64: 2^64 divided by the golden ratio, made odd.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
// Odd multipliers that keep the parts of a key apart: the fractional parts of the square roots of
// 2, 3, 5 and 7 as 64-bit numbers, made odd. Each map of one part is a bijection, and sums of small
// multiples of unrelated 64-bit numbers practically never meet.
const REPLICATION_AND_PURPOSE: u64 = 0x6a09_e667_f3bc_c909;
const ENTITY: u64 = 0xbb67_ae85_84ca_a73b;
const TURN: u64 = 0x3c6e_f372_fe94_f82b;
const EXECUTE: u64 = 0xa54f_f53a_5f1d_36f1;

/// The finaliser of SplitMix64: a bijection of 64-bit numbers in which every input bit moves about
/// half of the output bits.
#[inline]
const fn finalise(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// All streams of one purpose in one replication: what is common to their keys, worked out once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamFamily {
    key: u64,
}

impl StreamFamily {
    /// The streams for `purpose` in one replication of the experiment with this `seed`.
    #[must_use]
    pub const fn new(seed: u64, replication: u32, purpose: Purpose) -> Self {
        let part = ((purpose as u64) << 32) | replication as u64;
        Self { key: finalise(finalise(seed) ^ part.wrapping_mul(REPLICATION_AND_PURPOSE)) }
    }

    /// The stream of one entity: a conversation, a sandbox, an operation.
    #[inline]
    #[must_use]
    pub const fn entity(&self, entity: u64) -> Stream {
        self.part(entity, 0, 0)
    }

    /// The stream of one part of an entity: a turn, or an execute of a turn. Part `(0, 0)` is the
    /// entity itself.
    #[inline]
    #[must_use]
    pub const fn part(&self, entity: u64, turn: u32, execute: u32) -> Stream {
        let place = entity
            .wrapping_mul(ENTITY)
            .wrapping_add((turn as u64).wrapping_mul(TURN))
            .wrapping_add((execute as u64).wrapping_mul(EXECUTE));
        Stream { state: finalise(self.key.wrapping_add(place)) }
    }
}

/// The random numbers of one entity for one purpose.
///
/// Use one stream for one quantity: then a policy that needs one number more for something else
/// shifts nothing.
///
/// Implements [`rand::Rng`] (through [`TryRng`]), so any distribution of the `rand` family can
/// sample from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    // Key plus counter times STEP: the counter itself is never needed.
    state: u64,
}

impl Stream {
    /// The stream of `entity` for `purpose`. Where many streams of one purpose are made,
    /// [`StreamFamily`] is cheaper and gives the same ones.
    #[must_use]
    pub const fn new(seed: u64, replication: u32, purpose: Purpose, entity: u64) -> Self {
        StreamFamily::new(seed, replication, purpose).entity(entity)
    }

    /// The next 64 random bits.
    #[inline]
    pub const fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        finalise(self.state)
    }

    /// The next number, evenly distributed over 0 (included) to 1 (excluded), in steps of 2^-53.
    #[inline]
    pub const fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// True with this chance (0 to 1; NaN and less than 0 count as 0, more than 1 as 1). Takes
    /// exactly one number from the stream whatever the chance, so that switching a fault off
    /// shifts none of those behind it.
    #[inline]
    pub const fn chance(&mut self, chance: f64) -> bool {
        self.uniform() < chance
    }

    /// Leaves out the next `count` numbers, at no cost.
    #[inline]
    pub const fn skip(&mut self, count: u64) {
        self.state = self.state.wrapping_add(count.wrapping_mul(STEP));
    }

    /// The next whole number below `limit`; 0 for a limit of 0. No value is favoured by more than
    /// `limit` / 2^64.
    #[inline]
    pub const fn below(&mut self, limit: u64) -> u64 {
        ((self.bits() as u128 * limit as u128) >> 64) as u64
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        // The upper half, which the finaliser mixes best.
        Ok((self.bits() >> 32) as u32)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.bits())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        // Little-endian on every platform, or the bytes would differ.
        for chunk in bytes.chunks_mut(8) {
            let word = self.bits().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn the_finaliser_gives_the_published_values_of_splitmix64() {
        let mut stream = Stream { state: 1_234_567 };
        let drawn = [stream.bits(), stream.bits(), stream.bits()];
        assert_eq!(
            drawn,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn known_answers_never_change() {
        // Worked out once by an independent implementation. If this fails, every result of every
        // scenario has changed.
        let mut stream = Stream::new(42, 0, Purpose::Arrival, 0);
        assert_eq!([stream.bits(), stream.bits()], [KNOWN[0], KNOWN[1]]);
        let mut stream = Stream::new(42, 7, Purpose::CreateLatency, 123_456);
        assert_eq!([stream.bits(), stream.bits()], [KNOWN[2], KNOWN[3]]);
        let mut stream = StreamFamily::new(u64::MAX, u32::MAX, Purpose::Oracle).part(9, 3, 2);
        assert_eq!([stream.bits(), stream.bits()], [KNOWN[4], KNOWN[5]]);
    }

    const KNOWN: [u64; 6] = [
        9_945_074_551_117_194_610,
        11_550_149_480_014_365_727,
        16_761_031_985_594_456_217,
        5_664_796_349_796_465_294,
        403_072_228_152_470_274,
        8_184_440_114_427_178_787,
    ];

    #[test]
    fn skipping_leaves_out_exactly_that_many() {
        let mut slow = Stream::new(1, 2, Purpose::Retry, 3);
        let mut fast = slow.clone();
        let drawn: Vec<u64> = (0..6).map(|_| slow.bits()).collect();
        fast.skip(5);
        assert_eq!(fast.bits(), drawn[5]);
    }

    #[test]
    fn rand_sees_the_same_numbers_whatever_it_asks_for() {
        let stream = Stream::new(1, 2, Purpose::Fault, 3);
        let (mut words, mut halves, mut bytes) = (stream.clone(), stream.clone(), stream);
        let word = words.next_u64();
        assert_eq!(u64::from(halves.next_u32()), word >> 32);
        let mut buffer = [0; 12];
        bytes.fill_bytes(&mut buffer);
        assert_eq!(buffer[..8], word.to_le_bytes());
        assert_eq!(buffer[8..], words.next_u64().to_le_bytes()[..4]);
    }

    /// Chi-square statistic of counts that should all be equal, as standard deviations from its
    /// mean (for this many cells it is nearly normal).
    fn deviation(counts: &[u32]) -> f64 {
        let total: u32 = counts.iter().sum();
        let expected = f64::from(total) / counts.len() as f64;
        let chi_square: f64 =
            counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
        let freedom = (counts.len() - 1) as f64;
        (chi_square - freedom) / (2.0 * freedom).sqrt()
    }

    /// Counts the top bytes of `draws`, and the pairs of upper half-bytes of neighbours.
    fn check_uniform(what: &str, draws: &[u64]) {
        let mut bytes = [0u32; 256];
        let mut low_bytes = [0u32; 256];
        let mut pairs = [0u32; 256];
        for &draw in draws {
            bytes[(draw >> 56) as usize] += 1;
            low_bytes[(draw & 255) as usize] += 1;
        }
        for pair in draws.windows(2) {
            pairs[((pair[0] >> 60) << 4 | pair[1] >> 60) as usize] += 1;
        }
        for (kind, counts) in [("top byte", bytes), ("low byte", low_bytes), ("pairs", pairs)] {
            let deviation = deviation(&counts);
            assert!(deviation.abs() < 4.5, "{what}, {kind}: {deviation:.2} SD from uniform");
        }
    }

    #[test]
    fn draws_are_uniform_along_counters_keys_parts_and_replications() {
        const N: u64 = 1 << 16;
        for seed in [0, 1, 42, u64::MAX] {
            let mut stream = Stream::new(seed, 0, Purpose::Death, 0);
            check_uniform("counter", &(0..N).map(|_| stream.bits()).collect::<Vec<_>>());
            let family = StreamFamily::new(seed, 0, Purpose::ExecuteSeconds);
            check_uniform("entity", &(0..N).map(|n| family.entity(n).bits()).collect::<Vec<_>>());
            check_uniform(
                "turn",
                &(0..N).map(|n| family.part(5, n as u32, 0).bits()).collect::<Vec<_>>(),
            );
            check_uniform(
                "execute",
                &(0..N).map(|n| family.part(n >> 8, 1, n as u32 & 255).bits()).collect::<Vec<_>>(),
            );
            check_uniform(
                "replication",
                &(0..N)
                    .map(|n| Stream::new(seed, n as u32, Purpose::Death, 0).bits())
                    .collect::<Vec<_>>(),
            );
            check_uniform(
                "seed",
                &(0..N)
                    .map(|n| Stream::new(seed.wrapping_add(n), 0, Purpose::Death, 0).bits())
                    .collect::<Vec<_>>(),
            );
        }
    }

    #[test]
    fn neighbouring_streams_are_not_correlated() {
        let arrivals = StreamFamily::new(7, 0, Purpose::Arrival);
        let think = StreamFamily::new(7, 0, Purpose::Think);
        let later = StreamFamily::new(7, 1, Purpose::Arrival);
        let n = 100_000u64;
        let correlation = |other: &dyn Fn(u64) -> Stream| {
            let product: f64 = (0..n)
                .map(|i| (arrivals.entity(i).uniform() - 0.5) * (other(i).uniform() - 0.5))
                .sum();
            12.0 * product / n as f64
        };
        let limit = 4.0 / (n as f64).sqrt();
        for (what, found) in [
            ("another purpose", correlation(&|i| think.entity(i))),
            ("another replication", correlation(&|i| later.entity(i))),
            ("the next entity", correlation(&|i| arrivals.entity(i + 1))),
            ("a turn", correlation(&|i| arrivals.part(i, 1, 0))),
            ("an execute", correlation(&|i| arrivals.part(i, 0, 1))),
        ] {
            assert!(found.abs() < limit, "correlated with {what}: {found}");
        }
    }

    #[test]
    fn chances_at_and_beyond_the_ends_are_certain() {
        let mut stream = Stream::new(3, 0, Purpose::Fault, 0);
        for _ in 0..1000 {
            assert!(!stream.chance(0.0) && !stream.chance(-1.0) && !stream.chance(f64::NAN));
            assert!(stream.chance(1.0) && stream.chance(2.0));
            assert_eq!(stream.below(1), 0);
            assert!(stream.below(3) < 3);
        }
    }
}
