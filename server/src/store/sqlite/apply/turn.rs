//! Turns: one open turn a conversation.

use super::conversation::why_not_counted;
use super::{change, holds};
use crate::store::StoreError;
use rusqlite::{Connection, params};

pub(super) fn begin(
    connection: &Connection,
    conversation: u64,
    turn: u64,
    class: &str,
    at_ms: i64,
) -> Result<(), StoreError> {
    let count = "UPDATE conversations SET last_turn = ?2
                 WHERE number = ?1 AND last_turn < ?2 AND closed_ms IS NULL";
    if change(connection, count, params![conversation, turn])? == 0 {
        return Err(why_not_counted(connection, conversation, "last_turn", "turn", turn)?);
    }
    // The index `one_open_turn` refuses a second one.
    let sql = "INSERT INTO turns (conversation, turn, class, began_ms) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT DO NOTHING";
    match change(connection, sql, params![conversation, turn, class, at_ms])? {
        0 => Err(StoreError::Conflict { what: "the conversation has an open turn" }),
        _ => Ok(()),
    }
}

pub(super) fn end(
    connection: &Connection,
    conversation: u64,
    turn: u64,
    reason: &str,
    at_ms: i64,
) -> Result<(), StoreError> {
    let sql = "UPDATE turns SET ended_ms = ?3, reason = ?4
               WHERE conversation = ?1 AND turn = ?2 AND ended_ms IS NULL";
    match change(connection, sql, params![conversation, turn, at_ms, reason])? {
        0 => Err(why_not_open(connection, conversation, turn)?),
        _ => Ok(()),
    }
}

/// Why there is no such open turn.
pub(super) fn why_not_open(
    connection: &Connection,
    conversation: u64,
    turn: u64,
) -> Result<StoreError, StoreError> {
    let there = "SELECT 1 FROM turns WHERE conversation = ?1 AND turn = ?2";
    Ok(if holds(connection, there, params![conversation, turn])? {
        StoreError::Conflict { what: "the turn has ended" }
    } else {
        StoreError::NotFound
    })
}
