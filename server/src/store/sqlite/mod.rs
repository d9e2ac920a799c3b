//! The embedded store: one SQLite file, one writer, a few readers.

mod apply;
mod counters;
mod failure;
mod lock;
mod migrate;
mod open;
mod read;
mod readers;
mod writer;

use super::types::{
    Account, ApiKeyRecord, Conversation, ConversationKey, ConversationPage, EventRecord,
    ExecuteRecord, IdempotencyRecord, JournalLine, Message, MessageRange, Recovery, TurnRecord,
};
use super::{Batch, Committing, Store, StoreError};
use crate::keys::KeyHash;
use async_trait::async_trait;
use readers::Readers;
use std::path::Path;
use std::sync::Arc;
use writer::Writer;

/// How the file is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqliteOptions {
    /// Reads at the same time, 1 to 64.
    pub readers: usize,
    /// Batches that may wait for the disk; more are answered [`StoreError::Overloaded`]. 1 or more.
    pub queue: usize,
    /// The largest that the database may grow, bytes, without its log; none for no limit but the
    /// disk.
    pub max_file_bytes: Option<u64>,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { readers: 4, queue: 65_536, max_file_bytes: None }
    }
}

/// A store in one SQLite file. Nobody else can open the file while this lives.
#[derive(Debug)]
pub struct SqliteStore {
    // The writer ends first, so that the lock outlives what it wrote.
    writer: Writer,
    readers: Arc<Readers>,
}

impl SqliteStore {
    /// Opens the file, makes it if it is not there, and brings an older format to this one's.
    /// Blocks on the disk.
    ///
    /// # Errors
    /// [`StoreError::InUse`], [`StoreError::NotAStore`], [`StoreError::TooNew`],
    /// [`StoreError::ReadOnly`], [`StoreError::DiskFull`] or [`StoreError::Open`]; the file is left
    /// as it was.
    pub fn open(path: &Path, options: SqliteOptions) -> Result<Self, StoreError> {
        let path = open::resolve(path)?;
        let (lock, connection) = open::open_writer(&path, options.max_file_bytes)?;
        let lock = Arc::new(lock);
        let readers =
            Arc::new(Readers::new(path.clone(), options.readers.clamp(1, 64), Arc::clone(&lock))?);
        let writer = Writer::start(&path, connection, options.queue.max(1), lock)?;
        Ok(Self { writer, readers })
    }

    async fn read<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&rusqlite::Connection) -> Result<T, StoreError> + Send + 'static,
    {
        Arc::clone(&self.readers).run(job).await
    }
}

#[async_trait]
impl Store for SqliteStore {
    fn commit(&self, batch: Batch) -> Committing {
        self.writer.commit(batch)
    }

    async fn recovery(&self) -> Result<Recovery, StoreError> {
        self.read(read::recovery).await
    }

    async fn conversation(
        &self,
        account: u32,
        key: &ConversationKey,
    ) -> Result<Conversation, StoreError> {
        let key = key.clone();
        self.read(move |c| read::conversation(c, &read::owned(c, account, &key)?)).await
    }

    async fn conversations(
        &self,
        account: u32,
        after: Option<&ConversationKey>,
        limit: u32,
    ) -> Result<ConversationPage, StoreError> {
        let after = after.cloned();
        self.read(move |c| {
            let after = after.map(|key| read::owned(c, account, &key)).transpose()?;
            read::conversations(c, account, after.as_ref(), limit)
        })
        .await
    }

    async fn messages(
        &self,
        account: u32,
        key: &ConversationKey,
        range: MessageRange,
    ) -> Result<Vec<Message>, StoreError> {
        let key = key.clone();
        self.read(move |c| read::messages(c, &read::owned(c, account, &key)?, range)).await
    }

    async fn notices(
        &self,
        account: u32,
        key: &ConversationKey,
        limit: u32,
    ) -> Result<Vec<Message>, StoreError> {
        let key = key.clone();
        self.read(move |c| read::notices(c, &read::owned(c, account, &key)?, limit)).await
    }

    async fn conversation_events(
        &self,
        account: u32,
        key: &ConversationKey,
        after: u64,
        limit: u32,
    ) -> Result<Vec<EventRecord>, StoreError> {
        let key = key.clone();
        self.read(move |c| {
            read::conversation_events(c, &read::owned(c, account, &key)?, after, limit)
        })
        .await
    }

    async fn account_events(
        &self,
        account: u32,
        after: u64,
        limit: u32,
    ) -> Result<Vec<EventRecord>, StoreError> {
        self.read(move |c| read::account_events(c, account, after, limit)).await
    }

    async fn turn(
        &self,
        account: u32,
        key: &ConversationKey,
        turn: u64,
    ) -> Result<TurnRecord, StoreError> {
        let key = key.clone();
        self.read(move |c| read::turn(c, &read::owned(c, account, &key)?, turn)).await
    }

    async fn execute(
        &self,
        account: u32,
        key: &ConversationKey,
        execute: u64,
    ) -> Result<ExecuteRecord, StoreError> {
        let key = key.clone();
        self.read(move |c| read::execute(c, &read::owned(c, account, &key)?, execute)).await
    }

    async fn journal(&self, after: u64, limit: u32) -> Result<Vec<JournalLine>, StoreError> {
        self.read(move |c| read::journal(c, after, limit)).await
    }

    async fn key_by_hash(&self, hash: KeyHash) -> Result<Option<ApiKeyRecord>, StoreError> {
        self.read(move |c| read::key_by_hash(c, &hash)).await
    }

    async fn journal_bounds(&self) -> Result<Option<(u64, u64)>, StoreError> {
        self.read(read::journal_bounds).await
    }

    async fn accounts(&self) -> Result<Vec<Account>, StoreError> {
        self.read(read::accounts).await
    }

    async fn keys(&self, account: u32) -> Result<Vec<ApiKeyRecord>, StoreError> {
        self.read(move |c| read::keys(c, account)).await
    }

    async fn idempotency(
        &self,
        account: u32,
        key: &str,
        now_ms: i64,
    ) -> Result<Option<IdempotencyRecord>, StoreError> {
        let key = key.to_owned();
        self.read(move |c| read::idempotency(c, account, &key, now_ms)).await
    }

    async fn setting(&self, name: &str) -> Result<Option<String>, StoreError> {
        let name = name.to_owned();
        self.read(move |c| read::setting(c, &name)).await
    }
}
