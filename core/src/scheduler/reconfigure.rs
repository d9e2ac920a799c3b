//! New settings while running. Nothing that runs is harmed: a lowered limit only stops starts
//! until use has fallen, and a class's template never changes under a sandbox.

use super::Scheduler;
use super::queue::Queue;
use super::state::ClassState;
use super::timers::Timer;
use crate::config::Config;
use crate::event::{Actor, EventKind, Reason};
use crate::id::{AccountId, ClaimId, ExecuteId, TurnId};
use crate::output::WhyRejected;
use crate::time::Span;

impl Scheduler {
    pub(super) fn reconfigure(&mut self, config: Config) {
        let keeps_classes = config.classes.len() <= 64
            && config.classes.len() >= self.config.classes.len()
            && self
                .config
                .classes
                .iter()
                .zip(&config.classes)
                .all(|(old, new)| old.name == new.name && old.resources == new.resources);
        if !keeps_classes || !config.conflicts().is_empty() || !config.out_of_range().is_empty() {
            return self.reject_with(WhyRejected::BadConfig, None, TurnId(0), ExecuteId(0));
        }
        for class in config.classes.iter().skip(self.classes.len()) {
            self.classes.push(ClassState::new(class));
        }
        for (state, class) in self.classes.iter_mut().zip(&config.classes) {
            state.prepares = class.prepares;
        }
        if self.ledger.is_lowered() {
            self.tell(EventKind::LimitRestored, Reason::Requested, Actor::Operator, Span::ZERO);
        }
        self.ledger.configure(config.max);
        self.config = config;
        self.tell(EventKind::Reconfigured, Reason::None, Actor::Operator, Span::ZERO);
        self.requeue();
        self.refile_all_idle();
        self.reset_timers();
        // Overtaken claims are counted against the new bound.
        let max = self.config.max_overtakes;
        let waiting: Vec<ClaimId> = self.queue.iter(&self.claims).collect();
        for &id in &waiting {
            let claim = &mut self.claims[id];
            claim.overtakes = claim.overtakes.min(max);
        }
        self.queue.overtaken = waiting
            .iter()
            .copied()
            .filter(|&id| self.claims[id].blocked && max > 0 && self.claims[id].overtakes >= max)
            .collect();
        // Nobody waits for what can never come.
        for id in waiting.into_iter().chain(self.swaps.clone()) {
            let class = self.claims[id].class;
            if self.class(class).resources.fits_into(&self.config.max) {
                continue;
            }
            if self.claims[id].blocked {
                self.refuse(id, Reason::NeverFits, Actor::Operator);
            } else {
                self.withdraw(id, Reason::NeverFits, Actor::Operator);
            }
        }
        self.dirty = true;
    }

    /// Builds the waiting lines anew: classes or the order policy may have changed, and with the
    /// shares who borrows.
    fn requeue(&mut self) {
        let waiting: Vec<ClaimId> = self.queue.iter(&self.claims).collect();
        self.queue = Queue::new(self.config.queue_policy, self.classes.len());
        for &id in &waiting {
            let claim = &mut self.claims[id];
            claim.previous = None;
            claim.next = None;
        }
        self.queue.ensure_account(AccountId(self.accounts.len().max(1) as u32 - 1));
        for &id in &waiting {
            self.queue.insert(&mut self.claims, id);
        }
        for account in 0..self.accounts.len() {
            let account = AccountId(account as u32);
            self.judge_account(account);
            for class in self.class_ids() {
                self.refile(account, class);
            }
        }
    }

    /// Shorter times hold for turns and warm sandboxes that are there already.
    fn reset_timers(&mut self) {
        let timeout = self.config.turn_timeout;
        for conversation in self.conversations.iter_mut().flatten() {
            if let Some(turn) = &conversation.turn {
                conversation.turn_timer_at = turn.last_activity.plus(timeout).max(self.now);
                self.timers.set(conversation.turn_timer_at, Timer::TurnTimeout(conversation.id));
            }
        }
        let warm: Vec<_> =
            self.classes.iter().flat_map(|class| class.warm.iter().copied()).collect();
        for id in warm {
            self.watch_age(id);
        }
    }

    /// Under new shares an account may begin or cease to borrow without holding more or less.
    fn judge_account(&mut self, account: AccountId) {
        let borrowing = self.is_borrowing(self.account(account));
        if borrowing != self.account(account).borrowing {
            self.borrowing_changed(account, borrowing);
        }
    }
}
