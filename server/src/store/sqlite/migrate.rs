//! Brings a file to the format of this program. Format `n` is what the first `n` files of
//! `migrations/` make; it is kept in `PRAGMA user_version`.

use super::failure::not_opened;
use crate::store::StoreError;
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;

/// "SPOL": says in SQLite's header that a file is ours.
pub(super) const APPLICATION_ID: i32 = 0x5350_4f4c;

pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_conversations.sql"),
    include_str!("migrations/0002_idempotency_settings_state.sql"),
    include_str!("migrations/0003_files_lost.sql"),
];

/// Looks at the file without changing it, and tells its format: 0 if it is empty.
pub(super) fn inspect(connection: &Connection, path: &Path) -> Result<u32, StoreError> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let whole = |result: rusqlite::Result<i32>| result.map_err(|error| not_opened(path, &error));
    let application = whole(pragma("application_id"))?;
    let version = whole(pragma("user_version"))?;
    let tables = whole(
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i32>(0)),
    )?;
    if application == 0 && version == 0 && tables == 0 {
        return Ok(0);
    }
    let not_ours = |why: &str| StoreError::NotAStore { path: path.to_owned(), why: why.to_owned() };
    if application != APPLICATION_ID {
        return Err(not_ours("it is another program's database"));
    }
    let known = MIGRATIONS.len() as u32;
    match u32::try_from(version) {
        Ok(found) if found > known => {
            Err(StoreError::TooNew { path: path.to_owned(), found, known })
        }
        Ok(found) if found > 0 => Ok(found),
        _ => Err(not_ours("it has no format number")),
    }
}

/// Brings the file from a format to this program's, all or nothing.
pub(super) fn migrate(
    connection: &mut Connection,
    path: &Path,
    from: u32,
) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| not_opened(path, &error);
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    for sql in &MIGRATIONS[from as usize..] {
        transaction.execute_batch(sql).map_err(failed)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
    transaction.pragma_update(None, "user_version", MIGRATIONS.len() as u32).map_err(failed)?;
    transaction.commit().map_err(failed)
}
