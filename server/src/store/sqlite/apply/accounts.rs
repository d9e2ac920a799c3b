//! Accounts, their API keys, and settings.

use super::Writing;
use crate::store::StoreError;
use crate::store::types::{Account, NewApiKey};
use rusqlite::params;

pub(super) fn add(c: &Writing<'_>, account: &Account) -> Result<(), StoreError> {
    c.run_unless(
        StoreError::Exists { what: "the account" },
        "INSERT INTO accounts (number, name, added_ms) VALUES (?1, ?2, ?3)",
        params![account.number, account.name, account.added_ms],
    )?;
    Ok(())
}

pub(super) fn add_key(c: &Writing<'_>, key: &NewApiKey) -> Result<(), StoreError> {
    if c.number("SELECT 1 FROM accounts WHERE number = ?1", [key.account])?.is_none() {
        return Err(StoreError::NotFound);
    }
    c.run_unless(
        StoreError::Exists { what: "the API key" },
        "INSERT INTO api_keys (id, account, hash, label, added_ms) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![key.id, key.account, key.hash.as_bytes(), key.label, key.added_ms],
    )?;
    Ok(())
}

/// Revoking twice keeps the first time.
pub(super) fn revoke_key(
    c: &Writing<'_>,
    account: u32,
    id: &str,
    at_ms: i64,
) -> Result<(), StoreError> {
    c.one(
        "UPDATE api_keys SET revoked_ms = coalesce(revoked_ms, ?3) WHERE id = ?2 AND account = ?1",
        params![account, id, at_ms],
        || Ok(StoreError::NotFound),
    )
}

pub(super) fn set_setting(c: &Writing<'_>, name: &str, value: &str) -> Result<(), StoreError> {
    c.one(
        "INSERT INTO settings (name, value) VALUES (?1, ?2) \
         ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        params![name, value],
        || Ok(StoreError::NotFound),
    )
}
