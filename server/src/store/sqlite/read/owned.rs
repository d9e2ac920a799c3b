//! The rule that keeps accounts apart. Every read of a conversation's data takes an [`Owned`],
//! and only this file makes one: there is no way to read a conversation without saying for whom.

use super::row;
use crate::store::StoreError;
use crate::store::types::ConversationKey;
use rusqlite::{Connection, params};

/// A conversation that is the account's.
#[derive(Debug)]
pub(in crate::store::sqlite) struct Owned {
    number: u64,
}

impl Owned {
    /// The scheduler's number.
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}

/// Finds the account's conversation. One query looks for both, so that another's and one that
/// never was differ neither in the answer nor in the way to it.
pub(in crate::store::sqlite) fn owned(
    connection: &Connection,
    account: u32,
    key: &ConversationKey,
) -> Result<Owned, StoreError> {
    let sql = "SELECT number FROM conversations WHERE key = ?1 AND account = ?2";
    let found = row(connection, sql, params![key.as_str(), account], |row| {
        Ok(Owned { number: row.get(0)? })
    })?;
    found.ok_or(StoreError::NotFound)
}
