//! The least recently used, whoever holds it.

use super::IdleView;

pub(super) const fn key(idle: &IdleView) -> (u64, u64) {
    (0, idle.idle_since.as_nanos())
}
