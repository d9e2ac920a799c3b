//! What sandboxes cost: the simulator's arithmetic and prices, by account.

use sandpool_core::{Class, SandboxState, Span};
use serde::Deserialize;

/// What the provider charges, US dollars. `[prices]` of a scenario, with its defaults.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Prices {
    /// Per vCPU and hour.
    pub cpu_hour: f64,
    /// Per GB of memory and hour.
    pub memory_gb_hour: f64,
    /// Per GB of disk and hour.
    pub disk_gb_hour: f64,
}

impl Default for Prices {
    fn default() -> Self {
        let sandpool_sim::Prices { cpu_hour, memory_gb_hour, disk_gb_hour } =
            sandpool_sim::Prices::default();
        Self { cpu_hour, memory_gb_hour, disk_gb_hour }
    }
}

impl Prices {
    /// Micro-dollars for a sandbox of the class over this time.
    pub(super) fn micro_dollars(&self, class: &Class, span: Span) -> f64 {
        let resources = class.resources;
        let hourly = self.cpu_hour * resources.cpu_milli as f64 / 1_000.0
            + self.memory_gb_hour * resources.memory_mb as f64 / 1_024.0
            + self.disk_gb_hour * resources.disk_mb as f64 / 1_024.0;
        hourly * span.as_secs_f64() / 3_600.0 * 1e6
    }
}

/// What the time in a state is paid for; none where the provider does not bill, or nobody knows.
/// Time bound to a conversation is decided by what follows: [`unused`].
pub(super) fn cause(state: SandboxState) -> Option<&'static str> {
    match state {
        SandboxState::Preparing => Some("starting"),
        SandboxState::Warm => Some("warm"),
        SandboxState::Busy => Some("busy"),
        SandboxState::Idle => Some("idle"),
        _ => None,
    }
}

/// What time bound to a conversation was for before the first use, or instead of it.
pub(super) fn unused(after: SandboxState) -> &'static str {
    if after == SandboxState::Busy { "idle" } else { "never_used" }
}

/// What a sandbox costs that nobody owns, from the moment at which it is seen.
pub(super) const ORPHANED: &str = "orphaned";
