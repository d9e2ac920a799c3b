//! What the scheduler is told.

use crate::config::Config;
use crate::event::Reason;
use crate::id::{AccountId, ClassId, ConversationId, ExecuteId, OpId, ProviderId, TurnId};
use crate::provider::{Reply, SandboxName};
use crate::time::Span;
use serde::{Deserialize, Serialize};

/// One thing that happened outside. Every input is legal at every moment: a request that makes no
/// sense is answered by a [`crate::Rejection`], a late reply by an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// A conversation exists from now on.
    OpenConversation {
        /// Its id, chosen by the caller.
        conversation: ConversationId,
        /// Whose it is.
        account: AccountId,
    },
    /// The conversation is over; its sandbox goes.
    CloseConversation {
        /// Which.
        conversation: ConversationId,
        /// Whether to cancel an execute under way; otherwise closing during one is rejected.
        cancel: bool,
    },
    /// A user request begins.
    BeginTurn {
        /// In which conversation.
        conversation: ConversationId,
        /// Its number, larger than any earlier one of the conversation.
        turn: TurnId,
        /// The class of sandbox that this turn uses.
        class: ClassId,
        /// The caller's own estimate that the turn needs code, percent (0 to 100), if it has one.
        likely_percent: Option<u8>,
    },
    /// The user request is answered.
    EndTurn {
        /// In which conversation.
        conversation: ConversationId,
        /// Which turn.
        turn: TurnId,
        /// Whether to cancel an execute under way; otherwise ending during one is rejected.
        cancel: bool,
    },
    /// A command, a file write or read wants to run in the sandbox. Answered by exactly one event:
    /// `sandbox_busy` (go ahead) or `sandbox_unavailable`.
    StartExecute {
        /// In which conversation.
        conversation: ConversationId,
        /// In which turn.
        turn: TurnId,
        /// Its number, larger than any earlier one of the conversation.
        execute: ExecuteId,
        /// How long it would wait for capacity, if not the configured time.
        patience: Option<Span>,
    },
    /// The command ended, or the adapter gave up on it.
    FinishExecute {
        /// In which conversation.
        conversation: ConversationId,
        /// Which execute.
        execute: ExecuteId,
        /// How.
        outcome: ExecuteOutcome,
        /// What it used.
        used: Used,
    },
    /// The caller does not want the execute any more, waiting or running.
    CancelExecute {
        /// In which conversation.
        conversation: ConversationId,
        /// Which execute.
        execute: ExecuteId,
    },
    /// The provider answered an operation.
    Reply {
        /// Which operation.
        op: OpId,
        /// What it said.
        reply: Reply,
    },
    /// After a restart, before [`Input::Recovered`]: the store maps this sandbox to this open
    /// conversation.
    Restore {
        /// Whose sandbox.
        conversation: ConversationId,
        /// Its name.
        sandbox: SandboxName,
        /// The provider's own id, if it was learned.
        provider: Option<ProviderId>,
        /// Its class.
        class: ClassId,
        /// Whether a command ran in it whose end is unknown.
        unresolved_execute: bool,
    },
    /// After a restart, before [`Input::Recovered`]: the store knows that this open conversation
    /// had lost a used sandbox, and that nobody was told yet.
    FilesLost {
        /// Whose files.
        conversation: ConversationId,
        /// How they were lost.
        reason: Reason,
    },
    /// The store is read; recovery may go on to the provider's inventory.
    Recovered,
    /// The provider's inventory is to be compared with the ledger now, not only when it is due.
    Reconcile,
    /// New settings. Classes may be added at the end; existing ones keep their place and name.
    Reconfigure(Box<Config>),
    /// Stop admitting, answer everybody, and end.
    Drain {
        /// Whether to leave the sandboxes to be adopted by the next instance.
        leave_sandboxes: bool,
    },
}

/// How an execute ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecuteOutcome {
    /// It ran to its end, whatever its exit code.
    #[default]
    Completed,
    /// It was stopped at its time limit.
    TimedOut,
    /// The sandbox is gone for certain.
    SandboxGone,
    /// No answer, or one that does not tell: the sandbox is probed before the execute is answered.
    Unreachable,
}

/// What an execute used, as far as the provider tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// Exit code.
    pub exit_code: Option<i32>,
    /// Highest memory, MB.
    pub peak_memory_mb: Option<u32>,
    /// Whether it was killed for memory.
    pub killed_for_memory: bool,
}
