//! Deleting: begun once, tried until the provider confirms, and only then is capacity returned.

use super::Scheduler;
use super::backoff::{LONGEST_PAUSE, delay};
use super::timers::Timer;
use crate::event::{Actor, EventKind, Reason};
use crate::id::{Id, SandboxId};
use crate::lifecycle::SandboxState;
use crate::provider::{Failure, Verb};
use crate::time::Time;

/// Deleting counts as stuck after this many operation time-outs.
const STUCK_AFTER_TIMEOUTS: u64 = 10;

impl Scheduler {
    /// Begins to delete a sandbox, whatever it was doing. Its lease ends now, its capacity comes
    /// back when the provider has confirmed. Harmless when deleting is under way.
    pub(super) fn destroy(&mut self, id: SandboxId, reason: Reason, actor: Actor) {
        let state = self.sandboxes[id].state;
        if matches!(state, SandboxState::Destroying | SandboxState::Deleted) {
            return;
        }
        self.stop_idling(id);
        self.drop_operation(id);
        self.sandboxes[id].retry_at = Time::MAX;
        if state == SandboxState::Warm {
            let class = self.sandboxes[id].class;
            self.class_mut(class).warm.remove(&id);
        }
        self.transition(id, SandboxState::Destroying);
        let span = self.now.since(self.sandboxes[id].started_at);
        self.tell_sandbox(EventKind::SandboxDestroying, reason, actor, id, None, span);
        self.end_lease(id, reason);
        let now = self.now;
        let sandbox = &mut self.sandboxes[id];
        sandbox.since = now;
        sandbox.tries = 0;
        let resources = self.class(self.sandboxes[id].class).resources;
        self.ledger.incoming = self.ledger.incoming.plus(resources);
        self.ask_to_destroy(id);
        self.dirty = true;
    }

    /// The conversation that holds the sandbox loses it, and its account holds one less.
    pub(super) fn end_lease(&mut self, id: SandboxId, reason: Reason) {
        let sandbox = &mut self.sandboxes[id];
        let Some(conversation) = sandbox.conversation.take() else { return };
        let (class, used) = (sandbox.class, sandbox.used);
        let account = self.known_conversation(conversation).account;
        self.lose_sandbox(conversation, used, reason);
        self.lease_ends.record(self.now);
        self.release(account, class);
    }

    pub(super) fn ask_to_destroy(&mut self, id: SandboxId) {
        let deadline = self.now.plus(self.config.operation_timeout);
        self.sandboxes[id].tries += 1;
        let op = self.submit(Verb::Destroy, id, deadline);
        self.sandboxes[id].op = Some(op);
    }

    /// The delete was not confirmed: it is tried again for ever, and reported when it takes long.
    pub(super) fn destroy_failed(&mut self, id: SandboxId, failure: Failure) {
        let (base, max) = (self.config.retry_base, self.config.retry_max);
        let sandbox = &mut self.sandboxes[id];
        sandbox.op = None;
        let mut wait = delay(base, max, sandbox.tries, id.sequence());
        if let Failure::RateLimited { retry_after } = failure {
            wait = wait.max(retry_after.min(LONGEST_PAUSE));
        }
        sandbox.retry_at = self.now.plus(wait);
        self.timers.set(self.sandboxes[id].retry_at, Timer::Retry(id));
        let deleting_for = self.now.since(self.sandboxes[id].since);
        let long = self.config.operation_timeout.times(STUCK_AFTER_TIMEOUTS);
        if deleting_for >= long && !self.sandboxes[id].stuck {
            // What is stuck is not on its way back.
            self.sandboxes[id].stuck = true;
            let resources = self.class(self.sandboxes[id].class).resources;
            self.ledger.incoming = self.ledger.incoming.minus(resources);
            self.tell_sandbox(
                EventKind::SandboxStuck,
                Reason::None,
                Actor::Scheduler,
                id,
                None,
                deleting_for,
            );
            self.dirty = true;
        }
    }

    /// The provider confirmed that it is gone.
    pub(super) fn destroyed(&mut self, id: SandboxId) {
        let resources = self.class(self.sandboxes[id].class).resources;
        if !self.sandboxes[id].stuck {
            self.ledger.incoming = self.ledger.incoming.minus(resources);
        }
        if self.sandboxes[id].orphan {
            let span = self.now.since(self.sandboxes[id].since);
            self.tell_sandbox(
                EventKind::OrphanRemoved,
                Reason::Orphan,
                Actor::Provider,
                id,
                None,
                span,
            );
        }
        self.deleted(id, Reason::None);
    }

    /// The sandbox does not exist: its capacity comes back, exactly once, here and nowhere else.
    pub(super) fn deleted(&mut self, id: SandboxId, reason: Reason) {
        self.transition(id, SandboxState::Deleted);
        if self.sandboxes[id].state != SandboxState::Deleted {
            return; // An illegal edge, reported: the capacity stays on the books.
        }
        let span = self.now.since(self.sandboxes[id].since);
        self.tell_sandbox(EventKind::SandboxDeleted, reason, Actor::Provider, id, None, span);
        let sandbox = self.sandboxes.remove(id).expect("it lives");
        let resources = self.class(sandbox.class).resources;
        self.ledger.used = self.ledger.used.minus(resources);
        for op in [sandbox.op, sandbox.keep_alive_op].into_iter().flatten() {
            self.operations.remove(op);
        }
        if let Some(claim) = sandbox.cause
            && let Some(claim) = self.claims.get_mut(claim)
        {
            claim.limbo = None;
        }
        self.dirty = true;
    }

    /// A sandbox's retry is due: which operation, follows from its state.
    pub(super) fn try_again(&mut self, id: SandboxId) {
        self.sandboxes[id].retry_at = Time::MAX;
        match self.sandboxes[id].state {
            SandboxState::Destroying => self.ask_to_destroy(id),
            SandboxState::Limbo => self.look_for(id),
            state if state.is_leased() || state == SandboxState::Warm => self.probe(id),
            _ => {}
        }
    }
}
