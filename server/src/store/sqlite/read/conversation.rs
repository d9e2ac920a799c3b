//! Conversations.

use super::ownership::owned;
use super::{all, one, word};
use crate::store::types::page_limit;
use crate::store::{Conversation, ConversationKey, ConversationPage, StoreError};
use rusqlite::{Connection, Row, params};

pub(in super::super) fn conversation(
    connection: &Connection,
    account: u32,
    key: &ConversationKey,
) -> Result<Conversation, StoreError> {
    let number = owned(connection, account, key)?;
    let sql = "SELECT number, key, account, opened_ms, closed_ms, last_message, last_event,
                      last_turn, last_execute, state
               FROM conversations WHERE number = ?1";
    one(connection, sql, params![number], whole)?.ok_or(StoreError::NotFound)
}

pub(in super::super) fn conversations(
    connection: &Connection,
    account: u32,
    after: Option<&ConversationKey>,
    limit: u32,
) -> Result<ConversationPage, StoreError> {
    let below = match after {
        Some(key) => owned(connection, account, key)?,
        None => i64::MAX as u64,
    };
    let limit = page_limit(limit);
    let sql = "SELECT number, key, account, opened_ms, closed_ms, last_message, last_event,
                      last_turn, last_execute, state
               FROM conversations WHERE account = ?1 AND number < ?2
               ORDER BY number DESC LIMIT ?3";
    // One more than asked for tells whether there is a next page.
    let mut found = all(connection, sql, params![account, below, limit + 1], whole)?;
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next = found.last().filter(|_| more).map(|last| last.key.clone());
    Ok(ConversationPage { conversations: found, next })
}

fn whole(row: &Row<'_>) -> rusqlite::Result<Conversation> {
    Ok(Conversation {
        number: row.get(0)?,
        key: word(row, 1, ConversationKey::parse)?,
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
