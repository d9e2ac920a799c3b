//! API keys.

use super::all;
use crate::keys::KeyHash;
use crate::store::{ApiKeyRecord, StoreError};
use rusqlite::{Connection, Row, params};

/// The index goes by the first eight bytes, so that the time of its search tells at most those;
/// the rest is compared in constant time.
pub(in super::super) fn key_by_hash(
    connection: &Connection,
    hash: KeyHash,
) -> Result<Option<ApiKeyRecord>, StoreError> {
    let sql = "SELECT id, account, label, added_ms, revoked_ms, hash FROM api_keys
               WHERE substr(hash, 1, 8) = ?1";
    let alike = all(connection, sql, params![&hash.as_bytes()[..8]], |row| {
        Ok((KeyHash::from_bytes(row.get(5)?), whole(row)?))
    })?;
    Ok(alike.into_iter().find(|(kept, _)| kept.is_same(&hash)).map(|(_, record)| record))
}

pub(in super::super) fn keys(
    connection: &Connection,
    account: u32,
) -> Result<Vec<ApiKeyRecord>, StoreError> {
    let sql = "SELECT id, account, label, added_ms, revoked_ms FROM api_keys
               WHERE account = ?1 ORDER BY id";
    all(connection, sql, params![account], whole)
}

fn whole(row: &Row<'_>) -> rusqlite::Result<ApiKeyRecord> {
    Ok(ApiKeyRecord {
        id: row.get(0)?,
        account: row.get(1)?,
        label: row.get(2)?,
        added_ms: row.get(3)?,
        revoked_ms: row.get(4)?,
    })
}
