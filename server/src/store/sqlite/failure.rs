//! What SQLite's errors mean for whoever uses the store.

use crate::store::StoreError;
use rusqlite::ErrorCode;
use std::path::Path;

/// Of a read, or of a write that is rolled back.
pub(super) fn failed(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::DiskFull,
        _ if matches!(error, rusqlite::Error::QueryReturnedNoRows) => StoreError::NotFound,
        _ => StoreError::Failed { why: error.to_string() },
    }
}

/// Of opening the file.
pub(super) fn not_opened(path: &Path, error: &rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => {
            StoreError::NotAStore { path, why: "it is no SQLite database".to_owned() }
        }
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { path },
        Some(ErrorCode::DiskFull) => StoreError::DiskFull,
        _ => StoreError::Open { path, why: error.to_string() },
    }
}

/// Whether a failed commit leaves unknown what is on the disk. Full disks and constraints are
/// rolled back by SQLite; a failed write or sync may have reached the disk all the same.
pub(super) fn is_uncertain(error: &rusqlite::Error) -> bool {
    !matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DiskFull | ErrorCode::ConstraintViolation | ErrorCode::DatabaseBusy)
    )
}
