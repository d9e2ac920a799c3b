//! Accounts and their API keys.

use super::{change, holds};
use crate::store::{Account, NewApiKey, StoreError};
use rusqlite::{Connection, params};

pub(super) fn add(connection: &Connection, account: &Account) -> Result<(), StoreError> {
    let sql = "INSERT INTO accounts (number, name, added_ms) VALUES (?1, ?2, ?3)
               ON CONFLICT DO NOTHING";
    match change(connection, sql, params![account.number, account.name, account.added_ms])? {
        0 => Err(StoreError::Exists { what: "an account of this number or name" }),
        _ => Ok(()),
    }
}

/// Whether there is such an account.
pub(super) fn exists(connection: &Connection, account: u32) -> Result<bool, StoreError> {
    holds(connection, "SELECT 1 FROM accounts WHERE number = ?1", params![account])
}

pub(super) fn add_key(connection: &Connection, key: &NewApiKey) -> Result<(), StoreError> {
    if !exists(connection, key.account)? {
        return Err(StoreError::NotFound);
    }
    let sql = "INSERT INTO api_keys (id, account, hash, label, added_ms)
               VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
    let row = params![key.id, key.account, key.hash.as_bytes(), key.label, key.added_ms];
    match change(connection, sql, row)? {
        0 => Err(StoreError::Exists { what: "this API key" }),
        _ => Ok(()),
    }
}

/// Revoking twice keeps the first time.
pub(super) fn revoke_key(
    connection: &Connection,
    account: u32,
    id: &str,
    at_ms: i64,
) -> Result<(), StoreError> {
    let sql = "UPDATE api_keys SET revoked_ms = ifnull(revoked_ms, ?3)
               WHERE id = ?1 AND account = ?2";
    match change(connection, sql, params![id, account, at_ms])? {
        0 => Err(StoreError::NotFound),
        _ => Ok(()),
    }
}
