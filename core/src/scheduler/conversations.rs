//! Conversations and their turns: open, begin, end, close, time out.

use super::Scheduler;
use super::state::{Conversation, Turn};
use super::timers::Timer;
use crate::event::{Actor, EventKind, Reason};
use crate::id::{AccountId, ClassId, ConversationId, ExecuteId, Id, MAX_ACCOUNTS, TurnId};
use crate::lifecycle::SandboxState;
use crate::output::WhyRejected;
use crate::policy::start::{TurnView, asks_at_begin};
use crate::time::{Span, Time};

impl Scheduler {
    pub(super) fn open_conversation(&mut self, id: ConversationId, account: AccountId) {
        if account.0 >= MAX_ACCOUNTS {
            return self.reject(WhyRejected::UnknownAccount, id);
        }
        let index = id.index();
        if self.conversations.len() <= index {
            self.conversations.resize_with(index + 1, || None);
        }
        if self.conversations[index].is_some() {
            return self.reject(WhyRejected::ConversationExists, id);
        }
        if self.accounts.len() <= account.0 as usize {
            self.accounts.resize_with(account.0 as usize + 1, Default::default);
        }
        self.queue.ensure_account(account);
        self.conversations[index] = Some(Conversation {
            id,
            account,
            claim: None,
            sandbox: None,
            turn: None,
            last_turn: TurnId(0),
            last_execute: ExecuteId(0),
            lost: None,
            turns: 0,
            turns_with_code: 0,
            turn_timer_at: Time::MAX,
        });
        self.open_conversations += 1;
        self.tell_conversation(EventKind::ConversationOpened, Reason::Requested, Actor::Caller, id);
    }

    pub(super) fn close_conversation(&mut self, id: ConversationId, cancel: bool) {
        let Some(conversation) = self.conversation_ref(id) else {
            return self.reject(WhyRejected::UnknownConversation, id);
        };
        if let Some(turn) = conversation.turn {
            if turn.execute.is_some() && !cancel {
                return self.reject(WhyRejected::ExecuteInProgress, id);
            }
            self.end_turn(id, Reason::ConversationClosed, Actor::Caller);
        }
        if let Some(sandbox) = self.known_conversation(id).sandbox {
            self.destroy(sandbox, Reason::ConversationClosed, Actor::Caller);
        }
        self.tell_conversation(EventKind::ConversationClosed, Reason::Requested, Actor::Caller, id);
        self.conversations[id.index()] = None;
        self.open_conversations -= 1;
    }

    pub(super) fn begin_turn(
        &mut self,
        id: ConversationId,
        turn: TurnId,
        class: ClassId,
        likely_percent: Option<u8>,
    ) {
        let classes = self.classes.len();
        let (policy, threshold_percent) =
            (self.config.start_policy, self.config.start_likely_percent);
        let timeout_at = self.now.plus(self.config.turn_timeout);
        let now = self.now;
        let Some(conversation) = self.conversation_mut(id) else {
            return self.reject_with(
                WhyRejected::UnknownConversation,
                Some(id),
                turn,
                ExecuteId(0),
            );
        };
        let why = if conversation.turn.is_some() {
            Some(WhyRejected::TurnOpen)
        } else if turn <= conversation.last_turn {
            Some(WhyRejected::NumberNotIncreasing)
        } else if usize::from(class.0) >= classes {
            Some(WhyRejected::UnknownClass)
        } else {
            None
        };
        if let Some(why) = why {
            return self.reject_with(why, Some(id), turn, ExecuteId(0));
        }
        let view = TurnView {
            likely_percent,
            turns: conversation.turns,
            turns_with_code: conversation.turns_with_code,
            threshold_percent,
        };
        conversation.turns = conversation.turns.saturating_add(1);
        conversation.last_turn = turn;
        conversation.turn =
            Some(Turn { id: turn, class, execute: None, last_activity: now, ran_code: false });
        conversation.turn_timer_at = timeout_at;
        let sandbox = conversation.sandbox;
        self.timers.set(timeout_at, Timer::TurnTimeout(id));
        self.tell_conversation(EventKind::TurnBegan, Reason::Requested, Actor::Caller, id);
        match sandbox {
            Some(sandbox) => self.stop_idling(sandbox),
            None if asks_at_begin(policy, &view) => self.request_speculative(id),
            None => {}
        }
    }

    pub(super) fn end_turn_asked(&mut self, id: ConversationId, turn: TurnId, cancel: bool) {
        let Some(conversation) = self.conversation_ref(id) else {
            return self.reject_with(
                WhyRejected::UnknownConversation,
                Some(id),
                turn,
                ExecuteId(0),
            );
        };
        let why = match &conversation.turn {
            Some(open) if open.id != turn => Some(WhyRejected::NoSuchTurn),
            None => Some(WhyRejected::NoSuchTurn),
            Some(open) if open.execute.is_some() && !cancel => Some(WhyRejected::ExecuteInProgress),
            Some(_) => None,
        };
        if let Some(why) = why {
            return self.reject_with(why, Some(id), turn, ExecuteId(0));
        }
        self.end_turn(id, Reason::Requested, Actor::Caller);
    }

    /// Ends the open turn: an execute under way is cancelled, a speculative claim given back, a
    /// used sandbox starts to idle.
    pub(super) fn end_turn(&mut self, id: ConversationId, reason: Reason, actor: Actor) {
        self.cancel_execute(id, Reason::Cancelled, actor);
        if let Some(claim) = self.known_conversation(id).claim {
            self.withdraw(claim, Reason::TurnEnded, actor);
        }
        self.tell_conversation(EventKind::TurnEnded, reason, actor, id);
        let conversation = self.known_conversation(id);
        let turn = conversation.turn.take().expect("the turn is open");
        conversation.turn_timer_at = Time::MAX;
        if turn.ran_code {
            conversation.turns_with_code = conversation.turns_with_code.saturating_add(1);
        }
        if let Some(sandbox) = conversation.sandbox
            && self.sandboxes[sandbox].state == SandboxState::Idle
        {
            self.start_idling(sandbox, turn.ran_code);
        }
    }

    pub(super) fn turn_may_have_timed_out(&mut self, id: ConversationId) {
        let timeout = self.config.turn_timeout;
        let now = self.now;
        let Some(conversation) = self.conversation_mut(id) else { return };
        let Some(turn) = conversation.turn else { return };
        // A command that runs or waits is activity, however long.
        let busy = turn.execute.is_some();
        let ends_at = if busy { now.plus(timeout) } else { turn.last_activity.plus(timeout) };
        if ends_at > now {
            conversation.turn_timer_at = ends_at;
            self.timers.set(ends_at, Timer::TurnTimeout(id));
        } else {
            self.end_turn(id, Reason::TurnTimeout, Actor::Timer);
        }
    }

    /// The conversation's sandbox is gone or taken. What was in it is lost if it was used.
    pub(super) fn lose_sandbox(&mut self, id: ConversationId, used: bool, reason: Reason) {
        let conversation = self.known_conversation(id);
        conversation.sandbox = None;
        if used {
            conversation.lost = Some(reason);
        }
    }

    /// Tells the conversation of its new sandbox if it had lost a used one.
    pub(super) fn tell_replaced(&mut self, id: ConversationId, sandbox: crate::id::SandboxId) {
        if let Some(lost) = self.known_conversation(id).lost.take() {
            self.tell_sandbox(
                EventKind::SandboxReplaced,
                lost,
                Actor::Scheduler,
                sandbox,
                None,
                Span::ZERO,
            );
        }
    }
}
