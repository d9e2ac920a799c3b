//! What counts in the provider's quota, state by state.

use super::record::{Holds, State};
use sandpool_core::{Dimension, Resources};

/// The quota and what of it this organisation's sandboxes use.
#[derive(Clone, Debug)]
pub(super) struct Quota {
    limit: Resources,
    used: Resources,
    stopped_holds_disk: bool,
}

impl Quota {
    pub(super) fn new(limit: Resources, stopped_holds_disk: bool) -> Self {
        Self { limit, used: Resources::ZERO, stopped_holds_disk }
    }

    /// What a sandbox that takes `whole` when it runs counts in a state. Daytona counts nothing
    /// for a sandbox that failed to start or that is being destroyed, and disk alone for a stopped
    /// one; a delete that hangs leaves the state from before in force.
    #[inline]
    pub(super) fn counted(&self, state: State, whole: Resources) -> Resources {
        match state.holds() {
            Holds::Whole => whole,
            Holds::Disk if self.stopped_holds_disk => {
                Resources { disk_mb: whole.disk_mb, ..Resources::ZERO }
            }
            Holds::Disk | Holds::Nothing => Resources::ZERO,
        }
    }

    /// The first dimension, in the order in which Daytona checks them, that has no room for
    /// `wanted` beside what others use.
    pub(super) fn short_of(&self, wanted: Resources, others: Resources) -> Option<Dimension> {
        let free = self.limit.minus(self.used).minus(others);
        [Dimension::Cpu, Dimension::Memory, Dimension::Disk, Dimension::Slots]
            .into_iter()
            .find(|&dimension| wanted.get(dimension) > free.get(dimension).max(0))
    }

    #[inline]
    pub(super) fn take(&mut self, whole: Resources) {
        self.used = self.used.plus(whole);
    }

    /// A sandbox changed its state.
    #[inline]
    pub(super) fn change(&mut self, from: State, to: State, whole: Resources) {
        // A life has few states in which something changes, and every state passes through here.
        if from.holds() == to.holds() {
            return;
        }
        self.used = self.used.minus(self.counted(from, whole)).plus(self.counted(to, whole));
    }

    /// The limit itself.
    pub(super) fn limit(&self) -> Resources {
        self.limit
    }

    /// What a sandbox counted for is another amount from now on.
    pub(super) fn exchange(&mut self, before: Resources, after: Resources) {
        self.used = self.used.minus(before).plus(after);
    }

    /// What this organisation's sandboxes use now.
    pub(super) fn used(&self) -> Resources {
        self.used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_counts_what_daytona_says() {
        let whole = Resources::of_sandbox(1.0, 1.0, 3.0);
        let disk = Resources { disk_mb: 3072, ..Resources::ZERO };
        let mut quota = Quota::new(whole.times(2), true);
        quota.take(whole);
        for (from, to, used) in [
            (State::Creating, State::Started, whole),
            (State::Started, State::Stopped, disk),
            (State::Stopped, State::Destroying, Resources::ZERO),
            (State::Destroying, State::Gone, Resources::ZERO),
        ] {
            quota.change(from, to, whole);
            assert_eq!(quota.used(), used, "{to:?}");
        }
        assert_eq!(Quota::new(whole, false).counted(State::Stopped, whole), Resources::ZERO);
        assert_eq!(quota.counted(State::StuckDestroying, whole), whole);
        assert_eq!(quota.counted(State::Errored, whole), Resources::ZERO);
    }

    #[test]
    fn the_first_short_dimension_is_named_in_daytonas_order() {
        let quota = Quota::new(
            Resources { slots: 5, memory_mb: 1024, cpu_milli: 2000, disk_mb: 9000 },
            true,
        );
        let wanted = Resources::of_sandbox(1.0, 1.0, 3.0);
        assert_eq!(quota.short_of(wanted, Resources::ZERO), None);
        assert_eq!(quota.short_of(wanted, wanted), Some(Dimension::Memory));
        assert_eq!(quota.short_of(wanted, wanted.times(2)), Some(Dimension::Cpu));
    }
}
