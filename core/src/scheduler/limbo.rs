//! Limbo: a create's answer is missing, so the sandbox may exist. It keeps its slot; its unique
//! name is the handle by which it is looked for. Found, it is adopted or destroyed; absent counts
//! only when it was looked for after `limbo_hold_seconds`, which is longer than the provider's
//! longest create.

use super::Scheduler;
use super::backoff::delay;
use super::timers::Timer;
use crate::event::{Actor, EventKind, Reason};
use crate::id::{Id, ProviderId, SandboxId};
use crate::lifecycle::SandboxState;
use crate::provider::{FoundState, Verb};
use crate::time::{Span, Time};

impl Scheduler {
    pub(super) fn goes_to_limbo(&mut self, id: SandboxId, reason: Reason) {
        let was_trial = self.start_ended(id);
        if self.sandboxes[id].doomed {
            // Whether it comes back, and when, is not known any more.
            self.no_longer_doomed(id);
        }
        let cause = self.start_is_over(id);
        let now = self.now;
        let span = now.since(self.sandboxes[id].started_at);
        self.transition(id, SandboxState::Limbo);
        self.tell_sandbox(EventKind::SandboxLimbo, reason, Actor::Provider, id, cause, span);
        self.start_failed(id, was_trial);
        let sandbox = &mut self.sandboxes[id];
        sandbox.since = now;
        sandbox.tries = 0;
        // The create's own operation stays known: its answer may still come. A second one, that
        // looks for the sandbox, goes its own way.
        self.look_for(id);
        if let Some(claim) = cause {
            self.claim_has_limbo(claim, id);
        }
        self.put_off_unstarted(self.sandboxes[id].class);
    }

    pub(super) fn look_for(&mut self, id: SandboxId) {
        let deadline = self.now.plus(self.config.operation_timeout);
        self.sandboxes[id].tries += 1;
        self.submit(Verb::Find, id, deadline);
    }

    pub(super) fn look_again(&mut self, id: SandboxId, at_least: Span) {
        let (base, max) = (self.config.retry_base, self.config.retry_max);
        let tries = self.sandboxes[id].tries;
        let wait = delay(base, max, tries, id.sequence()).max(at_least);
        // Not much later than the instant from which absence counts.
        let counts_at = self.absence_counts_at(id);
        let mut at = self.now.plus(wait);
        if self.now < counts_at {
            at = at.min(counts_at);
        }
        self.sandboxes[id].retry_at = at;
        self.timers.set(at, Timer::Retry(id));
    }

    fn absence_counts_at(&self, id: SandboxId) -> Time {
        self.sandboxes[id].started_at.plus(self.config.limbo_hold)
    }

    /// It was looked for, in a call that was sent at `asked_at`, and is not there.
    pub(super) fn absent(&mut self, id: SandboxId, asked_at: Time) {
        if asked_at >= self.absence_counts_at(id) {
            self.leave_claim(id);
            self.deleted(id, Reason::Absent);
        } else {
            self.look_again(id, Span::ZERO);
        }
    }

    /// It was found, or its late answer came.
    pub(super) fn found(&mut self, id: SandboxId, provider: ProviderId, state: FoundState) {
        self.sandboxes[id].provider = Some(provider);
        match state {
            FoundState::Starting => self.look_again(id, Span::ZERO),
            FoundState::Running if self.is_wanted(id) => self.adopt_from_limbo(id),
            _ => {
                self.leave_claim(id);
                self.destroy(id, Reason::AnswerLost, Actor::Scheduler);
            }
        }
    }

    /// Whether there is a use for one more sandbox of the class: an admitted claim without a
    /// start, or room in the warm pool.
    fn is_wanted(&self, id: SandboxId) -> bool {
        let class = self.sandboxes[id].class;
        let entry = self.class(class);
        self.phase == super::Phase::Running
            && self.starting < self.config.max_starting
            && (!entry.unstarted.is_empty() || entry.surplus() < self.warm_target(class))
    }

    fn adopt_from_limbo(&mut self, id: SandboxId) {
        self.leave_claim(id);
        let now = self.now;
        let start_deadline = now.plus(self.config.start_timeout);
        let sandbox = &mut self.sandboxes[id];
        let class = sandbox.class;
        sandbox.tries = 0;
        sandbox.retry_at = Time::MAX;
        if self.class(class).prepares {
            self.sandboxes[id].start_deadline = start_deadline;
            self.starting += 1;
            self.transition(id, SandboxState::Preparing);
            self.tell_adopted(id);
            self.timers.set(start_deadline, Timer::Start(id));
            let op = self.submit(Verb::Prepare, id, Time::MAX);
            self.sandboxes[id].op = Some(op);
            self.is_spare(id);
        } else {
            self.sandboxes[id].ready_at = now;
            self.transition(id, SandboxState::Warm);
            self.tell_adopted(id);
            self.watch_life(id);
            self.is_free(id);
        }
    }

    fn tell_adopted(&mut self, id: SandboxId) {
        let span = self.now.since(self.sandboxes[id].since);
        self.tell_sandbox(
            EventKind::SandboxAdopted,
            Reason::AnswerLost,
            Actor::Scheduler,
            id,
            None,
            span,
        );
    }

    /// The claim on whose behalf it was started, if it still waits, has no limbo any more.
    fn leave_claim(&mut self, id: SandboxId) {
        // The create's answer, should it still come, has nothing to say any more.
        self.drop_operation(id);
        if let Some(claim) = self.sandboxes[id].cause.take()
            && let Some(claim) = self.claims.get_mut(claim)
        {
            claim.limbo = None;
        }
    }
}
