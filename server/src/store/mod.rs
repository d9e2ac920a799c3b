//! What must not be lost, behind one trait.
//!
//! The engine says what to keep in a [`Batch`], which is kept as a whole or not at all, and goes
//! on when the batch is safe on the disk. It owns the counters (conversation numbers, message,
//! event and journal sequences, epochs), so that it never has to read back what it wrote; the
//! store verifies that they follow on, so that a lost or doubled batch is noticed at once.
//!
//! Whoever reads a conversation says for which account, and is answered "not found" for
//! another's, exactly as for one that never was.

mod batch;
mod committing;
mod error;
mod sqlite;
mod types;

pub use batch::{Batch, Write};
pub use committing::{Committing, Receipt};
pub use error::StoreError;
pub use sqlite::{SqliteOptions, SqliteStore};
pub use types::{
    Account, ApiKeyRecord, Conversation, ConversationKey, ConversationPage, EventRecord,
    ExecuteRecord, IdempotencyRecord, IdempotencyStatus, Intent, JournalLine, KeyUnavailable,
    MAX_PAGE, Message, MessageKind, MessageRange, NewApiKey, NewConversation, NewIdempotent,
    OpenConversation, OpenExecute, OpenRequest, OpenTurn, Order, Recovery, SandboxRef, TurnRecord,
};

use crate::keys::KeyHash;
use async_trait::async_trait;

/// Keeps what must not be lost. Errors of the reads are [`StoreError::NotFound`] where that is
/// said, and the store's own failures.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Takes the batch in line, in the order of the calls, before this returns; the answer comes
    /// once the batch is synced to the disk, or is an error. Dropping the answer takes nothing
    /// back. Batches that wait together share one sync.
    ///
    /// After an error the engine's counters are ahead of the store's, so that later batches fail
    /// with [`StoreError::OutOfOrder`] rather than leave a gap.
    fn commit(&self, batch: Batch) -> Committing;

    /// All that a server needs to go on after a restart, as of one moment.
    async fn recovery(&self) -> Result<Recovery, StoreError>;

    /// One conversation. `NotFound` if it is not the account's.
    async fn conversation(
        &self,
        account: u32,
        key: &ConversationKey,
    ) -> Result<Conversation, StoreError>;

    /// The account's conversations, newest first, after the one given. `NotFound` if that one is
    /// not the account's.
    async fn conversations(
        &self,
        account: u32,
        after: Option<&ConversationKey>,
        limit: u32,
    ) -> Result<ConversationPage, StoreError>;

    /// Messages of a conversation. `NotFound` if it is not the account's.
    async fn messages(
        &self,
        account: u32,
        key: &ConversationKey,
        range: MessageRange,
    ) -> Result<Vec<Message>, StoreError>;

    /// A conversation's newest notices ([`MessageKind::Notice`]), newest first, without reading the
    /// talk between them. `NotFound` if it is not the account's.
    async fn notices(
        &self,
        account: u32,
        key: &ConversationKey,
        limit: u32,
    ) -> Result<Vec<Message>, StoreError>;

    /// A conversation's events after its sequence `after` (its own count). `NotFound` if it is
    /// not the account's.
    async fn conversation_events(
        &self,
        account: u32,
        key: &ConversationKey,
        after: u64,
        limit: u32,
    ) -> Result<Vec<EventRecord>, StoreError>;

    /// The account's events after the sequence `after` (the count of all events).
    async fn account_events(
        &self,
        account: u32,
        after: u64,
        limit: u32,
    ) -> Result<Vec<EventRecord>, StoreError>;

    /// One turn. `NotFound` if there is none or the conversation is not the account's.
    async fn turn(
        &self,
        account: u32,
        key: &ConversationKey,
        turn: u64,
    ) -> Result<TurnRecord, StoreError>;

    /// One execute. `NotFound` if there is none or the conversation is not the account's.
    async fn execute(
        &self,
        account: u32,
        key: &ConversationKey,
        execute: u64,
    ) -> Result<ExecuteRecord, StoreError>;

    /// Lines of the journal after the sequence `after`. For operators: it holds every account's.
    async fn journal(&self, after: u64, limit: u32) -> Result<Vec<JournalLine>, StoreError>;

    /// The first and the last line of the journal that is kept; none if there is none.
    async fn journal_bounds(&self) -> Result<Option<(u64, u64)>, StoreError>;

    /// The key with this hash, revoked or not.
    async fn key_by_hash(&self, hash: KeyHash) -> Result<Option<ApiKeyRecord>, StoreError>;

    /// Every account, in the order of their numbers.
    async fn accounts(&self) -> Result<Vec<Account>, StoreError>;

    /// The account's keys, in the order of their ids.
    async fn keys(&self, account: u32) -> Result<Vec<ApiKeyRecord>, StoreError>;

    /// What is kept under the account's idempotency key, unless it has expired by `now_ms`.
    async fn idempotency(
        &self,
        account: u32,
        key: &str,
        now_ms: i64,
    ) -> Result<Option<IdempotencyRecord>, StoreError>;

    /// A setting that was kept.
    async fn setting(&self, name: &str) -> Result<Option<String>, StoreError>;
}
