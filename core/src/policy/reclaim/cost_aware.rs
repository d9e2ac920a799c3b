//! The one whose loss costs least: Greedy-Dual-Size (Cao and Irani, 1997) with the restore work as
//! the cost and the freed memory as the size. The clock of Greedy-Dual is the last use, so an old
//! sandbox loses its credit as time passes.

use super::IdleView;

/// The credit of a sandbox whose restore work is one start, per GB: ten minutes of age.
const CREDIT_NANOS_PER_START: u64 = 600 * 1_000_000_000;

pub(super) fn key(idle: &IdleView) -> (u64, u64) {
    // Work that is lost with the sandbox: its executes, in units of a start of at least a second.
    let start_seconds = (idle.start.as_nanos() / 1_000_000_000).max(1);
    let restores = 1 + u64::from(idle.executes) / start_seconds;
    let size_gb = (idle.memory_mb.max(1) as u64).div_ceil(1024);
    let credit = CREDIT_NANOS_PER_START.saturating_mul(restores.min(1_000)) / size_gb;
    (0, idle.idle_since.as_nanos().saturating_add(credit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{Span, Time};

    fn idle(since: u64, executes: u32, memory_mb: i64) -> IdleView {
        IdleView {
            idle_since: Time::from_secs(since),
            borrowed: false,
            executes,
            start: Span::from_secs(10),
            memory_mb,
        }
    }

    #[test]
    fn little_used_large_and_old_ones_go_first() {
        assert!(key(&idle(100, 1, 1024)) < key(&idle(100, 50, 1024)));
        assert!(key(&idle(100, 50, 4096)) < key(&idle(100, 50, 1024)));
        assert!(key(&idle(100, 1, 1024)) < key(&idle(101, 1, 1024)));
        assert!(key(&idle(0, 50, 1024)) < key(&idle(10_000, 1, 1024)), "age wins in the end");
    }
}
