//! Turns and executes.

use super::owned::Owned;
use super::{cursor, row};
use crate::store::StoreError;
use crate::store::types::{ExecuteRecord, TurnRecord};
use rusqlite::{Connection, params};

pub(in crate::store::sqlite) fn turn(
    connection: &Connection,
    owned: &Owned,
    turn: u64,
) -> Result<TurnRecord, StoreError> {
    let sql = "SELECT turn, class, began_ms, ended_ms, reason FROM turns \
               WHERE conversation = ?1 AND turn = ?2";
    let found = row(connection, sql, params![owned.number(), cursor(turn)], |row| {
        let (ended, reason): (Option<i64>, Option<String>) = (row.get(3)?, row.get(4)?);
        Ok(TurnRecord {
            turn: row.get(0)?,
            class: row.get(1)?,
            began_ms: row.get(2)?,
            ended: ended.zip(reason),
        })
    })?;
    found.ok_or(StoreError::NotFound)
}

pub(in crate::store::sqlite) fn execute(
    connection: &Connection,
    owned: &Owned,
    execute: u64,
) -> Result<ExecuteRecord, StoreError> {
    let sql = "SELECT execute, turn, started_ms, finished_ms, outcome, result FROM executes \
               WHERE conversation = ?1 AND execute = ?2";
    let found = row(connection, sql, params![owned.number(), cursor(execute)], |row| {
        let finished: Option<i64> = row.get(3)?;
        Ok(ExecuteRecord {
            execute: row.get(0)?,
            turn: row.get(1)?,
            started_ms: row.get(2)?,
            finished: match finished {
                Some(at_ms) => Some((at_ms, row.get(4)?, row.get(5)?)),
                None => None,
            },
        })
    })?;
    found.ok_or(StoreError::NotFound)
}
