//! Turns and executes.

use super::Writing;
use super::conversations::missing_or_closed;
use crate::store::StoreError;
use rusqlite::params;

pub(super) fn begin(
    c: &Writing<'_>,
    conversation: u64,
    turn: u64,
    class: &str,
    at_ms: i64,
) -> Result<(), StoreError> {
    advance(
        c,
        conversation,
        "UPDATE conversations SET last_turn = ?2 \
         WHERE number = ?1 AND last_turn < ?2 AND closed_ms IS NULL",
        "SELECT last_turn FROM conversations WHERE number = ?1",
        "turn",
        turn,
    )?;
    c.run_unless(
        StoreError::Conflict { what: "the conversation has an open turn" },
        "INSERT INTO turns (conversation, turn, class, began_ms) VALUES (?1, ?2, ?3, ?4)",
        params![conversation, turn, class, at_ms],
    )?;
    Ok(())
}

pub(super) fn end(
    c: &Writing<'_>,
    conversation: u64,
    turn: u64,
    reason: &str,
    at_ms: i64,
) -> Result<(), StoreError> {
    c.one(
        "UPDATE turns SET ended_ms = ?3, reason = ?4 \
         WHERE conversation = ?1 AND turn = ?2 AND ended_ms IS NULL",
        params![conversation, turn, at_ms, reason],
        || Ok(StoreError::Conflict { what: "the turn is not open" }),
    )
}

pub(super) fn start_execute(
    c: &Writing<'_>,
    conversation: u64,
    turn: u64,
    execute: u64,
    at_ms: i64,
) -> Result<(), StoreError> {
    let open = "SELECT 1 FROM turns WHERE conversation = ?1 AND turn = ?2 AND ended_ms IS NULL";
    if c.number(open, [conversation, turn])?.is_none() {
        return Err(StoreError::Conflict { what: "the turn is not open" });
    }
    advance(
        c,
        conversation,
        "UPDATE conversations SET last_execute = ?2 \
         WHERE number = ?1 AND last_execute < ?2 AND closed_ms IS NULL",
        "SELECT last_execute FROM conversations WHERE number = ?1",
        "execute",
        execute,
    )?;
    c.run_unless(
        StoreError::Exists { what: "the execute" },
        "INSERT INTO executes (conversation, execute, turn, started_ms) VALUES (?1, ?2, ?3, ?4)",
        params![conversation, execute, turn, at_ms],
    )?;
    Ok(())
}

pub(super) fn finish_execute(
    c: &Writing<'_>,
    conversation: u64,
    execute: u64,
    outcome: &str,
    result: &str,
    at_ms: i64,
) -> Result<(), StoreError> {
    c.one(
        "UPDATE executes SET finished_ms = ?3, outcome = ?4, result = ?5 \
         WHERE conversation = ?1 AND execute = ?2 AND finished_ms IS NULL",
        params![conversation, execute, at_ms, outcome, result],
        || Ok(StoreError::Conflict { what: "the execute is not under way" }),
    )
}

/// Raises one of an open conversation's counters, which may skip numbers but never fall.
fn advance(
    c: &Writing<'_>,
    conversation: u64,
    raise: &str,
    current: &str,
    what: &'static str,
    got: u64,
) -> Result<(), StoreError> {
    c.one(raise, params![conversation, got], || {
        if let Some(error) = missing_or_closed(c, conversation)? {
            return Ok(error);
        }
        let expected = 1 + c.number(current, [conversation])?.unwrap_or(0);
        Ok(StoreError::OutOfOrder { what, expected, got })
    })
}
