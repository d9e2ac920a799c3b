//! What happened when: averages and counts in bins of equal width.

use crate::output::Bin;
use crate::stats::BinnedTimeWeighted;
use sandpool_core::{SandboxState, Span, Time};

/// Groups of states that a chart shows as one band.
const GROUPS: usize = 6;

const fn group(state: SandboxState) -> Option<usize> {
    match state {
        SandboxState::New | SandboxState::Creating | SandboxState::Preparing => Some(0),
        SandboxState::Warm => Some(1),
        SandboxState::Assigned | SandboxState::Busy => Some(2),
        SandboxState::Idle => Some(3),
        SandboxState::Limbo | SandboxState::Failed | SandboxState::Dead => Some(4),
        SandboxState::Destroying => Some(5),
        SandboxState::Deleted => None,
    }
}

#[derive(Clone, Debug)]
pub(super) struct OverTime {
    width: Span,
    groups: [BinnedTimeWeighted; GROUPS],
    counts: [u64; GROUPS],
    waiting: BinnedTimeWeighted,
    refusals: Vec<u64>,
    limit: i64,
    end: Time,
}

impl OverTime {
    pub(super) fn new(width: Span, limit: i64) -> Self {
        let blank = BinnedTimeWeighted::new(Time::ZERO, width, 0);
        Self {
            width,
            groups: std::array::from_fn(|_| blank.clone()),
            counts: [0; GROUPS],
            waiting: blank,
            refusals: Vec::new(),
            limit,
            end: Time::ZERO,
        }
    }

    #[inline]
    pub(super) fn changed(&mut self, at: Time, before: Option<SandboxState>, after: SandboxState) {
        let (before, after) = (before.and_then(group), group(after));
        if before == after {
            return;
        }
        if let Some(group) = before {
            self.counts[group] -= 1;
            self.groups[group].set(at, self.counts[group]);
        }
        if let Some(group) = after {
            self.counts[group] += 1;
            self.groups[group].set(at, self.counts[group]);
        }
    }

    pub(super) fn waiting(&mut self, at: Time, waiting: u64) {
        self.waiting.set(at, waiting);
    }

    pub(super) fn refused(&mut self, at: Time) {
        let bin = (at.as_nanos() / self.width.as_nanos().max(1)) as usize;
        if self.refusals.len() <= bin {
            self.refusals.resize(bin + 1, 0);
        }
        self.refusals[bin] += 1;
    }

    pub(super) fn finish(&mut self, end: Time) {
        self.end = end;
    }

    pub(super) fn bins(self) -> Vec<Bin> {
        let end = self.end;
        let waiting = self.waiting.means(end);
        let groups = self.groups.map(|group| group.means(end));
        let width = self.width.as_secs_f64();
        (0..waiting.len())
            .map(|bin| {
                let refusals = self.refusals.get(bin).copied().unwrap_or(0);
                Bin {
                    start_seconds: bin as f64 * width,
                    refusals_per_hour: refusals as f64 * 3_600.0 / width,
                    waiting: waiting[bin],
                    starting: groups[0][bin],
                    warm: groups[1][bin],
                    in_use: groups[2][bin],
                    idle: groups[3][bin],
                    in_doubt: groups[4][bin],
                    destroying: groups[5][bin],
                    limit: self.limit as f64,
                }
            })
            .collect()
    }
}
