//! Idle sandboxes outside a turn: when they end, and from when on they may be reclaimed.

use super::small_set::SmallSet;
use super::timers::Due;
use super::{Deadline, Scheduler};
use crate::event::{Actor, Reason};
use crate::id::{AccountId, SandboxId};
use crate::lifecycle::SandboxState;
use crate::policy::idle::{CapacityView, span};
use crate::policy::reclaim::{IdleView, key};
use crate::time::{Span, Time};
use std::collections::VecDeque;

/// Idle sandboxes by what may happen to them next.
#[derive(Clone, Debug, Default)]
pub(super) struct Idling {
    /// In the order in which they became idle; entries may be stale.
    order: VecDeque<(Time, SandboxId)>,
    /// Those still protected, in the same order; entries may be stale.
    protected: VecDeque<(Time, SandboxId)>,
    /// Those that may be reclaimed, by the policy's key.
    reclaimable: SmallSet<((u64, u64), SandboxId)>,
}

impl Idling {
    pub(super) fn has_reclaimable(&self) -> bool {
        !self.reclaimable.is_empty()
    }

    /// What may be reclaimed, first choice first.
    pub(super) fn reclaimable(&self) -> impl Iterator<Item = SandboxId> + '_ {
        self.reclaimable.iter().map(|&(_, id)| id)
    }
}

impl Scheduler {
    /// The sandbox's turn ended: it idles from its last use on, which is now if the turn used it.
    pub(super) fn start_idling(&mut self, id: SandboxId, was_used: bool) {
        let sandbox = &self.sandboxes[id];
        if sandbox.idle_since != Time::MAX {
            return;
        }
        if self.idle_span() == Span::ZERO {
            return self.destroy(id, Reason::IdleTimeout, Actor::Timer);
        }
        let since = if was_used { self.now } else { sandbox.last_use.min(self.now) };
        self.sandboxes[id].idle_since = since;
        self.sandboxes[id].last_use = since;
        let account = self.account_of(id);
        self.account_mut(account).idle.insert((since, id));
        for order in [&mut self.idling.order, &mut self.idling.protected] {
            // At the end, but after a turn that ran nothing.
            let place = order.partition_point(|&(other, _)| other <= since);
            order.insert(place, (since, id));
        }
        self.dirty = true;
    }

    /// The sandbox is used again, or goes.
    pub(super) fn stop_idling(&mut self, id: SandboxId) {
        let since = self.sandboxes[id].idle_since;
        if since == Time::MAX {
            return;
        }
        let account = self.account_of(id);
        self.account_mut(account).idle.remove(&(since, id));
        let sandbox = &mut self.sandboxes[id];
        sandbox.idle_since = Time::MAX;
        if let Some(key) = sandbox.reclaim_key.take() {
            self.idling.reclaimable.remove(&(key, id));
        }
    }

    fn account_of(&self, id: SandboxId) -> AccountId {
        let conversation = self.sandboxes[id].conversation.expect("an idle sandbox is bound");
        self.conversation_ref(conversation).expect("a referenced conversation is open").account
    }

    /// How long a sandbox may idle at the moment.
    fn idle_span(&self) -> Span {
        let short = {
            let wanted = self.classes[0].resources.times(self.config.idle_pressure_free);
            !wanted.fits_into(&self.ledger.free().plus(self.ledger.incoming))
        };
        span(
            self.config.idle_policy,
            &CapacityView {
                idle: self.config.idle,
                idle_pressure: self.config.idle_pressure,
                short,
            },
        )
    }

    pub(super) fn idle_deadline(&self) -> Option<Deadline> {
        let &(since, _) = self.idling.order.front()?;
        let at = since.plus(self.idle_span());
        Some(Deadline { at: at.max(self.now), reason: Due::IdleEnd })
    }

    /// Matters only while somebody waits.
    pub(super) fn reclaimable_deadline(&self) -> Option<Deadline> {
        if self.queue.blocked() + self.swaps.len() == 0 {
            return None;
        }
        let &(since, _) = self.idling.protected.front()?;
        let at = since.plus(self.config.reclaim_idle);
        Some(Deadline { at: at.max(self.now), reason: Due::Reclaimable })
    }

    pub(super) fn end_longest_idle(&mut self) {
        if let Some((since, id)) = self.idling.order.pop_front()
            && self.idles_since(id, since)
        {
            self.destroy(id, Reason::IdleTimeout, Actor::Timer);
        }
    }

    fn idles_since(&self, id: SandboxId, since: Time) -> bool {
        self.sandboxes.get(id).is_some_and(|sandbox| {
            sandbox.state == SandboxState::Idle && sandbox.idle_since == since
        })
    }

    /// Moves those whose protection is over to the reclaimable ones.
    pub(super) fn unprotect_idle(&mut self) {
        while let Some(&(since, id)) = self.idling.protected.front()
            && since.plus(self.config.reclaim_idle) <= self.now
        {
            self.idling.protected.pop_front();
            if self.idles_since(id, since) {
                self.file_reclaimable(id);
            }
        }
    }

    fn file_reclaimable(&mut self, id: SandboxId) {
        let account = self.account_of(id);
        let sandbox = &self.sandboxes[id];
        let class = self.class(sandbox.class);
        let key = key(
            self.config.reclaim_policy,
            &IdleView {
                idle_since: sandbox.idle_since,
                borrowed: self.account(account).borrowing,
                executes: sandbox.executes,
                start: class.start_average,
                memory_mb: class.resources.memory_mb,
            },
        );
        self.sandboxes[id].reclaim_key = Some(key);
        self.idling.reclaimable.insert((key, id));
    }

    /// The account began or ceased to borrow: its idle sandboxes are filed anew.
    pub(super) fn refile_idle(&mut self, account: AccountId) {
        let idle: Vec<_> = self.account(account).idle.iter().map(|&(_, id)| id).collect();
        for id in idle {
            if let Some(key) = self.sandboxes[id].reclaim_key.take() {
                self.idling.reclaimable.remove(&(key, id));
                self.file_reclaimable(id);
            }
        }
    }

    /// New settings: every idle sandbox is filed anew under the new policy and protection.
    pub(super) fn refile_all_idle(&mut self) {
        let filed = std::mem::take(&mut self.idling.reclaimable);
        for &(_, id) in filed.iter() {
            self.sandboxes[id].reclaim_key = None;
        }
        self.idling.protected = self.idling.order.clone();
    }

    /// Drops stale entries at the fronts, so that deadlines are real ones.
    pub(super) fn prune_idling(&mut self) {
        while let Some(&(since, id)) = self.idling.order.front()
            && !self.idles_since(id, since)
        {
            self.idling.order.pop_front();
        }
        while let Some(&(since, id)) = self.idling.protected.front()
            && !self.idles_since(id, since)
        {
            self.idling.protected.pop_front();
        }
    }

    pub(super) fn idle_sandboxes(&self) -> usize {
        self.accounts.iter().map(|account| account.idle.len()).sum()
    }

    pub(super) fn reclaimable_sandboxes(&self) -> usize {
        self.idling.reclaimable.len()
    }
}
