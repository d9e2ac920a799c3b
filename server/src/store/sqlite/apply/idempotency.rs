//! Idempotency records.

use super::Writing;
use crate::store::StoreError;
use crate::store::types::NewIdempotent;
use rusqlite::params;

/// Two requests under one key: the second is refused with `Exists`, whichever was first.
pub(super) fn begin(c: &Writing<'_>, new: &NewIdempotent) -> Result<(), StoreError> {
    c.one(
        "INSERT INTO idempotency (account, key, request_hash, expires_ms) \
         VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (account, key) DO UPDATE SET request_hash = excluded.request_hash, \
         status = NULL, body = NULL, expires_ms = excluded.expires_ms WHERE expires_ms <= ?5",
        params![new.account, new.key, new.request_hash, new.expires_ms, new.began_ms],
        || Ok(StoreError::Exists { what: "the idempotency key" }),
    )
}

pub(super) fn finish(
    c: &Writing<'_>,
    account: u32,
    key: &str,
    status: u16,
    body: &[u8],
) -> Result<(), StoreError> {
    c.one(
        "UPDATE idempotency SET status = ?3, body = ?4 \
         WHERE account = ?1 AND key = ?2 AND status IS NULL",
        params![account, key, status, body],
        || {
            let what = "no request is under way under the idempotency key";
            Ok(StoreError::Conflict { what })
        },
    )
}

pub(super) fn forget(c: &Writing<'_>, account: u32, key: &str) -> Result<(), StoreError> {
    c.remove("DELETE FROM idempotency WHERE account = ?1 AND key = ?2", params![account, key])
}

pub(super) fn expire(c: &Writing<'_>, by_ms: i64) -> Result<(), StoreError> {
    c.remove("DELETE FROM idempotency WHERE expires_ms <= ?1", [by_ms])
}
