//! What can be asked of the engine.

use super::answers::{Answered, Granted};
use super::status::PoolStatus;
use crate::store::{ConversationKey, MessageKind};
use sandpool_core::{
    AccountId, Capacity, ClassId, ConversationId, ExecuteId, ExecuteOutcome, Explanation, OpId,
    Reason, Reply, Span, TurnId, Used, WhyRejected,
};
use tokio::sync::oneshot;

/// A request that made no sense and changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Refused(pub(crate) WhyRejected);

/// One request, with where its answer goes.
#[derive(Debug)]
pub(super) enum Command {
    Open {
        key: ConversationKey,
        account: AccountId,
        answer: oneshot::Sender<ConversationId>,
    },
    Append {
        conversation: ConversationId,
        turn: TurnId,
        kind: MessageKind,
        call: Option<String>,
        text: String,
        answer: oneshot::Sender<Result<u64, Refused>>,
    },
    Close {
        conversation: ConversationId,
        cancel: bool,
        answer: oneshot::Sender<Result<(), Refused>>,
    },
    BeginTurn {
        conversation: ConversationId,
        class: ClassId,
        likely_percent: Option<u8>,
        answer: oneshot::Sender<Result<TurnId, Refused>>,
    },
    EndTurn {
        conversation: ConversationId,
        turn: TurnId,
        cancel: bool,
        answered: Answered,
        answer: oneshot::Sender<Result<(), Refused>>,
    },
    Acquire {
        conversation: ConversationId,
        /// None: the one that is open.
        turn: Option<TurnId>,
        patience: Option<Span>,
        answer: oneshot::Sender<Result<Granted, Refused>>,
    },
    Finish {
        conversation: ConversationId,
        execute: ExecuteId,
        outcome: ExecuteOutcome,
        used: Used,
        result: String,
        answered: Answered,
        answer: oneshot::Sender<Reason>,
    },
    Cancel {
        conversation: ConversationId,
        answer: oneshot::Sender<()>,
    },
    /// Answered when all that came before it is safe.
    Safe {
        answer: oneshot::Sender<()>,
    },
    Explain {
        conversation: ConversationId,
        answer: oneshot::Sender<Option<Explanation>>,
    },
    /// Brings the metrics up to now.
    Settle {
        answer: oneshot::Sender<()>,
    },
    Status {
        /// The open conversations.
        open: Vec<ConversationId>,
        answer: oneshot::Sender<PoolStatus>,
    },
    Reconcile {
        answer: oneshot::Sender<()>,
    },
    Capacity {
        answer: oneshot::Sender<Capacity>,
    },
    Drain {
        leave_sandboxes: bool,
        answer: oneshot::Sender<()>,
    },
    /// The provider answered an operation.
    Reply {
        op: OpId,
        reply: Reply,
    },
}
