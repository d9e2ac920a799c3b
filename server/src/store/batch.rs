//! What can be written, and what is written together.

use super::types::{
    Account, EventRecord, Intent, JournalLine, Message, NewApiKey, NewConversation, NewIdempotent,
    SandboxRef,
};
use sandpool_core::{Reason, SandboxName};

/// Writes that are kept together or not at all, done in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The writes.
    pub writes: Vec<Write>,
}

impl Batch {
    /// A batch of these writes.
    #[must_use]
    pub fn new(writes: Vec<Write>) -> Self {
        Self { writes }
    }
}

/// One thing to keep. Conversations are named by the scheduler's number: whoever writes has read,
/// and with that shown whose they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// An instance begins. `epoch` is one more than the last; it is never used again.
    BeginEpoch {
        /// The instance's epoch.
        epoch: u32,
    },
    /// Keeps a setting under a name, in place of what was there.
    SetSetting {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    },
    /// Adds an account. Its number and its name must be new.
    AddAccount(Account),
    /// Adds an API key.
    AddKey(NewApiKey),
    /// From now on the account's key opens nothing. `NotFound` if it is not the account's.
    RevokeKey {
        /// Whose key.
        account: u32,
        /// Its id.
        id: String,
        /// When.
        at_ms: i64,
    },
    /// Opens a conversation.
    OpenConversation(NewConversation),
    /// Keeps a conversation's analysis state in place of what was there.
    SetConversationState {
        /// Which.
        conversation: u64,
        /// JSON.
        state: String,
    },
    /// Keeps how a conversation lost its files, until it was told (`None`).
    SetFilesLost {
        /// Whose.
        conversation: u64,
        /// How.
        reason: Option<Reason>,
    },
    /// Closes a conversation without an open turn.
    CloseConversation {
        /// Which.
        conversation: u64,
        /// When.
        at_ms: i64,
    },
    /// Adds a message to an open conversation.
    AppendMessage {
        /// To which.
        conversation: u64,
        /// What.
        message: Message,
    },
    /// Begins a turn in an open conversation that has none.
    BeginTurn {
        /// In which conversation.
        conversation: u64,
        /// Its number, larger than any before it.
        turn: u64,
        /// The class of sandbox that it uses, by name.
        class: String,
        /// When.
        at_ms: i64,
    },
    /// Ends the open turn.
    EndTurn {
        /// In which conversation.
        conversation: u64,
        /// Which turn.
        turn: u64,
        /// Why.
        reason: String,
        /// When.
        at_ms: i64,
    },
    /// A command is about to run in an open turn.
    StartExecute {
        /// In which conversation.
        conversation: u64,
        /// In which turn.
        turn: u64,
        /// Its number, larger than any before it.
        execute: u64,
        /// When.
        at_ms: i64,
    },
    /// A command ended, or was given up.
    FinishExecute {
        /// In which conversation.
        conversation: u64,
        /// Which execute.
        execute: u64,
        /// How.
        outcome: String,
        /// What it answered, JSON.
        result: String,
        /// When.
        at_ms: i64,
    },
    /// Adds an event.
    AppendEvent(EventRecord),
    /// Adds a line to the journal of inputs.
    AppendJournal(JournalLine),
    /// Removes journal lines that are no longer needed, from the first through this sequence.
    /// Sequences are not used again. In steps of some thousands nobody waits long behind it.
    TrimJournal {
        /// The last line to go.
        through: u64,
    },
    /// Keeps a sandbox reference in place of the one of that name. A deleted one is removed instead.
    PutSandbox(SandboxRef),
    /// The sandbox is confirmed gone; nothing changes if it is not kept.
    RemoveSandbox {
        /// Which.
        name: SandboxName,
    },
    /// Something is about to be asked of the provider.
    AddIntent(Intent),
    /// What was asked has its answer; nothing changes if it is not kept.
    ResolveIntent {
        /// The instance that asked.
        epoch: u32,
        /// The operation's sequence within the instance.
        operation: u64,
    },
    /// A request begins under an idempotency key that is new, or has expired by its beginning.
    BeginIdempotent(NewIdempotent),
    /// A request under an idempotency key has its answer.
    FinishIdempotent {
        /// Whose.
        account: u32,
        /// The caller's key.
        key: String,
        /// The HTTP status.
        status: u16,
        /// The body.
        body: Vec<u8>,
    },
    /// Frees an idempotency key, so that the request may be tried anew; nothing changes if it is
    /// not kept.
    ForgetIdempotent {
        /// Whose.
        account: u32,
        /// The caller's key.
        key: String,
    },
    /// Removes what expired at this time or before.
    ExpireIdempotent {
        /// By when.
        by_ms: i64,
    },
}
