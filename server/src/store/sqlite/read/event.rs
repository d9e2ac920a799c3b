//! Events, for whoever reads along or comes back to where it was.

use super::all;
use super::ownership::owned;
use crate::store::types::page_limit;
use crate::store::{ConversationKey, EventRecord, StoreError};
use rusqlite::{Connection, Row, params};

pub(in super::super) fn conversation_events(
    connection: &Connection,
    account: u32,
    key: &ConversationKey,
    after: u64,
    limit: u32,
) -> Result<Vec<EventRecord>, StoreError> {
    let conversation = owned(connection, account, key)?;
    let sql = "SELECT sequence, account, conversation, conversation_sequence, kind, at_ms, body
               FROM events WHERE conversation = ?1 AND conversation_sequence > ?2
               ORDER BY conversation_sequence LIMIT ?3";
    let after = after.min(i64::MAX as u64);
    all(connection, sql, params![conversation, after, page_limit(limit)], whole)
}

pub(in super::super) fn account_events(
    connection: &Connection,
    account: u32,
    after: u64,
    limit: u32,
) -> Result<Vec<EventRecord>, StoreError> {
    let sql = "SELECT sequence, account, conversation, conversation_sequence, kind, at_ms, body
               FROM events WHERE account = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3";
    let after = after.min(i64::MAX as u64);
    all(connection, sql, params![account, after, page_limit(limit)], whole)
}

fn whole(row: &Row<'_>) -> rusqlite::Result<EventRecord> {
    let conversation: Option<u64> = row.get(2)?;
    let sequence: Option<u64> = row.get(3)?;
    Ok(EventRecord {
        sequence: row.get(0)?,
        account: row.get(1)?,
        conversation: conversation.zip(sequence),
        kind: row.get(4)?,
        at_ms: row.get(5)?,
        body: row.get(6)?,
    })
}
