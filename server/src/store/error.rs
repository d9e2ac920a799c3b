//! What can go wrong with a store.

use std::path::PathBuf;
use thiserror::Error;

/// Why a store did not do what it was asked. After any of these from a commit, nothing of that
/// batch is kept, with the one exception of [`StoreError::Broken`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StoreError {
    /// Another process, or another store of this one, has the file.
    #[error("{} is in use by another server", path.display())]
    InUse {
        /// The database.
        path: PathBuf,
    },
    /// The file is no store of ours, and was left as it is.
    #[error("{} is not a sandpool store: {why}", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A newer program wrote the file, which was left as it is.
    #[error("{} has format {found}; this program knows formats up to {known}", path.display())]
    TooNew {
        /// The database.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format that this program knows.
        known: u32,
    },
    /// The file, or the folder it is in, cannot be written.
    #[error("{} cannot be written", path.display())]
    ReadOnly {
        /// The file or folder.
        path: PathBuf,
    },
    /// The file cannot be opened.
    #[error("cannot open {}: {why}", path.display())]
    Open {
        /// The database.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
    /// The disk, or the limit set for the file, is full. Nothing was written.
    #[error("the disk is full")]
    DiskFull,
    /// There is no such thing, or it is another account's.
    #[error("not found")]
    NotFound,
    /// Something of that name exists already.
    #[error("{what} exists already")]
    Exists {
        /// What.
        what: &'static str,
    },
    /// A counter that the engine keeps and the store verifies does not follow on.
    #[error("{what} {got} does not follow: {expected} was expected")]
    OutOfOrder {
        /// Which counter.
        what: &'static str,
        /// The least that the store would take.
        expected: u64,
        /// What it was given.
        got: u64,
    },
    /// The write contradicts what is kept.
    #[error("{what}")]
    Conflict {
        /// What it contradicts.
        what: &'static str,
    },
    /// The value cannot be kept or read.
    #[error("{what}")]
    Invalid {
        /// What is wrong with it.
        what: String,
    },
    /// It failed. Of a batch, nothing was written.
    #[error("the store failed: {why}")]
    Failed {
        /// What the database said.
        why: String,
    },
    /// A sync failed, so what is on the disk is not known; nothing is committed until the store
    /// is opened again, which shows whether this batch was kept.
    #[error("the store stopped after a failed sync: {why}")]
    Broken {
        /// What the database said.
        why: String,
    },
    /// Too many batches wait for the disk. Nothing was written.
    #[error("too many batches wait for the disk")]
    Overloaded,
    /// The store has been closed, or its writer died. Nothing was acknowledged.
    #[error("the store is closed")]
    Stopped,
}

impl StoreError {
    /// What to do about it, where that is known.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::InUse { .. } => {
                Some("stop the other server, or give this one a file of its own in [store] file")
            }
            Self::NotAStore { .. } => {
                Some("name another file in [store] file; a new one is made if it is not there")
            }
            Self::TooNew { .. } => Some("run the newer program, or restore an older backup"),
            Self::ReadOnly { .. } => {
                Some("let the server's user write the file and its folder, or name another file")
            }
            Self::DiskFull => Some("free space on the disk; the server may then be started again"),
            Self::Broken { .. } => Some("check the disk, then start the server again"),
            _ => None,
        }
    }
}
