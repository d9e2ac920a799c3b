//! Idempotency records and settings: what is kept under a name.

use super::one;
use crate::store::{IdempotencyRecord, IdempotencyStatus, StoreError};
use rusqlite::{Connection, params};

pub(in super::super) fn idempotency(
    connection: &Connection,
    account: u32,
    key: &str,
    now_ms: i64,
) -> Result<Option<IdempotencyRecord>, StoreError> {
    let sql = "SELECT request_hash, expires_ms, status, body FROM idempotency
               WHERE account = ?1 AND key = ?2 AND expires_ms > ?3";
    one(connection, sql, params![account, key, now_ms], |row| {
        let status = match row.get(2)? {
            Some(status) => IdempotencyStatus::Finished { status, body: row.get(3)? },
            None => IdempotencyStatus::InProgress,
        };
        Ok(IdempotencyRecord { request_hash: row.get(0)?, expires_ms: row.get(1)?, status })
    })
}

pub(in super::super) fn setting(
    connection: &Connection,
    name: &str,
) -> Result<Option<String>, StoreError> {
    let sql = "SELECT value FROM settings WHERE name = ?1";
    one(connection, sql, params![name], |row| row.get(0))
}
