//! Conversations and their messages.

use super::owned::Owned;
use super::{cursor, row, rows, unknown};
use crate::store::StoreError;
use crate::store::types::{
    Conversation, ConversationKey, ConversationPage, Message, MessageKind, MessageRange, Order,
    page_limit,
};
use rusqlite::{Connection, Row, params};

const COLUMNS: &str = "number, key, account, opened_ms, closed_ms, last_message, last_event, \
                       last_turn, last_execute, state";

pub(in crate::store::sqlite) fn conversation(
    connection: &Connection,
    owned: &Owned,
) -> Result<Conversation, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM conversations WHERE number = ?1");
    row(connection, &sql, [owned.number()], read)?.ok_or(StoreError::NotFound)
}

pub(in crate::store::sqlite) fn conversations(
    connection: &Connection,
    account: u32,
    after: Option<&Owned>,
    limit: u32,
) -> Result<ConversationPage, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM conversations WHERE account = ?1 AND number < ?2 \
         ORDER BY number DESC LIMIT ?3"
    );
    let limit = page_limit(limit);
    let before = after.map_or(i64::MAX, |owned| cursor(owned.number()));
    // One more than asked for tells whether there is another page.
    let mut conversations = rows(connection, &sql, params![account, before, limit + 1], read)?;
    let next = if conversations.len() > limit as usize {
        conversations.truncate(limit as usize);
        conversations.last().map(|last| last.key.clone())
    } else {
        None
    };
    Ok(ConversationPage { conversations, next })
}

pub(in crate::store::sqlite) fn messages(
    connection: &Connection,
    owned: &Owned,
    range: MessageRange,
) -> Result<Vec<Message>, StoreError> {
    let (sql, from) = match range.order {
        Order::OldestFirst => (
            "SELECT sequence, turn, kind, call, at_ms, text FROM messages \
             WHERE conversation = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3",
            cursor(range.after.unwrap_or(0)),
        ),
        Order::NewestFirst => (
            "SELECT sequence, turn, kind, call, at_ms, text FROM messages \
             WHERE conversation = ?1 AND sequence < ?2 ORDER BY sequence DESC LIMIT ?3",
            cursor(range.after.unwrap_or(u64::MAX)),
        ),
    };
    rows(connection, sql, params![owned.number(), from, page_limit(range.limit)], read_message)
}

pub(in crate::store::sqlite) fn notices(
    connection: &Connection,
    owned: &Owned,
    limit: u32,
) -> Result<Vec<Message>, StoreError> {
    // The word is written out, so that SQLite sees that the index of the notices will do.
    let sql = "SELECT sequence, turn, kind, call, at_ms, text FROM messages \
               WHERE conversation = ?1 AND kind = 'notice' ORDER BY sequence DESC LIMIT ?2";
    rows(connection, sql, params![owned.number(), page_limit(limit)], read_message)
}

fn read_message(row: &Row<'_>) -> rusqlite::Result<Message> {
    let kind: String = row.get(2)?;
    Ok(Message {
        sequence: row.get(0)?,
        turn: row.get(1)?,
        kind: MessageKind::from_name(&kind).ok_or_else(|| unknown(2, &kind))?,
        call: row.get(3)?,
        at_ms: row.get(4)?,
        text: row.get(5)?,
    })
}

fn read(row: &Row<'_>) -> rusqlite::Result<Conversation> {
    Ok(Conversation {
        number: row.get(0)?,
        key: key(row, 1)?,
        account: row.get(2)?,
        opened_ms: row.get(3)?,
        closed_ms: row.get(4)?,
        last_message: row.get(5)?,
        last_event: row.get(6)?,
        last_turn: row.get(7)?,
        last_execute: row.get(8)?,
        state: row.get(9)?,
    })
}

pub(super) fn key(row: &Row<'_>, column: usize) -> rusqlite::Result<ConversationKey> {
    let text: String = row.get(column)?;
    ConversationKey::parse(&text).ok_or_else(|| unknown(column, &text))
}
