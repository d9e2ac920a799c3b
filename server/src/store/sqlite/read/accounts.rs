//! API keys, idempotency records and settings.

use super::{row, rows};
use crate::keys::KeyHash;
use crate::store::StoreError;
use crate::store::types::{Account, ApiKeyRecord, IdempotencyRecord, IdempotencyStatus};
use rusqlite::{Connection, Row, params};

/// The table is searched by the first eight bytes; the whole is compared in constant time, so
/// that an answer's time tells at most how those eight compare with hashes that nobody can aim at.
pub(in crate::store::sqlite) fn key_by_hash(
    connection: &Connection,
    hash: &KeyHash,
) -> Result<Option<ApiKeyRecord>, StoreError> {
    let sql = "SELECT id, account, label, added_ms, revoked_ms, hash FROM api_keys \
               WHERE substr(hash, 1, 8) = ?1";
    let candidates = rows(connection, sql, [&hash.as_bytes()[..8]], |row| {
        Ok((read_key(row)?, KeyHash::from_bytes(row.get(5)?)))
    })?;
    Ok(candidates.into_iter().find(|(_, kept)| kept.is_same(hash)).map(|(record, _)| record))
}

pub(in crate::store::sqlite) fn accounts(
    connection: &Connection,
) -> Result<Vec<Account>, StoreError> {
    rows(connection, "SELECT number, name, added_ms FROM accounts ORDER BY number", [], |row| {
        Ok(Account { number: row.get(0)?, name: row.get(1)?, added_ms: row.get(2)? })
    })
}

pub(in crate::store::sqlite) fn keys(
    connection: &Connection,
    account: u32,
) -> Result<Vec<ApiKeyRecord>, StoreError> {
    let sql = "SELECT id, account, label, added_ms, revoked_ms FROM api_keys \
               WHERE account = ?1 ORDER BY id";
    rows(connection, sql, [account], read_key)
}

fn read_key(row: &Row<'_>) -> rusqlite::Result<ApiKeyRecord> {
    Ok(ApiKeyRecord {
        id: row.get(0)?,
        account: row.get(1)?,
        label: row.get(2)?,
        added_ms: row.get(3)?,
        revoked_ms: row.get(4)?,
    })
}

pub(in crate::store::sqlite) fn idempotency(
    connection: &Connection,
    account: u32,
    key: &str,
    now_ms: i64,
) -> Result<Option<IdempotencyRecord>, StoreError> {
    let sql = "SELECT request_hash, status, body, expires_ms FROM idempotency \
               WHERE account = ?1 AND key = ?2 AND expires_ms > ?3";
    row(connection, sql, params![account, key, now_ms], |row| {
        let status: Option<u16> = row.get(1)?;
        Ok(IdempotencyRecord {
            request_hash: row.get(0)?,
            status: match status {
                None => IdempotencyStatus::InProgress,
                Some(status) => IdempotencyStatus::Finished { status, body: row.get(2)? },
            },
            expires_ms: row.get(3)?,
        })
    })
}

pub(in crate::store::sqlite) fn setting(
    connection: &Connection,
    name: &str,
) -> Result<Option<String>, StoreError> {
    row(connection, "SELECT value FROM settings WHERE name = ?1", [name], |row| row.get(0))
}
