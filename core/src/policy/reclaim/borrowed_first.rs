//! Borrowers' first, then the least recently used.

use super::IdleView;

pub(super) const fn key(idle: &IdleView) -> (u64, u64) {
    (!idle.borrowed as u64, idle.idle_since.as_nanos())
}
