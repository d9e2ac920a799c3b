//! Idempotency records.

use super::{change, holds};
use crate::store::{NewIdempotent, StoreError};
use rusqlite::{Connection, params};

pub(super) fn begin(connection: &Connection, new: &NewIdempotent) -> Result<(), StoreError> {
    let sql = "INSERT INTO idempotency (account, key, request_hash, expires_ms)
               VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT (account, key) DO UPDATE SET
                   request_hash = excluded.request_hash, expires_ms = excluded.expires_ms,
                   status = NULL, body = NULL
               WHERE expires_ms <= ?5";
    let row = params![new.account, new.key, new.request_hash, new.expires_ms, new.began_ms];
    match change(connection, sql, row)? {
        0 => Err(StoreError::Exists { what: "a request under this idempotency key" }),
        _ => Ok(()),
    }
}

pub(super) fn finish(
    connection: &Connection,
    account: u32,
    key: &str,
    status: u16,
    body: &[u8],
) -> Result<(), StoreError> {
    let sql = "UPDATE idempotency SET status = ?3, body = ?4
               WHERE account = ?1 AND key = ?2 AND status IS NULL";
    if change(connection, sql, params![account, key, status, body])? > 0 {
        return Ok(());
    }
    let there = "SELECT 1 FROM idempotency WHERE account = ?1 AND key = ?2";
    Err(if holds(connection, there, params![account, key])? {
        StoreError::Conflict { what: "the request has its answer already" }
    } else {
        StoreError::NotFound
    })
}

pub(super) fn forget(connection: &Connection, account: u32, key: &str) -> Result<(), StoreError> {
    let sql = "DELETE FROM idempotency WHERE account = ?1 AND key = ?2";
    change(connection, sql, params![account, key]).map(|_| ())
}

pub(super) fn expire(connection: &Connection, by_ms: i64) -> Result<(), StoreError> {
    change(connection, "DELETE FROM idempotency WHERE expires_ms <= ?1", params![by_ms]).map(|_| ())
}
