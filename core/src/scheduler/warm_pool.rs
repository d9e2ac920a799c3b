//! The warm pool: refilled out of what nobody needs, trimmed, kept young and alive.

use super::Scheduler;
use super::timers::Timer;
use crate::event::{Actor, Reason};
use crate::id::{ClassId, SandboxId};
use crate::policy::WarmPolicy;
use crate::policy::warm::{WarmView, target};
use crate::time::Time;

impl Scheduler {
    /// How many warm sandboxes of the class are wanted now.
    pub(super) fn warm_target(&self, class: ClassId) -> i64 {
        let entry = self.class(class);
        target(
            self.config.warm_policy,
            &WarmView {
                configured: self.config.classes[class.0 as usize].warm_sandboxes,
                max: self.config.warm_max,
                hit_percent: self.config.warm_hit_percent,
                start: entry.start_average,
                history: &entry.history,
                now: self.now,
            },
        )
    }

    /// Whether one more sandbox of the class may be started for nobody in particular: not out of
    /// what a blocked claim will take, not while capacity is held for somebody, and, while anyone
    /// borrows, not out of the reserve.
    fn may_replenish(&self, class: ClassId) -> bool {
        let resources = self.class(class).resources;
        let free = self.ledger.free_of_pledges();
        self.is_start_allowed(class)
            && resources.fits_into(&free)
            && self.ledger.may_create(resources)
            && self.queue.overtaken.is_empty()
            && (self.borrowers == 0 || self.reserve().fits_into(&free.minus(resources)))
    }

    /// Starts what the warm target misses.
    pub(super) fn replenish(&mut self) {
        for class in self.class_ids() {
            if self.warm_target(class) <= self.class(class).surplus() {
                continue;
            }
            while self.class(class).surplus() < self.warm_target(class) && self.may_replenish(class)
            {
                let sandbox = self.start(class, None, Reason::Warm);
                self.class_mut(class).spare_starts.insert(sandbox);
            }
        }
    }

    /// Notes since when there are more warm sandboxes than wanted.
    pub(super) fn watch_surplus(&mut self) {
        for class in self.class_ids() {
            let ready = self.class(class).warm.len() as i64;
            let above = ready > 0 && ready > self.warm_target(class);
            let since = self.class(class).surplus_since;
            if above && since == Time::MAX {
                let now = self.now;
                self.class_mut(class).surplus_since = now;
                self.timers.set(now.plus(self.config.warm_surplus), Timer::WarmSurplus(class));
            } else if !above && since != Time::MAX {
                self.class_mut(class).surplus_since = Time::MAX;
            }
        }
    }

    /// There have been too many warm sandboxes for long enough: the oldest ones end.
    pub(super) fn end_surplus(&mut self, class: ClassId) {
        self.class_mut(class).surplus_since = Time::MAX;
        while self.class(class).warm.len() as i64 > self.warm_target(class) {
            let oldest = self.class(class).warm.first().copied().expect("more than the target");
            self.destroy(oldest, Reason::WarmSurplus, Actor::Timer);
        }
        self.dirty = true;
    }

    /// A sandbox stands in the pool: it is replaced when it gets too old.
    pub(super) fn watch_age(&mut self, id: SandboxId) {
        let at = self.sandboxes[id].ready_at.plus(self.config.warm_max_age).max(self.now);
        self.sandboxes[id].warm_age_at = at;
        self.timers.set(at, Timer::WarmAge(id));
    }

    /// Whether the warm target can change with time alone, so that it is looked at regularly.
    pub(super) fn warm_target_moves(&self) -> bool {
        self.config.warm_policy != WarmPolicy::Fixed
    }
}
