//! The rule that keeps accounts apart: whoever reads a conversation says for which account, and
//! another's is as if it were not there.

use super::one;
use crate::store::{ConversationKey, StoreError};
use rusqlite::{Connection, params};

/// The number of the account's conversation. Every read of what belongs to a conversation begins
/// here, and goes on with the number.
pub(super) fn owned(
    connection: &Connection,
    account: u32,
    key: &ConversationKey,
) -> Result<u64, StoreError> {
    let sql = "SELECT number FROM conversations WHERE key = ?1 AND account = ?2";
    one(connection, sql, params![key.as_str(), account], |row| row.get(0))?
        .ok_or(StoreError::NotFound)
}
