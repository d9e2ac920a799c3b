//! Sandboxes die without telling. Keeping one alive also checks it; a doubt is settled by a probe;
//! dead and unknown are different verdicts, and unknown kills nothing.

use super::Scheduler;
use super::backoff::delay;
use super::state::{ClaimState, ExecuteState};
use super::timers::Timer;
use crate::event::{Actor, EventKind, Reason};
use crate::id::{Id, SandboxId};
use crate::input::Used;
use crate::lifecycle::SandboxState;
use crate::policy::StartPolicy;
use crate::provider::Verb;
use crate::time::{Span, Time};

/// Probes without a verdict before an execute is answered without one.
const PROBES_PER_EXECUTE: u32 = 3;

impl Scheduler {
    /// A sandbox is ready or adopted: from now on it is kept alive.
    pub(super) fn watch_life(&mut self, id: SandboxId) {
        let at = self.now.plus(self.config.keep_alive.max(Span::from_millis(1)));
        self.sandboxes[id].keep_alive_at = at;
        self.timers.set(at, Timer::KeepAlive(id));
    }

    pub(super) fn keep_alive(&mut self, id: SandboxId) {
        self.watch_life(id);
        if self.sandboxes[id].keep_alive_op.is_none() {
            let deadline = self.now.plus(self.config.operation_timeout);
            let op = self.submit(Verb::KeepAlive, id, deadline);
            self.sandboxes[id].keep_alive_op = Some(op);
        }
    }

    /// Asks the provider whether the sandbox lives, unless that is under way.
    pub(super) fn probe(&mut self, id: SandboxId) {
        if self.sandboxes[id].op.is_some() {
            return;
        }
        let deadline = self.now.plus(self.config.operation_timeout);
        self.sandboxes[id].tries += 1;
        let op = self.submit(Verb::Probe, id, deadline);
        self.sandboxes[id].op = Some(op);
    }

    /// It lives. An execute whose end was in doubt is answered: it may or may not have run, and is
    /// not run again.
    pub(super) fn alive(&mut self, id: SandboxId, quiet: bool) {
        let sandbox = &mut self.sandboxes[id];
        sandbox.tries = 0;
        sandbox.missed = 0;
        let Some(conversation) = sandbox.conversation else { return };
        if sandbox.unresolved {
            return self.adopted_answers(id, quiet);
        }
        if self.execute_is_unresolved(conversation) {
            self.end_execute(conversation, Reason::Unreachable, Actor::Provider, Used::default());
            self.rest(id);
        }
    }

    fn execute_is_unresolved(&mut self, conversation: crate::id::ConversationId) -> bool {
        self.known_conversation(conversation)
            .turn
            .and_then(|turn| turn.execute)
            .is_some_and(|execute| execute.state == ExecuteState::Unresolved)
    }

    /// The probe brought no verdict: ask again later. Whoever waits is not kept for ever: the
    /// execute is answered, the sandbox is kept.
    pub(super) fn no_verdict(&mut self, id: SandboxId) {
        let (base, max) = (self.config.retry_base, self.config.retry_max);
        let tries = self.sandboxes[id].tries;
        let wait = delay(base, max, tries, id.sequence());
        let at = self.now.plus(wait);
        self.sandboxes[id].retry_at = at;
        self.timers.set(at, Timer::Retry(id));
        if let Some(conversation) = self.sandboxes[id].conversation
            && tries >= PROBES_PER_EXECUTE
            && self.execute_is_unresolved(conversation)
        {
            self.end_execute(conversation, Reason::Unreachable, Actor::Scheduler, Used::default());
            self.rest(id);
        }
        self.unresolved_too_long(id);
    }

    /// The sandbox is gone for certain, or for certain unusable. A command in flight is answered
    /// with an error and never run again; the conversation stays.
    pub(super) fn died(&mut self, id: SandboxId, actor: Actor) {
        match self.sandboxes[id].state {
            SandboxState::Warm => {
                let class = self.sandboxes[id].class;
                self.class_mut(class).warm.remove(&id);
            }
            SandboxState::Assigned | SandboxState::Busy | SandboxState::Idle => {}
            SandboxState::Preparing => return self.died_while_starting(id),
            _ => return,
        }
        self.stop_idling(id);
        let conversation = self.sandboxes[id].conversation;
        self.transition(id, SandboxState::Dead);
        let span = self.now.since(self.sandboxes[id].started_at);
        self.tell_sandbox(EventKind::SandboxDied, Reason::Died, actor, id, None, span);
        let mut waiting = None;
        if let Some(conversation) = conversation {
            let turn = self.known_conversation(conversation).turn;
            if let Some(execute) = turn.and_then(|turn| turn.execute) {
                match execute.state {
                    ExecuteState::Running | ExecuteState::Unresolved => {
                        self.end_execute(conversation, Reason::Died, actor, Used::default());
                    }
                    ExecuteState::AwaitingProbe => waiting = Some(conversation),
                    ExecuteState::Waiting => {}
                }
            }
            // An unused one that a speculative claim held: the claim is still admitted, and is
            // served anew.
            let claim = self.known_conversation(conversation).claim;
            let unused = claim.filter(|&claim| self.claims[claim].state == ClaimState::Bound);
            if let Some(claim) = unused {
                self.sandboxes[id].conversation = None;
                self.known_conversation(conversation).sandbox = None;
                self.claims[claim].state = ClaimState::Admitted;
                let deadline = self.now.plus(self.config.start_timeout);
                self.claims[claim].start_deadline = deadline;
                self.timers.set(deadline, Timer::ClaimStart(claim));
                self.look_for_supply(claim);
            } else {
                self.end_lease(id, Reason::Died);
                self.no_longer_a_swap(conversation);
            }
        }
        self.sandboxes[id].unresolved = false;
        self.forget_operations(id);
        self.destroy(id, Reason::Died, Actor::Scheduler);
        if let Some(conversation) = waiting {
            // It waited for this sandbox to be proven quiet: now it needs another.
            self.block_again(conversation);
        } else if let Some(conversation) = conversation {
            self.replace_ahead(conversation);
        }
    }

    fn forget_operations(&mut self, id: SandboxId) {
        let sandbox = &mut self.sandboxes[id];
        let ops = [sandbox.op.take(), sandbox.keep_alive_op.take()];
        sandbox.retry_at = Time::MAX;
        for op in ops.into_iter().flatten() {
            self.operations.remove(op);
        }
    }

    /// Turns an execute that waited for a probe into one that waits behind a claim.
    pub(super) fn block_again(&mut self, conversation: crate::id::ConversationId) {
        let turn = self.known_conversation(conversation).turn.as_mut();
        let execute = turn.and_then(|turn| turn.execute.as_mut());
        let execute = execute.expect("an execute waits");
        execute.state = ExecuteState::Waiting;
        let patience = execute.patience;
        self.request_blocked(conversation, Some(patience), false);
    }

    /// A turn that lost its sandbox and would have asked for one as it began asks again at once.
    fn replace_ahead(&mut self, id: crate::id::ConversationId) {
        let ahead = self.config.start_policy != StartPolicy::OnExecute;
        let conversation = self.known_conversation(id);
        let free = conversation.sandbox.is_none() && conversation.claim.is_none();
        let code = conversation.turn.is_some_and(|turn| turn.ran_code && turn.execute.is_none());
        if ahead && free && code {
            self.request_speculative(id);
        }
    }

    /// An adopted sandbox whose last command may still run cannot be waited for without end.
    pub(super) fn unresolved_too_long(&mut self, id: SandboxId) {
        let sandbox = &self.sandboxes[id];
        let Some(conversation) = sandbox.conversation.filter(|_| sandbox.unresolved) else {
            return;
        };
        // As long as nobody waits, a command may run as long as it likes.
        let waits_since = self
            .known_conversation(conversation)
            .turn
            .and_then(|turn| turn.execute)
            .filter(|execute| execute.state == ExecuteState::AwaitingProbe)
            .map(|execute| execute.asked_at);
        let timeout = self.config.start_timeout;
        if waits_since.is_some_and(|since| self.now.since(since) >= timeout) {
            self.sandboxes[id].unresolved = false;
            self.forget_operations(id);
            self.destroy(id, Reason::Recovery, Actor::Scheduler);
            self.block_again(conversation);
        }
    }

    /// An adopted sandbox with an unresolved command answered the probe.
    fn adopted_answers(&mut self, id: SandboxId, quiet: bool) {
        if !quiet {
            self.sandboxes[id].tries += 1;
            return self.no_verdict(id);
        }
        self.sandboxes[id].unresolved = false;
        self.rest(id);
        // A shutdown destroys it as it comes to rest.
        let Some(conversation) = self.sandboxes[id].conversation else { return };
        if self.known_conversation(conversation).turn.is_some() {
            self.probed_and_quiet(conversation, id);
        } else {
            self.start_idling(id, true);
        }
    }

    /// The keep-alive was answered or given up.
    pub(super) fn keep_alive_over(&mut self, id: SandboxId, failed: bool) {
        self.sandboxes[id].keep_alive_op = None;
        if failed {
            // Sooner than the next regular one, so that a doubt does not last an interval.
            let (base, max) = (self.config.retry_base, self.config.retry_max);
            let wait = delay(base, max, 3, id.sequence()).min(self.config.keep_alive);
            let at = self.now.plus(wait.max(Span::from_millis(1)));
            self.sandboxes[id].keep_alive_at = at;
            self.timers.set(at, Timer::KeepAlive(id));
        }
    }
}
