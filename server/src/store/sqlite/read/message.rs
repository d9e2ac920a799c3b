//! Messages.

use super::ownership::owned;
use super::{all, word};
use crate::store::types::page_limit;
use crate::store::{ConversationKey, Message, MessageKind, MessageRange, Order, StoreError};
use rusqlite::{Connection, Row, params};

pub(in super::super) fn messages(
    connection: &Connection,
    account: u32,
    key: &ConversationKey,
    range: MessageRange,
) -> Result<Vec<Message>, StoreError> {
    let conversation = owned(connection, account, key)?;
    let (sql, from) = match range.order {
        Order::OldestFirst => (
            "SELECT sequence, turn, kind, call, at_ms, text FROM messages
             WHERE conversation = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3",
            0,
        ),
        Order::NewestFirst => (
            "SELECT sequence, turn, kind, call, at_ms, text FROM messages
             WHERE conversation = ?1 AND sequence < ?2 ORDER BY sequence DESC LIMIT ?3",
            i64::MAX as u64,
        ),
    };
    // A cursor from outside may be any number; none is larger than a sequence can be.
    let after = range.after.unwrap_or(from).min(i64::MAX as u64);
    all(connection, sql, params![conversation, after, page_limit(range.limit)], whole)
}

fn whole(row: &Row<'_>) -> rusqlite::Result<Message> {
    Ok(Message {
        sequence: row.get(0)?,
        turn: row.get(1)?,
        kind: word(row, 2, MessageKind::from_name)?,
        call: row.get(3)?,
        at_ms: row.get(4)?,
        text: row.get(5)?,
    })
}
