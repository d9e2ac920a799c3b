//! The sums of one replication that closed forms of queueing theory speak of.

use super::fold::Measures;
use crate::stats::Histogram;
use sandpool_core::SandboxState;

/// Sums over the first executes of one replication, from the end of the warm-up on.
#[derive(Clone, Debug)]
pub(crate) struct Queueing {
    /// Served.
    pub served: u64,
    /// Refused because their patience ended.
    pub abandoned: u64,
    /// Refused at once because too many waited.
    pub blocked: u64,
    /// Served and had waited.
    pub waited: u64,
    /// The waits of the served, summed.
    pub served_seconds: f64,
    /// The same, exactly, in nanoseconds.
    pub served_nanos: u128,
    /// The waits of the refused, summed.
    pub refused_seconds: f64,
    /// The squares of the waits of both, summed.
    pub waited_square_seconds: f64,
    /// The waits of the served.
    pub waits: Histogram,
    /// Area under the number waiting.
    pub waiting_seconds: f64,
    /// Area under the number of busy sandboxes.
    pub busy_seconds: f64,
    /// Area under the square of that number.
    pub busy_square_seconds: f64,
    /// Length of the measured time.
    pub seconds: f64,
    /// Claims that needed a start.
    pub cold: u64,
}

impl Measures {
    /// What a closed form speaks of: see the fields.
    #[must_use]
    pub(crate) fn queueing(&self) -> Queueing {
        let counts = self.counts();
        Queueing {
            served: self.exposed_waits,
            abandoned: counts.full,
            blocked: counts.queue_too_long,
            waited: self.exposed_waited,
            served_nanos: self.exposed_nanos,
            served_seconds: self.exposed_nanos as f64 / 1e9,
            refused_seconds: self.refused_nanos as f64 / 1e9,
            waited_square_seconds: self.waited_square_nanos as f64 / 1e18,
            waits: self.exposed_wait.clone(),
            waiting_seconds: self.waiting_area as f64 / 1e9,
            busy_seconds: self.state_area[SandboxState::Busy as usize] as f64 / 1e9,
            busy_square_seconds: self.busy_square_area as f64 / 1e9,
            seconds: self.measured_seconds(),
            cold: counts.cold_starts,
        }
    }
}
