//! Stores and batches for the tests.

use sandpool_server::{
    Account, Batch, ConversationKey, EventRecord, JournalLine, Message, MessageKind,
    NewConversation, SqliteOptions, SqliteStore, Write,
};
use std::path::PathBuf;
use tempfile::TempDir;

/// A store in a folder of its own.
pub(super) struct Fixture {
    pub(super) store: SqliteStore,
    pub(super) folder: TempDir,
}

impl Fixture {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder);
        Self { store, folder }
    }

    /// Closes the store and opens it again.
    pub(super) fn reopen(self) -> Self {
        let Self { store, folder } = self;
        drop(store);
        let store = open(&folder);
        Self { store, folder }
    }
}

pub(super) fn file(folder: &TempDir) -> PathBuf {
    folder.path().join("store.sqlite")
}

pub(super) fn open(folder: &TempDir) -> SqliteStore {
    SqliteStore::open(&file(folder), SqliteOptions::default()).unwrap()
}

pub(super) fn batch(writes: impl IntoIterator<Item = Write>) -> Batch {
    Batch::new(writes.into_iter().collect())
}

pub(super) fn key(number: u64) -> ConversationKey {
    ConversationKey::from_bytes(u128::from(number).to_be_bytes())
}

pub(super) fn add_account(number: u32) -> Write {
    Write::AddAccount(Account { number, name: format!("account {number}"), added_ms: 1 })
}

pub(super) fn open_conversation(number: u64, account: u32) -> Write {
    Write::OpenConversation(NewConversation { number, key: key(number), account, opened_ms: 2 })
}

pub(super) fn message(sequence: u64) -> Message {
    Message {
        sequence,
        turn: 0,
        kind: MessageKind::User,
        call: None,
        at_ms: 3,
        text: format!("message {sequence}"),
    }
}

pub(super) fn append(conversation: u64, sequence: u64) -> Write {
    Write::AppendMessage { conversation, message: message(sequence) }
}

pub(super) fn event(sequence: u64, account: u32, conversation: (u64, u64)) -> EventRecord {
    EventRecord {
        sequence,
        account: Some(account),
        conversation: Some(conversation),
        kind: "turn_began".to_owned(),
        at_ms: 4,
        body: format!("{{\"sequence\":{sequence}}}"),
    }
}

pub(super) fn line(sequence: u64) -> JournalLine {
    JournalLine {
        sequence,
        epoch: 1,
        at_ns: sequence * 10,
        kind: "begin_turn".to_owned(),
        body: sequence.to_be_bytes().to_vec(),
    }
}
