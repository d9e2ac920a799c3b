//! One read, within one transaction of a connection that can only read.

mod conversation;
mod event;
mod idempotency;
mod journal;
mod key;
mod message;
mod ownership;
mod recovery;
mod turn;

pub(super) use conversation::{conversation, conversations};
pub(super) use event::{account_events, conversation_events};
pub(super) use idempotency::{idempotency, setting};
pub(super) use journal::journal;
pub(super) use key::{key_by_hash, keys};
pub(super) use message::messages;
pub(super) use recovery::recovery;
pub(super) use turn::{execute, turn};

use super::failure::failed;
use crate::store::StoreError;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Params, Row};

/// Every row of a query.
fn all<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    make: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, StoreError> {
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.query_map(parameters, make)?.collect())
        .map_err(failed)
}

/// The one row of a query, if there is one.
fn one<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    make: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>, StoreError> {
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.query_row(parameters, make).optional())
        .map_err(failed)
}

/// A word of a closed vocabulary. One that this program does not know means a damaged file.
fn word<T>(
    row: &Row<'_>,
    column: usize,
    known: impl FnOnce(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    known(&text).ok_or_else(|| {
        let why = format!("{text:?} is no word that this program knows");
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, why.into())
    })
}
