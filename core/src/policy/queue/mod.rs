//! Who is admitted first among those that fit?

mod fewest_held;
mod fifo;

use super::QueuePolicy;

/// The first waiter of one account and class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaiterView {
    /// Sandboxes that its account holds.
    pub held: i64,
    /// Its place in the order of arrival.
    pub order: u64,
}

/// Smaller keys are admitted first.
#[inline]
pub(crate) fn key(policy: QueuePolicy, waiter: &WaiterView) -> (u64, u64) {
    match policy {
        QueuePolicy::Fifo => fifo::key(waiter),
        QueuePolicy::FewestHeld => fewest_held::key(waiter),
    }
}
