//! Turns and executes.

use super::one;
use super::ownership::owned;
use crate::store::{ConversationKey, ExecuteRecord, StoreError, TurnRecord};
use rusqlite::{Connection, params};

pub(in super::super) fn turn(
    connection: &Connection,
    account: u32,
    key: &ConversationKey,
    turn: u64,
) -> Result<TurnRecord, StoreError> {
    let conversation = owned(connection, account, key)?;
    let sql = "SELECT turn, class, began_ms, ended_ms, reason FROM turns
               WHERE conversation = ?1 AND turn = ?2";
    one(connection, sql, params![conversation, turn.min(i64::MAX as u64)], |row| {
        let ended: Option<i64> = row.get(3)?;
        Ok(TurnRecord {
            turn: row.get(0)?,
            class: row.get(1)?,
            began_ms: row.get(2)?,
            ended: ended.map(|at_ms| Ok::<_, rusqlite::Error>((at_ms, row.get(4)?))).transpose()?,
        })
    })?
    .ok_or(StoreError::NotFound)
}

pub(in super::super) fn execute(
    connection: &Connection,
    account: u32,
    key: &ConversationKey,
    execute: u64,
) -> Result<ExecuteRecord, StoreError> {
    let conversation = owned(connection, account, key)?;
    let sql = "SELECT execute, turn, started_ms, finished_ms, outcome, result FROM executes
               WHERE conversation = ?1 AND execute = ?2";
    one(connection, sql, params![conversation, execute.min(i64::MAX as u64)], |row| {
        let finished: Option<i64> = row.get(3)?;
        Ok(ExecuteRecord {
            execute: row.get(0)?,
            turn: row.get(1)?,
            started_ms: row.get(2)?,
            finished: finished
                .map(|at_ms| Ok::<_, rusqlite::Error>((at_ms, row.get(4)?, row.get(5)?)))
                .transpose()?,
        })
    })?
    .ok_or(StoreError::NotFound)
}
