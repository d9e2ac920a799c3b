//! A conversation as its user and agent live it: a loop of think, work, execute.

use crate::workload::{Conversation, TurnPlan};
use sandpool_core::{ClassId, ConversationId, ExecuteId, ProviderId, SandboxName, Time, TurnId};

/// What a client does when its time comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The user asks the next question.
    BeginTurn,
    /// The agent runs its next command.
    StartExecute,
    /// The command has run its time.
    FinishExecute,
    /// The agent answers the user.
    EndTurn,
    /// The conversation is closed.
    Close,
    /// Nothing until the scheduler answers.
    Wait,
}

/// What the store remembers of a conversation's sandbox: it survives a crash of our server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) name: SandboxName,
    pub(super) provider: Option<ProviderId>,
    pub(super) class: ClassId,
}

/// An open conversation.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) id: ConversationId,
    pub(super) conversation: Conversation,
    pub(super) step: Step,
    /// The turn under way or, between turns, the one that was last; from 1.
    pub(super) turn: u32,
    pub(super) in_turn: bool,
    pub(super) plan: TurnPlan,
    /// The execute of the turn under way, from 1.
    pub(super) execute: u32,
    /// Executes asked for in the whole conversation, so that each has its own number.
    pub(super) asked: u32,
    /// New attempts of this execute after a refusal.
    pub(super) retry: u32,
    /// The sandbox in which a command of this client runs.
    pub(super) running_in: Option<ProviderId>,
    pub(super) held: Option<Held>,
    /// When it asked for the execute that has not been answered yet.
    pub(super) asked_at: Option<Time>,
}

impl Client {
    pub(super) fn new(id: ConversationId, conversation: Conversation) -> Self {
        Self {
            id,
            conversation,
            step: Step::BeginTurn,
            turn: 0,
            in_turn: false,
            plan: TurnPlan::default(),
            execute: 0,
            asked: 0,
            retry: 0,
            running_in: None,
            held: None,
            asked_at: None,
        }
    }

    pub(super) fn turn_id(&self) -> TurnId {
        TurnId(self.turn)
    }

    pub(super) fn execute_id(&self) -> ExecuteId {
        ExecuteId(self.asked)
    }
}
