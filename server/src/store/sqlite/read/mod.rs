//! Each read as SQL.

mod accounts;
mod conversations;
mod events;
mod owned;
mod recovery;
mod turns;

pub(super) use accounts::{accounts, idempotency, key_by_hash, keys, setting};
pub(super) use conversations::{conversation, conversations, messages, notices};
pub(super) use events::{account_events, conversation_events, journal, journal_bounds};
pub(super) use owned::owned;
pub(super) use recovery::recovery;
pub(super) use turns::{execute, turn};

use super::failure::failed;
use crate::store::StoreError;
use rusqlite::{Connection, OptionalExtension, Params, Row};

/// All rows of a query.
fn rows<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let rows = statement.query_map(values, read).map_err(failed)?;
    rows.collect::<Result<_, _>>().map_err(failed)
}

/// The row of a query, if there is one.
fn row<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    statement.query_row(values, read).optional().map_err(failed)
}

/// A word of the table that this program does not know.
fn unknown(column: usize, word: &str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(
        column,
        rusqlite::types::Type::Text,
        format!("unknown word {word:?}").into(),
    )
}

/// A cursor as SQLite takes it: what is beyond its numbers comes after everything.
fn cursor(after: u64) -> i64 {
    i64::try_from(after).unwrap_or(i64::MAX)
}
