//! One server a file. SQLite would let two in, and each would believe that it owns the pool.

use crate::store::StoreError;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Held as long as any connection to the database is open; the system lets go of it when the
/// process ends, however it ends.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Locks a file beside the database. It is left in place afterwards: removing it would let a
    /// third server lock a new file of that name while a second one holds the old.
    pub(super) fn take(database: &Path) -> Result<Self, StoreError> {
        let path = beside(database);
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(|error| match error.kind() {
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                    StoreError::ReadOnly { path: path.clone() }
                }
                ErrorKind::StorageFull => StoreError::DiskFull,
                _ => StoreError::Open { path: database.to_owned(), why: error.to_string() },
            })?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::InUse { path: database.to_owned() }),
            Err(TryLockError::Error(error)) => {
                Err(StoreError::Open { path: database.to_owned(), why: error.to_string() })
            }
        }
    }
}

fn beside(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}
