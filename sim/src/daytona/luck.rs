//! The provider's luck: a draw depends on what it is for, never on how many draws came before it.
//!
//! A generator with a running state gives two policies different luck as soon as one of them makes
//! one call more. Here every number is keyed by (seed, replication, purpose, entity, counter), so
//! the n-th create takes as long, and fails as surely, under every policy that is compared.

pub(super) use crate::random::Purpose;

use crate::random::{Distribution, Stream, StreamFamily};
use sandpool_core::{Span, Verb};

/// The luck of one replication.
#[derive(Clone, Copy, Debug)]
pub(super) struct Luck {
    seed: u64,
    replication: u32,
    faults: StreamFamily,
}

impl Luck {
    pub(super) fn new(seed: u64, replication: u32) -> Self {
        Self { seed, replication, faults: StreamFamily::new(seed, replication, Purpose::Fault) }
    }

    /// The random numbers of one entity's `counter`-th need of the kind.
    #[inline]
    pub(super) fn stream(&self, purpose: Purpose, entity: u64, counter: u64) -> Stream {
        let (high, low) = ((counter >> 32) as u32, counter as u32);
        StreamFamily::new(self.seed, self.replication, purpose).part(entity, low, high)
    }

    /// The random numbers that decide what goes wrong with a call.
    #[inline]
    pub(super) fn fault(&self, verb: Verb, entity: u64, counter: u64) -> Stream {
        self.faults.part(entity, counter as u32, verb as u32)
    }

    /// One number in [0, 1).
    #[inline]
    pub(super) fn unit(&self, purpose: Purpose, entity: u64, counter: u64) -> f64 {
        self.stream(purpose, entity, counter).uniform()
    }

    /// Whether something of this chance (0 to 1) happens. Impossible and certain things need no
    /// draw.
    #[inline]
    pub(super) fn happens(&self, chance: f64, purpose: Purpose, entity: u64, counter: u64) -> bool {
        chance > 0.0 && (chance >= 1.0 || self.unit(purpose, entity, counter) < chance)
    }

    /// A length of time.
    #[inline]
    pub(super) fn span(
        &self,
        seconds: &Seconds,
        purpose: Purpose,
        entity: u64,
        counter: u64,
    ) -> Span {
        match seconds {
            Seconds::Fixed(span) => *span,
            Seconds::Drawn(distribution) => {
                distribution.sample_span(&mut self.stream(purpose, entity, counter))
            }
        }
    }
}

/// A distribution of lengths of time, with the constant one converted once and for all.
#[derive(Clone, Debug)]
pub(super) enum Seconds {
    Fixed(Span),
    Drawn(Distribution),
}

impl From<&Distribution> for Seconds {
    fn from(seconds: &Distribution) -> Self {
        match seconds {
            Distribution::Constant(value) => Seconds::Fixed(Span::from_secs_f64(*value)),
            drawn => Seconds::Drawn(drawn.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_depends_on_its_key_alone() {
        let luck = Luck::new(7, 3);
        let first = luck.unit(Purpose::Death, 11, 0);
        let _ = luck.unit(Purpose::Death, 12, 0);
        assert_eq!(luck.unit(Purpose::Death, 11, 0), first);
        for other in [
            luck.unit(Purpose::GroupDeath, 11, 0),
            luck.unit(Purpose::Death, 10, 0),
            luck.unit(Purpose::Death, 11, 1),
            luck.unit(Purpose::Death, 11, 1 << 32),
            Luck::new(7, 4).unit(Purpose::Death, 11, 0),
            Luck::new(8, 3).unit(Purpose::Death, 11, 0),
        ] {
            assert_ne!(other, first);
        }
    }

    #[test]
    fn impossible_and_certain_things_are_certain() {
        let luck = Luck::new(1, 0);
        assert!((0..1_000).all(|entity| !luck.happens(0.0, Purpose::Stuck, entity, 0)));
        assert!((0..1_000).all(|entity| luck.happens(1.0, Purpose::Stuck, entity, 0)));
        let half = (0..10_000).filter(|&entity| luck.happens(0.5, Purpose::Stuck, entity, 0));
        assert!((4_800..5_200).contains(&half.count()));
    }
}
