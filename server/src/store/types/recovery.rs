//! All that a server needs to go on after a restart, read in one call.

use super::{Account, ConversationKey, Intent, SandboxRef};
use sandpool_core::Reason;

/// A conversation that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenConversation {
    /// The scheduler's number in the instance that opened it.
    pub number: u64,
    /// Its name on the wire.
    pub key: ConversationKey,
    /// Whose it is.
    pub account: u32,
    /// The last message's sequence; 0 before the first.
    pub last_message: u64,
    /// The last event's sequence within the conversation; 0 before the first.
    pub last_event: u64,
    /// The last turn's number; 0 before the first.
    pub last_turn: u64,
    /// The last execute's number; 0 before the first.
    pub last_execute: u64,
    /// How it lost the files of its last sandbox, if it was not told yet.
    pub files_lost: Option<Reason>,
}

/// A turn that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenTurn {
    /// The conversation's number.
    pub conversation: u64,
    /// The turn's number.
    pub turn: u64,
    /// The class of sandbox that it uses, by name.
    pub class: String,
    /// When it began.
    pub began_ms: i64,
}

/// An execute whose end is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenExecute {
    /// The conversation's number.
    pub conversation: u64,
    /// Its number.
    pub execute: u64,
    /// In which turn.
    pub turn: u64,
    /// When it was started.
    pub started_ms: i64,
}

/// A request under an idempotency key that was begun and has no answer. Whether it was carried out
/// has to be told from what else is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenRequest {
    /// Whose.
    pub account: u32,
    /// The caller's key.
    pub key: String,
}

/// What is kept of the instance before this one. All lists are in the order of their numbers or
/// names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// The last instance's epoch; 0 before the first. The next one takes one more, by
    /// [`crate::store::Write::BeginEpoch`].
    pub epoch: u32,
    /// The largest conversation number ever used; 0 before the first.
    pub last_conversation: u64,
    /// The last event's sequence; 0 before the first.
    pub last_event: u64,
    /// The last journal line's sequence; 0 before the first.
    pub last_journal: u64,
    /// Every account.
    pub accounts: Vec<Account>,
    /// Open conversations.
    pub conversations: Vec<OpenConversation>,
    /// Turns that have not ended.
    pub turns: Vec<OpenTurn>,
    /// Executes whose end is not known.
    pub executes: Vec<OpenExecute>,
    /// Sandboxes that may exist.
    pub sandboxes: Vec<SandboxRef>,
    /// What was about to be asked of the provider, and has no recorded answer.
    pub intents: Vec<Intent>,
    /// Requests under an idempotency key that have no answer.
    pub requests: Vec<OpenRequest>,
}
