//! Executes: kept before they run, and again when they have ended.

use super::conversation::why_not_counted;
use super::turn::why_not_open;
use super::{change, holds};
use crate::store::StoreError;
use rusqlite::{Connection, params};

pub(super) fn start(
    connection: &Connection,
    conversation: u64,
    turn: u64,
    execute: u64,
    at_ms: i64,
) -> Result<(), StoreError> {
    let open = "SELECT 1 FROM turns WHERE conversation = ?1 AND turn = ?2 AND ended_ms IS NULL";
    if !holds(connection, open, params![conversation, turn])? {
        return Err(why_not_open(connection, conversation, turn)?);
    }
    let count = "UPDATE conversations SET last_execute = ?2
                 WHERE number = ?1 AND last_execute < ?2 AND closed_ms IS NULL";
    if change(connection, count, params![conversation, execute])? == 0 {
        return Err(why_not_counted(connection, conversation, "last_execute", "execute", execute)?);
    }
    let sql = "INSERT INTO executes (conversation, execute, turn, started_ms)
               VALUES (?1, ?2, ?3, ?4)";
    change(connection, sql, params![conversation, execute, turn, at_ms]).map(|_| ())
}

pub(super) fn finish(
    connection: &Connection,
    conversation: u64,
    execute: u64,
    outcome: &str,
    result: &str,
    at_ms: i64,
) -> Result<(), StoreError> {
    let sql = "UPDATE executes SET finished_ms = ?3, outcome = ?4, result = ?5
               WHERE conversation = ?1 AND execute = ?2 AND finished_ms IS NULL";
    if change(connection, sql, params![conversation, execute, at_ms, outcome, result])? > 0 {
        return Ok(());
    }
    let there = "SELECT 1 FROM executes WHERE conversation = ?1 AND execute = ?2";
    Err(if holds(connection, there, params![conversation, execute])? {
        StoreError::Conflict { what: "the execute has ended already" }
    } else {
        StoreError::NotFound
    })
}
