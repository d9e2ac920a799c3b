//! Who has waited longest.

use super::WaiterView;

#[inline]
pub(super) const fn key(waiter: &WaiterView) -> (u64, u64) {
    (0, waiter.order)
}
