//! What the scheduler says.

use crate::event::Event;
use crate::id::{ConversationId, ExecuteId, TurnId};
use crate::provider::Operation;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One thing the scheduler wants done or known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Ask this of the provider.
    Operation(Operation),
    /// This happened. Answers to callers are events that name the claim or the turn.
    Event(Event),
    /// The last input made no sense and changed nothing.
    Rejected(Rejection),
}

/// An input that made no sense and changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// Why.
    pub why: WhyRejected,
    /// The conversation it named, if any.
    pub conversation: Option<ConversationId>,
    /// The turn it named; 0 if none.
    pub turn: TurnId,
    /// The execute it named; 0 if none.
    pub execute: ExecuteId,
}

/// Why an input was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyRejected {
    /// No such open conversation.
    UnknownConversation,
    /// The conversation's slot is taken by another open one.
    ConversationExists,
    /// A turn is open already.
    TurnOpen,
    /// No such open turn.
    NoSuchTurn,
    /// The number is not larger than every earlier one.
    NumberNotIncreasing,
    /// No such class.
    UnknownClass,
    /// An execute of this turn is under way; executes of one turn run one after another.
    ExecuteInProgress,
    /// No such execute under way.
    NoSuchExecute,
    /// The new configuration contradicts itself, is out of range, or drops a class.
    BadConfig,
    /// Recovery is over already.
    RecoveryOver,
    /// The conversation has a sandbox already, or another conversation has this one.
    SandboxBound,
    /// Accounts are numbered densely from 0, and this number is not below [`crate::MAX_ACCOUNTS`].
    UnknownAccount,
}

impl fmt::Display for WhyRejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WhyRejected::UnknownConversation => "no such open conversation",
            WhyRejected::ConversationExists => "the conversation is open already",
            WhyRejected::TurnOpen => "a turn is open already",
            WhyRejected::NoSuchTurn => "no such open turn",
            WhyRejected::NumberNotIncreasing => "the number is not larger than every earlier one",
            WhyRejected::UnknownClass => "no such class",
            WhyRejected::ExecuteInProgress => "an execute of this turn is under way",
            WhyRejected::NoSuchExecute => "no such execute under way",
            WhyRejected::BadConfig => "the configuration contradicts itself or drops a class",
            WhyRejected::RecoveryOver => "recovery is over already",
            WhyRejected::SandboxBound => "the conversation has a sandbox already",
            WhyRejected::UnknownAccount => "the account number is too large",
        })
    }
}
