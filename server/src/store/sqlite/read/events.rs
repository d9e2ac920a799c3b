//! Events and the journal of inputs.

use super::owned::Owned;
use super::{cursor, rows};
use crate::store::StoreError;
use crate::store::types::{EventRecord, JournalLine, page_limit};
use rusqlite::{Connection, Row, params};

pub(in crate::store::sqlite) fn conversation_events(
    connection: &Connection,
    owned: &Owned,
    after: u64,
    limit: u32,
) -> Result<Vec<EventRecord>, StoreError> {
    rows(
        connection,
        "SELECT sequence, account, conversation, conversation_sequence, kind, at_ms, body \
         FROM events WHERE conversation = ?1 AND conversation_sequence > ?2 \
         ORDER BY conversation_sequence LIMIT ?3",
        params![owned.number(), cursor(after), page_limit(limit)],
        read,
    )
}

/// Only the account's own: what concerns the pool as a whole belongs to no account.
pub(in crate::store::sqlite) fn account_events(
    connection: &Connection,
    account: u32,
    after: u64,
    limit: u32,
) -> Result<Vec<EventRecord>, StoreError> {
    rows(
        connection,
        "SELECT sequence, account, conversation, conversation_sequence, kind, at_ms, body \
         FROM events WHERE account = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3",
        params![account, cursor(after), page_limit(limit)],
        read,
    )
}

pub(in crate::store::sqlite) fn journal(
    connection: &Connection,
    after: u64,
    limit: u32,
) -> Result<Vec<JournalLine>, StoreError> {
    rows(
        connection,
        "SELECT sequence, epoch, at_ns, kind, body FROM journal WHERE sequence > ?1 \
         ORDER BY sequence LIMIT ?2",
        params![cursor(after), page_limit(limit)],
        |row| {
            Ok(JournalLine {
                sequence: row.get(0)?,
                epoch: row.get(1)?,
                at_ns: row.get(2)?,
                kind: row.get(3)?,
                body: row.get(4)?,
            })
        },
    )
}

pub(in crate::store::sqlite) fn journal_bounds(
    connection: &Connection,
) -> Result<Option<(u64, u64)>, StoreError> {
    // Each of the two is one look into the index; together they would be a scan.
    let bounds = super::row(
        connection,
        "SELECT (SELECT min(sequence) FROM journal), (SELECT max(sequence) FROM journal)",
        [],
        |row| Ok((row.get::<_, Option<u64>>(0)?, row.get::<_, Option<u64>>(1)?)),
    )?;
    Ok(bounds.and_then(|(first, last)| first.zip(last)))
}

fn read(row: &Row<'_>) -> rusqlite::Result<EventRecord> {
    let (conversation, sequence): (Option<u64>, Option<u64>) = (row.get(2)?, row.get(3)?);
    Ok(EventRecord {
        sequence: row.get(0)?,
        account: row.get(1)?,
        conversation: conversation.zip(sequence),
        kind: row.get(4)?,
        at_ms: row.get(5)?,
        body: row.get(6)?,
    })
}
