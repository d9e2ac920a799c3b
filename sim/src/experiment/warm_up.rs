//! Reads the warm-up off pilot replications: the mean exposed wait in bins of time, over all
//! pilots, cut where MSER-5 says.

use crate::engine::{Line, What};
use crate::scenario::Scenario;
use crate::stats::{Mser5Error, mser5};
use sandpool_core::{EventKind, Id, Span};

/// Pilot replications of each variant.
pub(super) const PILOTS: u32 = 5;

/// Number of the first pilot: their luck is that of no replication that is measured, so that what
/// decides the cut does not also decide the result.
pub(super) const FIRST_PILOT: u32 = 1_000_000_000;

/// Bins of the run: fifty means of five.
const BINS: u64 = 250;

/// Exposed waits of served first executes by the bin in which they began to wait.
#[derive(Clone, Debug)]
pub(super) struct BinnedWaits {
    width: u64,
    nanos: Vec<u128>,
    count: Vec<u64>,
}

impl BinnedWaits {
    pub(super) fn new(duration: Span) -> Self {
        let width = duration.as_nanos().div_ceil(BINS).max(1);
        Self { width, nanos: vec![0; BINS as usize], count: vec![0; BINS as usize] }
    }

    /// Takes in the journal of one pilot.
    pub(super) fn fold(&mut self, journal: &[Line]) {
        let mut fresh: Vec<bool> = Vec::new();
        for line in journal {
            let What::Event(event) = &line.what else { continue };
            let Some(index) = event.conversation.map(Id::index) else { continue };
            if fresh.len() <= index {
                fresh.resize(index + 1, false);
            }
            match event.kind {
                EventKind::TurnBegan => fresh[index] = true,
                EventKind::SandboxBusy if std::mem::take(&mut fresh[index]) => {
                    let asked = event.at.as_nanos() - event.span.as_nanos();
                    let bin = ((asked / self.width) as usize).min(self.count.len() - 1);
                    self.nanos[bin] += u128::from(event.span.as_nanos());
                    self.count[bin] += 1;
                }
                _ => {}
            }
        }
    }

    pub(super) fn merge(&mut self, other: &BinnedWaits) {
        for bin in 0..self.count.len() {
            self.nanos[bin] += other.nanos[bin];
            self.count[bin] += other.count[bin];
        }
    }

    /// Where MSER-5 cuts. Bins in which nobody began to wait have no mean and are passed over.
    fn cut(&self) -> Result<Span, Mser5Error> {
        let full: Vec<usize> = (0..self.count.len()).filter(|&bin| self.count[bin] > 0).collect();
        let means: Vec<f64> =
            full.iter().map(|&bin| self.nanos[bin] as f64 / self.count[bin] as f64 / 1e9).collect();
        let cut = mser5(&means)?;
        let bin = if cut == 0 { 0 } else { full[cut] };
        Ok(Span::from_nanos(self.width * bin as u64))
    }
}

/// One cut for all variants, the longest that any of them needs, and a sentence that says so.
/// `waits` holds one entry per variant, its pilots together.
pub(super) fn decide(scenario: &Scenario, waits: &[BinnedWaits]) -> (Span, Vec<String>) {
    let mut longest = Span::ZERO;
    let mut notes = Vec::new();
    for (variant, waits) in scenario.variants.iter().zip(waits) {
        match waits.cut() {
            Ok(cut) => longest = longest.max(cut),
            Err(error) => {
                notes.push(format!("No warm-up could be read off `{}`: {error}.", variant.name))
            }
        }
    }
    let minutes = super::number::short(longest.as_secs_f64() / 60.0);
    notes.insert(
        0,
        format!(
            "The first {minutes} minutes are left out as warm-up in every variant: the longest cut \
             that MSER-5 finds in the mean exposed wait of {PILOTS} pilot replications."
        ),
    );
    (longest, notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(of_bin: impl Fn(usize) -> u64) -> BinnedWaits {
        let mut waits = BinnedWaits::new(Span::from_secs(2_500));
        for bin in 0..waits.count.len() {
            waits.count[bin] = 2;
            waits.nanos[bin] = u128::from(2 * of_bin(bin) * 1_000_000_000);
        }
        waits
    }

    fn scenario() -> Scenario {
        let text = "workload.arrivals.poisson.per_hour = 3\n[[variant]]\nname = \"b\"\n\
                    \"server.warm_sandboxes\" = 2";
        crate::scenario::parse("s.toml", text).unwrap()
    }

    #[test]
    fn the_longest_cut_counts_for_all() {
        let settled = waits(|bin| 3 + bin as u64 % 2);
        let cold = waits(|bin| if bin < 50 { 100 } else { 3 + bin as u64 % 2 });
        let (cut, notes) = decide(&scenario(), &[settled, cold]);
        assert_eq!(cut, Span::from_secs(500));
        assert!(notes[0].contains("The first 8.33 minutes"), "{notes:?}");
        assert_eq!(notes.len(), 1);
    }

    #[test]
    fn what_has_not_settled_is_said() {
        let rising = waits(|bin| bin as u64);
        let (cut, notes) = decide(&scenario(), &[rising.clone(), rising]);
        assert_eq!((cut, notes.len()), (Span::ZERO, 3));
        assert!(notes[1].contains("`base`: the output has not settled"), "{notes:?}");
    }

    #[test]
    fn empty_bins_are_passed_over() {
        let mut sparse = waits(|bin| if bin < 100 { 50 } else { 1 });
        for bin in (0..sparse.count.len()).filter(|bin| bin % 2 == 1) {
            (sparse.count[bin], sparse.nanos[bin]) = (0, 0);
        }
        assert_eq!(sparse.cut(), Ok(Span::from_secs(1_000)));
    }
}
