//! The embedded store: one SQLite file, one thread that writes, a few connections that read.
//!
//! The writer takes every batch that waits into one transaction and so into one sync of the disk
//! (a group commit); each caller is answered once the sync of its own batch is done. The file is
//! in WAL mode with `synchronous = FULL`, so that readers never wait for the writer and an
//! answered batch outlives a power cut.

mod apply;
mod counters;
mod failure;
mod lock;
mod migrate;
mod open;
mod read;
mod readers;
mod writer;

use self::counters::Counters;
use self::readers::Readers;
use self::writer::{Job, Writer};
use super::types::{
    ApiKeyRecord, Conversation, ConversationKey, ConversationPage, EventRecord, ExecuteRecord,
    IdempotencyRecord, JournalLine, Message, MessageRange, Recovery, TurnRecord,
};
use super::{Batch, Committing, Store, StoreError};
use crate::keys::KeyHash;
use async_trait::async_trait;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

/// How the embedded store is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteOptions {
    /// The database; made if it is not there. Its folder must be. SQLite keeps `-wal` and `-shm`
    /// beside it, the store a `.lock`.
    pub path: PathBuf,
    /// How many reads may run at the same time, 1 to 64.
    pub readers: usize,
    /// How many batches may wait for the disk before [`StoreError::Overloaded`], at least 1.
    pub max_waiting_batches: usize,
    /// The most that the database itself may grow to; none for no limit but the disk's.
    pub max_file_bytes: Option<u64>,
}

impl SqliteOptions {
    /// Four readers, 16,384 waiting batches, no limit to the file.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), readers: 4, max_waiting_batches: 16_384, max_file_bytes: None }
    }
}

/// The embedded store. Dropping it first writes what waits, and only then gives up the file.
#[derive(Debug)]
pub struct SqliteStore {
    jobs: Option<SyncSender<Job>>,
    writer: Option<JoinHandle<()>>,
    readers: Readers,
}

impl SqliteStore {
    /// Opens the file, or makes it, and brings it to this program's format. Blocks.
    ///
    /// # Errors
    /// [`StoreError::InUse`] if another server has it, [`StoreError::NotAStore`],
    /// [`StoreError::TooNew`], [`StoreError::ReadOnly`], [`StoreError::DiskFull`], or
    /// [`StoreError::Open`] for what else the system says.
    pub fn open(options: &SqliteOptions) -> Result<Self, StoreError> {
        let path = open::resolve(&options.path)?;
        let (lock, connection) = open::open_writer(&path, options.max_file_bytes)?;
        let lock = Arc::new(lock);
        let counters = Counters::load(&connection)?;
        let readers = Readers::open(&path, options.readers.clamp(1, 64), &lock)?;
        let (jobs, waiting) = sync_channel(options.max_waiting_batches.max(1));
        let writer = Writer::new(connection, counters, lock);
        let writer = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || writer.run(&waiting))
            .map_err(|error| StoreError::Open { path, why: error.to_string() })?;
        Ok(Self { jobs: Some(jobs), writer: Some(writer), readers })
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(writer) = self.writer.take()
            && writer.join().is_err()
        {
            tracing::error!("the store's writer had panicked; batches that waited were not kept");
        }
    }
}

#[async_trait]
impl Store for SqliteStore {
    fn commit(&self, batch: Batch) -> Committing {
        let (answer, committing) = Committing::channel();
        let Some(jobs) = &self.jobs else { return committing };
        match jobs.try_send(Job { batch, answer }) {
            Ok(()) => {}
            Err(TrySendError::Full(job)) => job.answer.give(Err(StoreError::Overloaded)),
            Err(TrySendError::Disconnected(job)) => job.answer.give(Err(StoreError::Stopped)),
        }
        committing
    }

    async fn recovery(&self) -> Result<Recovery, StoreError> {
        self.readers.read(read::recovery).await
    }

    async fn conversation(
        &self,
        account: u32,
        key: &ConversationKey,
    ) -> Result<Conversation, StoreError> {
        let key = key.clone();
        self.readers.read(move |connection| read::conversation(connection, account, &key)).await
    }

    async fn conversations(
        &self,
        account: u32,
        after: Option<&ConversationKey>,
        limit: u32,
    ) -> Result<ConversationPage, StoreError> {
        let after = after.cloned();
        self.readers
            .read(move |connection| read::conversations(connection, account, after.as_ref(), limit))
            .await
    }

    async fn messages(
        &self,
        account: u32,
        key: &ConversationKey,
        range: MessageRange,
    ) -> Result<Vec<Message>, StoreError> {
        let key = key.clone();
        self.readers.read(move |connection| read::messages(connection, account, &key, range)).await
    }

    async fn conversation_events(
        &self,
        account: u32,
        key: &ConversationKey,
        after: u64,
        limit: u32,
    ) -> Result<Vec<EventRecord>, StoreError> {
        let key = key.clone();
        self.readers
            .read(move |connection| {
                read::conversation_events(connection, account, &key, after, limit)
            })
            .await
    }

    async fn account_events(
        &self,
        account: u32,
        after: u64,
        limit: u32,
    ) -> Result<Vec<EventRecord>, StoreError> {
        self.readers
            .read(move |connection| read::account_events(connection, account, after, limit))
            .await
    }

    async fn turn(
        &self,
        account: u32,
        key: &ConversationKey,
        turn: u64,
    ) -> Result<TurnRecord, StoreError> {
        let key = key.clone();
        self.readers.read(move |connection| read::turn(connection, account, &key, turn)).await
    }

    async fn execute(
        &self,
        account: u32,
        key: &ConversationKey,
        execute: u64,
    ) -> Result<ExecuteRecord, StoreError> {
        let key = key.clone();
        self.readers.read(move |connection| read::execute(connection, account, &key, execute)).await
    }

    async fn journal(&self, after: u64, limit: u32) -> Result<Vec<JournalLine>, StoreError> {
        self.readers.read(move |connection| read::journal(connection, after, limit)).await
    }

    async fn key_by_hash(&self, hash: KeyHash) -> Result<Option<ApiKeyRecord>, StoreError> {
        self.readers.read(move |connection| read::key_by_hash(connection, hash)).await
    }

    async fn keys(&self, account: u32) -> Result<Vec<ApiKeyRecord>, StoreError> {
        self.readers.read(move |connection| read::keys(connection, account)).await
    }

    async fn idempotency(
        &self,
        account: u32,
        key: &str,
        now_ms: i64,
    ) -> Result<Option<IdempotencyRecord>, StoreError> {
        let key = key.to_owned();
        self.readers
            .read(move |connection| read::idempotency(connection, account, &key, now_ms))
            .await
    }

    async fn setting(&self, name: &str) -> Result<Option<String>, StoreError> {
        let name = name.to_owned();
        self.readers.read(move |connection| read::setting(connection, &name)).await
    }
}
