//! From one replication's measures to the table of measures.

use super::fold::Measures;
use crate::output::{Cause, MeasureId, Observed};
use crate::stats::jain_index;
use sandpool_core::SandboxState;

impl Measures {
    /// The measures by name. `leaked`: see [`crate::Outcome::leaked`].
    #[must_use]
    pub fn observed(self, leaked: Option<u64>) -> Observed {
        let mut observed = Observed::new(self.exposed_wait.clone());
        let counts = self.counts;
        let seconds = self.measured_seconds();
        let hours = seconds / 3_600.0;
        let refused = counts.full
            + counts.could_not_start
            + counts.never_fits
            + counts.queue_too_long
            + counts.shutting_down;
        let asked = refused + counts.cancelled + counts.served;
        observed.set_ratio(MeasureId::RefusedShare, refused as f64, asked as f64);
        let unserved = counts.unserved_turns as f64;
        observed.set_ratio(
            MeasureId::UnservedTurnShare,
            unserved,
            unserved + self.exposed_waits as f64,
        );
        for (id, count) in [
            (MeasureId::RefusedFull, counts.full),
            (MeasureId::RefusedCouldNotStart, counts.could_not_start),
            (MeasureId::RefusedNeverFits, counts.never_fits),
            (MeasureId::RefusedQueueTooLong, counts.queue_too_long),
            (MeasureId::RefusedShuttingDown, counts.shutting_down),
            (MeasureId::RefusedCancelled, counts.cancelled),
            (MeasureId::Deaths, counts.deaths),
            (MeasureId::Reclaimed, counts.reclaimed),
            (MeasureId::DriftEvents, counts.drifts),
            (MeasureId::OrphansRemoved, counts.orphans_removed),
            (MeasureId::SandboxesCreated, counts.created),
            (MeasureId::Conversations, counts.conversations),
            (MeasureId::Turns, counts.turns),
            (MeasureId::Executes, asked),
        ] {
            observed.set(id, count as f64);
        }
        let turns = counts.turns as f64;
        observed.set_ratio(MeasureId::LostFilesTurns, counts.lost_files as f64 * 1_000.0, turns);
        let bound = (counts.warm_hits + counts.cold_starts) as f64;
        observed.set_ratio(MeasureId::WarmHitShare, counts.warm_hits as f64, bound);
        observed.set_ratio(MeasureId::ColdStartShare, counts.cold_starts as f64, bound);
        observed.set_ratio(
            MeasureId::HiddenStartShare,
            self.hidden_nanos as f64,
            self.start_nanos as f64,
        );
        let slots = self.limit_slots as f64 * seconds * 1e9;
        let busy = self.state_area[SandboxState::Busy as usize] as f64;
        let occupied: u128 = self.state_area.iter().sum();
        observed.set_ratio(MeasureId::Utilisation, busy, slots);
        observed.set_ratio(MeasureId::OccupiedShare, occupied as f64, slots);
        observed.set_ratio(MeasureId::WaitingMean, self.waiting_area as f64, seconds * 1e9);
        self.set_fairness(&mut observed);
        let dollars = self.bill.dollars();
        let total: f64 = dollars.iter().sum();
        observed.set_ratio(MeasureId::CostTotal, total, hours);
        observed.set_ratio(MeasureId::CostPerThousandTurns, total * 1_000.0, turns);
        for cause in Cause::ALL {
            observed.set_ratio(cause.measure(), dollars[cause as usize], hours);
        }
        if let Some(leaked) = leaked {
            observed.set(MeasureId::Leaked, leaked as f64);
        }
        if let Some(over_time) = self.over_time {
            observed.set_over_time(over_time.bins());
        }
        observed
    }

    fn set_fairness(&self, observed: &mut Observed) {
        let shares: Vec<f64> = self
            .accounts
            .iter()
            .filter(|account| account.served + account.refused > 0)
            .map(|account| account.served as f64 / (account.served + account.refused) as f64)
            .collect();
        let waits: Vec<f64> = self
            .accounts
            .iter()
            .filter(|account| account.waits > 0)
            .map(|account| account.waited_nanos as f64 / 1e9 / account.waits as f64)
            .collect();
        if let Some(index) = jain_index(&shares) {
            observed.set(MeasureId::Fairness, index);
        }
        if let Some(index) = jain_index(&waits) {
            observed.set(MeasureId::FairnessWait, index);
        }
    }
}
