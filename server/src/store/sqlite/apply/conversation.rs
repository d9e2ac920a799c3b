//! Conversations, and why a write to one was not done.

use super::super::counters::Counters;
use super::super::failure::failed;
use super::{account, change, holds};
use crate::store::{NewConversation, StoreError};
use rusqlite::{Connection, OptionalExtension, params};

pub(super) fn open(
    connection: &Connection,
    counters: &mut Counters,
    new: &NewConversation,
) -> Result<(), StoreError> {
    if new.number <= counters.last_conversation {
        return Err(StoreError::OutOfOrder {
            what: "conversation",
            expected: counters.last_conversation + 1,
            got: new.number,
        });
    }
    if !account::exists(connection, new.account)? {
        return Err(StoreError::NotFound);
    }
    let sql = "INSERT INTO conversations (number, key, account, opened_ms)
               VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
    let row = params![new.number, new.key.as_str(), new.account, new.opened_ms];
    if change(connection, sql, row)? == 0 {
        return Err(StoreError::Exists { what: "this conversation" });
    }
    counters.last_conversation = new.number;
    Ok(())
}

pub(super) fn set_state(
    connection: &Connection,
    conversation: u64,
    state: &str,
) -> Result<(), StoreError> {
    let sql = "UPDATE conversations SET state = ?2 WHERE number = ?1 AND closed_ms IS NULL";
    match change(connection, sql, params![conversation, state])? {
        0 => Err(why_not(connection, conversation)?),
        _ => Ok(()),
    }
}

pub(super) fn close(
    connection: &Connection,
    conversation: u64,
    at_ms: i64,
) -> Result<(), StoreError> {
    let open_turn = "SELECT 1 FROM turns WHERE conversation = ?1 AND ended_ms IS NULL";
    if holds(connection, open_turn, params![conversation])? {
        return Err(StoreError::Conflict { what: "the conversation has an open turn" });
    }
    let sql = "UPDATE conversations SET closed_ms = ?2 WHERE number = ?1 AND closed_ms IS NULL";
    match change(connection, sql, params![conversation, at_ms])? {
        0 => Err(why_not(connection, conversation)?),
        _ => Ok(()),
    }
}

/// Why a write to an open conversation found none.
pub(super) fn why_not(
    connection: &Connection,
    conversation: u64,
) -> Result<StoreError, StoreError> {
    let there = "SELECT 1 FROM conversations WHERE number = ?1";
    Ok(if holds(connection, there, params![conversation])? {
        StoreError::Conflict { what: "the conversation is closed" }
    } else {
        StoreError::NotFound
    })
}

/// Why a counter of an open conversation did not move on to `got`. `column` names the counter.
pub(super) fn why_not_counted(
    connection: &Connection,
    conversation: u64,
    column: &str,
    what: &'static str,
    got: u64,
) -> Result<StoreError, StoreError> {
    let sql = format!("SELECT {column} FROM conversations WHERE number = ?1 AND closed_ms IS NULL");
    let last = connection
        .prepare_cached(&sql)
        .and_then(|mut found| {
            found.query_row([conversation], |row| row.get::<_, u64>(0)).optional()
        })
        .map_err(failed)?;
    match last {
        Some(last) => Ok(StoreError::OutOfOrder { what, expected: last + 1, got }),
        None => why_not(connection, conversation),
    }
}
