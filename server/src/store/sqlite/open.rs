//! Opening the file: who may, whether it is ours, and how SQLite is to treat it.

use super::failure::not_opened;
use super::lock::Lock;
use super::migrate::{inspect, migrate};
use crate::store::StoreError;
use rusqlite::{Connection, OpenFlags};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The statements of one connection that SQLite need not parse again.
const STATEMENTS: usize = 96;

/// The file's own name, so that two ways to write one path meet at one lock.
pub(super) fn resolve(path: &Path) -> Result<PathBuf, StoreError> {
    let failed =
        |error: std::io::Error| StoreError::Open { path: path.to_owned(), why: error.to_string() };
    match path.canonicalize() {
        Ok(found) => Ok(found),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let name = path.file_name().ok_or_else(|| failed(error))?;
            let folder = match path.parent() {
                Some(folder) if folder != Path::new("") => folder,
                _ => Path::new("."),
            };
            Ok(folder.canonicalize().map_err(failed)?.join(name))
        }
        Err(error) => Err(failed(error)),
    }
}

/// Takes the lock and opens the one connection that writes.
pub(super) fn open_writer(
    path: &Path,
    max_file_bytes: Option<u64>,
) -> Result<(Lock, Connection), StoreError> {
    let lock = Lock::take(path)?;
    let failed = |error: rusqlite::Error| not_opened(path, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    // SQLite opens a file that it may only read without a word.
    if connection.is_readonly("main").map_err(failed)? {
        return Err(StoreError::ReadOnly { path: path.to_owned() });
    }
    connection.busy_timeout(Duration::from_secs(5)).map_err(failed)?;
    let format = inspect(&connection, path)?;
    let mode: String = connection
        .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))
        .map_err(failed)?;
    if !mode.eq_ignore_ascii_case("wal") {
        let why = format!("its folder allows no write-ahead log (journal mode {mode})");
        return Err(StoreError::Open { path: path.to_owned(), why });
    }
    // Every commit is synced before it is answered.
    connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
    connection.pragma_update(None, "foreign_keys", true).map_err(failed)?;
    // What a batch may have to take back is kept in memory, not in files of their own.
    connection.pragma_update(None, "temp_store", "MEMORY").map_err(failed)?;
    // In KiB: the pages that every commit changes need not be read again.
    connection.pragma_update(None, "cache_size", -16_384).map_err(failed)?;
    // A longer log makes fewer checkpoints; it is cut back to this length after one.
    connection.pragma_update(None, "wal_autocheckpoint", 4_000).map_err(failed)?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20).map_err(failed)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    if let Some(bytes) = max_file_bytes {
        let page: u64 =
            connection.pragma_query_value(None, "page_size", |row| row.get(0)).map_err(failed)?;
        let pages = i64::try_from((bytes / page).max(1)).unwrap_or(i64::MAX);
        connection
            .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
            .map_err(failed)?;
    }
    migrate(&mut connection, path, format)?;
    // The file's own name must outlive a power cut as well.
    if let Some(folder) = path.parent() {
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced
            .map_err(|error| StoreError::Open { path: path.to_owned(), why: error.to_string() })?;
    }
    Ok((lock, connection))
}

/// Opens a connection that can only read.
pub(super) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let failed = |error: rusqlite::Error| not_opened(path, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(Duration::from_secs(5)).map_err(failed)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}
