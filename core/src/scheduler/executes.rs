//! Executes: let go, made to wait, ended, cancelled.

use super::Scheduler;
use super::state::{Execute, ExecuteState};
use super::timers::Timer;
use crate::event::{Actor, EventKind, Reason};
use crate::id::{ConversationId, ExecuteId, SandboxId, TurnId};
use crate::input::{ExecuteOutcome, Used};
use crate::lifecycle::SandboxState;
use crate::output::WhyRejected;
use crate::time::{Span, Time};

impl Scheduler {
    pub(super) fn start_execute(
        &mut self,
        id: ConversationId,
        turn: TurnId,
        execute: ExecuteId,
        patience: Option<Span>,
    ) {
        let (now, configured) = (self.now, self.config.sandbox_wait);
        let draining = !matches!(
            self.phase,
            super::Phase::Restoring | super::Phase::Recovering | super::Phase::Running
        );
        let Some(conversation) = self.conversation_mut(id) else {
            return self.reject_with(WhyRejected::UnknownConversation, Some(id), turn, execute);
        };
        let why = match &conversation.turn {
            Some(open) if open.id == turn => {
                if open.execute.is_some() {
                    Some(WhyRejected::ExecuteInProgress)
                } else if execute <= conversation.last_execute {
                    Some(WhyRejected::NumberNotIncreasing)
                } else {
                    None
                }
            }
            _ => Some(WhyRejected::NoSuchTurn),
        };
        if let Some(why) = why {
            return self.reject_with(why, Some(id), turn, execute);
        }
        conversation.last_execute = execute;
        let open = conversation.turn.as_mut().expect("checked above");
        open.last_activity = now;
        open.execute = Some(Execute {
            id: execute,
            state: ExecuteState::Waiting,
            asked_at: now,
            began_at: now,
            patience: patience.unwrap_or(configured),
        });
        let own_patience = patience.unwrap_or(configured);
        let class = open.class;
        let (sandbox, claim) = (conversation.sandbox, conversation.claim);
        match (sandbox, claim) {
            // A shutdown lets nothing new run, not even in a sandbox that is there.
            _ if draining => self.request_blocked(id, patience, false),
            (Some(sandbox), _) if self.sandboxes[sandbox].state == SandboxState::Busy => {
                // Only an adopted sandbox is busy without an execute of its turn: a command of the
                // earlier instance may still run in it. The probe under way will tell.
                self.set_execute_state(id, ExecuteState::AwaitingProbe);
                self.timers.set(now.plus(own_patience), Timer::ProbePatience(id));
            }
            (Some(sandbox), _) if self.sandboxes[sandbox].class != class => {
                self.request_blocked(id, patience, true);
            }
            (Some(sandbox), Some(claim)) => {
                self.claim_is_used(claim);
                self.let_go(id, sandbox);
            }
            (Some(sandbox), None) => self.let_go(id, sandbox),
            (None, Some(claim)) => self.block(claim, patience),
            (None, None) => self.request_blocked(id, patience, false),
        }
    }

    fn set_execute_state(&mut self, id: ConversationId, state: ExecuteState) {
        let execute =
            self.known_conversation(id).turn.as_mut().and_then(|turn| turn.execute.as_mut());
        execute.expect("an execute is under way").state = state;
    }

    /// The execute under way may run in the conversation's sandbox.
    pub(super) fn let_go(&mut self, id: ConversationId, sandbox: SandboxId) {
        let now = self.now;
        let turn = self.known_conversation(id).turn.as_mut().expect("an execute has an open turn");
        turn.ran_code = true;
        let execute = turn.execute.as_mut().expect("an execute is under way");
        execute.state = ExecuteState::Running;
        execute.began_at = now;
        let waited = now.since(execute.asked_at);
        self.transition(sandbox, SandboxState::Busy);
        self.tell_replaced(id, sandbox);
        let entry = &mut self.sandboxes[sandbox];
        entry.used = true;
        entry.executes = entry.executes.saturating_add(1);
        self.tell_sandbox(
            EventKind::SandboxBusy,
            Reason::None,
            Actor::Scheduler,
            sandbox,
            None,
            waited,
        );
    }

    pub(super) fn finish_execute(
        &mut self,
        id: ConversationId,
        execute: ExecuteId,
        outcome: ExecuteOutcome,
        used: Used,
    ) {
        let conversation = self.conversation_ref(id);
        let Some(conversation) = conversation else {
            return self.reject_with(
                WhyRejected::UnknownConversation,
                Some(id),
                TurnId(0),
                execute,
            );
        };
        let under_way = conversation.turn.and_then(|turn| turn.execute);
        let running = under_way.filter(|under_way| under_way.id == execute).filter(|under_way| {
            match under_way.state {
                ExecuteState::Running => true,
                // The truth may still come while a probe is out.
                ExecuteState::Unresolved => outcome != ExecuteOutcome::Unreachable,
                ExecuteState::Waiting | ExecuteState::AwaitingProbe => false,
            }
        });
        let (Some(_), Some(sandbox)) = (running, conversation.sandbox) else {
            return self.reject_with(WhyRejected::NoSuchExecute, Some(id), TurnId(0), execute);
        };
        match outcome {
            ExecuteOutcome::Completed | ExecuteOutcome::TimedOut => {
                let reason = if outcome == ExecuteOutcome::Completed {
                    Reason::Completed
                } else {
                    Reason::TimedOut
                };
                self.end_execute(id, reason, Actor::Caller, used);
                self.rest(sandbox);
            }
            ExecuteOutcome::SandboxGone => self.died(sandbox, Actor::Caller),
            ExecuteOutcome::Unreachable => {
                self.set_execute_state(id, ExecuteState::Unresolved);
                self.probe(sandbox);
            }
        }
    }

    /// Ends the execute under way and says so.
    pub(super) fn end_execute(
        &mut self,
        id: ConversationId,
        reason: Reason,
        actor: Actor,
        used: Used,
    ) {
        let now = self.now;
        let conversation = self.known_conversation(id);
        let turn = conversation.turn.as_mut().expect("an execute has an open turn");
        let execute = turn.execute.expect("an execute is under way");
        turn.last_activity = now;
        let sandbox = conversation.sandbox;
        let of_sandbox = sandbox.map(|sandbox| {
            let sandbox = &self.sandboxes[sandbox];
            (sandbox.state, sandbox.class)
        });
        let event = self.tell_conversation(EventKind::ExecuteEnded, reason, actor, id);
        event.span = now.since(execute.began_at);
        event.used = used;
        event.sandbox = sandbox;
        if let Some((state, class)) = of_sandbox {
            event.state = state;
            event.class = class;
        }
        self.execute_is_over(id);
    }

    fn execute_is_over(&mut self, id: ConversationId) {
        let turn = self.known_conversation(id).turn.as_mut();
        turn.expect("an execute has an open turn").execute = None;
    }

    /// A sandbox's command is over.
    pub(super) fn rest(&mut self, sandbox: SandboxId) {
        self.transition(sandbox, SandboxState::Idle);
        self.tell_sandbox(
            EventKind::SandboxIdle,
            Reason::None,
            Actor::Scheduler,
            sandbox,
            None,
            Span::ZERO,
        );
        if let super::Phase::Draining { leave_sandboxes: false, .. } = self.phase {
            self.destroy(sandbox, Reason::ShuttingDown, Actor::Scheduler);
        }
    }

    pub(super) fn cancel_execute_asked(&mut self, id: ConversationId, execute: ExecuteId) {
        let Some(conversation) = self.conversation_ref(id) else {
            return self.reject_with(
                WhyRejected::UnknownConversation,
                Some(id),
                TurnId(0),
                execute,
            );
        };
        let under_way = conversation.turn.and_then(|turn| turn.execute);
        if under_way.is_none_or(|under_way| under_way.id != execute) {
            return self.reject_with(WhyRejected::NoSuchExecute, Some(id), TurnId(0), execute);
        }
        self.cancel_execute(id, Reason::Cancelled, Actor::Caller);
    }

    /// Cancels the execute under way, if there is one. Whoever cancels a running command also
    /// stops it: the scheduler never hears of it again.
    pub(super) fn cancel_execute(&mut self, id: ConversationId, reason: Reason, actor: Actor) {
        let conversation = self.known_conversation(id);
        let (claim, sandbox) = (conversation.claim, conversation.sandbox);
        let Some(execute) = conversation.turn.and_then(|turn| turn.execute) else { return };
        match execute.state {
            ExecuteState::Waiting => {
                self.refuse(claim.expect("a waiting execute has a claim"), reason, actor);
            }
            ExecuteState::AwaitingProbe => {
                self.refuse_without_claim(id, reason, actor);
            }
            ExecuteState::Running | ExecuteState::Unresolved => {
                self.end_execute(id, reason, actor, Used::default());
                self.rest(sandbox.expect("a running execute has a sandbox"));
            }
        }
    }

    /// Refuses an execute that waits for a probe and not behind a claim.
    pub(super) fn refuse_without_claim(
        &mut self,
        id: ConversationId,
        reason: Reason,
        actor: Actor,
    ) {
        let now = self.now;
        let turn = self.known_conversation(id).turn.as_mut().expect("an execute has an open turn");
        turn.last_activity = now;
        let execute = turn.execute.expect("an execute is under way");
        let event = self.tell_conversation(EventKind::SandboxUnavailable, reason, actor, id);
        event.span = now.since(execute.asked_at);
        self.execute_is_over(id);
    }

    pub(super) fn is_probe_patience_live(&self, id: ConversationId, at: Time) -> bool {
        self.conversation_ref(id)
            .and_then(|conversation| conversation.turn)
            .and_then(|turn| turn.execute)
            .is_some_and(|execute| {
                execute.state == ExecuteState::AwaitingProbe
                    && execute.asked_at.plus(execute.patience) == at
            })
    }

    /// The conversation's own sandbox, which a probe was to clear, lives and is quiet.
    pub(super) fn probed_and_quiet(&mut self, id: ConversationId, sandbox: SandboxId) {
        let waiting = self
            .known_conversation(id)
            .turn
            .and_then(|turn| turn.execute)
            .is_some_and(|execute| execute.state == ExecuteState::AwaitingProbe);
        if waiting {
            self.let_go(id, sandbox);
        }
    }
}
