//! What goes wrong with a call.

use super::luck::Luck;
use super::profile::VerbFaults;
use sandpool_core::Verb;

/// What goes wrong with one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing.
    None,
    /// It is refused before anything is done.
    Unavailable,
    /// It never arrives.
    LostRequest,
    /// It is refused for good.
    Rejected,
    /// It is carried out and fails.
    Errored,
    /// It is carried out and nobody hears of it.
    LostAnswer,
}

/// The faults of every verb.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    by_verb: [Option<VerbFaults>; Verb::ALL.len()],
}

impl Faults {
    /// Where a verb occurs twice, the later entry holds.
    pub(super) fn new(faults: &[(Verb, VerbFaults)]) -> Self {
        let mut by_verb = [None; Verb::ALL.len()];
        for &(verb, faults) in faults {
            by_verb[verb as usize] = (faults != VerbFaults::default()).then_some(faults);
        }
        Self { by_verb }
    }

    /// What goes wrong with the `counter`-th call of a verb about one entity.
    #[inline]
    pub(super) fn strike(&self, verb: Verb, entity: u64, counter: u64, luck: &Luck) -> Fault {
        let Some(chances) = &self.by_verb[verb as usize] else { return Fault::None };
        let mut left = luck.fault(verb, entity, counter).uniform();
        for (chance, fault) in [
            (chances.unavailable, Fault::Unavailable),
            (chances.lost_request, Fault::LostRequest),
            (chances.rejected, Fault::Rejected),
            (chances.errored, Fault::Errored),
            (chances.lost_answer, Fault::LostAnswer),
        ] {
            if left < chance {
                return fault;
            }
            left -= chance;
        }
        Fault::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_strikes_as_often_as_its_chance_says() {
        let chances = VerbFaults {
            unavailable: 0.1,
            errored: 0.2,
            lost_request: 0.05,
            lost_answer: 0.15,
            rejected: 0.1,
        };
        let faults = Faults::new(&[(Verb::Prepare, chances)]);
        let luck = Luck::new(5, 0);
        let n = 20_000;
        let share = |wanted| {
            let struck = (0..n)
                .filter(|&entity| faults.strike(Verb::Prepare, entity, 0, &luck) == wanted)
                .count();
            struck as f64 / n as f64
        };
        for (fault, chance) in [
            (Fault::Unavailable, 0.1),
            (Fault::Errored, 0.2),
            (Fault::LostRequest, 0.05),
            (Fault::LostAnswer, 0.15),
            (Fault::Rejected, 0.1),
            (Fault::None, 0.4),
        ] {
            assert!((share(fault) - chance).abs() < 0.015, "{fault:?}: {}", share(fault));
        }
        assert_eq!(faults.strike(Verb::Probe, 1, 0, &luck), Fault::None);
    }
}
