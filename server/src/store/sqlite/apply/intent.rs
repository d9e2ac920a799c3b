//! Intents: kept before the provider is asked, removed when its answer is kept.

use super::change;
use crate::store::{Intent, StoreError};
use rusqlite::{Connection, params};

pub(super) fn add(connection: &Connection, intent: &Intent) -> Result<(), StoreError> {
    let sql = "INSERT INTO intents
                   (epoch, operation, verb, sandbox_epoch, sandbox_sequence, at_ms)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING";
    let row = params![
        intent.epoch,
        intent.operation,
        intent.verb.name(),
        intent.sandbox.epoch,
        intent.sandbox.sequence,
        intent.at_ms
    ];
    match change(connection, sql, row)? {
        0 => Err(StoreError::Exists { what: "an intent of this operation" }),
        _ => Ok(()),
    }
}

pub(super) fn resolve(
    connection: &Connection,
    epoch: u32,
    operation: u64,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM intents WHERE epoch = ?1 AND operation = ?2";
    change(connection, sql, params![epoch, operation]).map(|_| ())
}
