//! Whose idle sandbox is taken first? (Which ones may be taken at all is not a policy.)

mod borrowed_first;
mod cost_aware;
mod lru;

use super::ReclaimPolicy;
use crate::time::{Span, Time};

/// An idle sandbox.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdleView {
    /// When it was last used.
    pub idle_since: Time,
    /// Whether its account holds more than its share.
    pub borrowed: bool,
    /// Executes it has run: what a user would have to do again.
    pub executes: u32,
    /// How long a start of its class takes of late.
    pub start: Span,
    /// Memory it frees, MB.
    pub memory_mb: i64,
}

/// Smaller keys are taken first.
pub(crate) fn key(policy: ReclaimPolicy, idle: &IdleView) -> (u64, u64) {
    match policy {
        ReclaimPolicy::BorrowedFirst => borrowed_first::key(idle),
        ReclaimPolicy::Lru => lru::key(idle),
        ReclaimPolicy::CostAware => cost_aware::key(idle),
    }
}
