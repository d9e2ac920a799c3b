//! Connections that only read, each used by one blocking thread at a time.

use super::lock::Lock;
use super::open::open_reader;
use crate::store::StoreError;
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
    // Last, so that it is let go of after the connections.
    _lock: Arc<Lock>,
}

impl Readers {
    pub(super) fn new(path: PathBuf, count: usize, lock: Arc<Lock>) -> Result<Self, StoreError> {
        let first = open_reader(&path)?;
        Ok(Self {
            path,
            permits: Arc::new(Semaphore::new(count)),
            idle: Mutex::new(vec![first]),
            _lock: lock,
        })
    }

    /// Runs the job on a connection, in one transaction, so that it sees one moment.
    pub(super) async fn run<T, F>(self: Arc<Self>, job: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let permit =
            Arc::clone(&self.permits).acquire_owned().await.map_err(|_| StoreError::Stopped)?;
        let work = move || {
            // The permit goes when the job ends, not when its caller stops waiting for it.
            let _permit = permit;
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let connection = idle.map_or_else(|| open_reader(&self.path), Ok)?;
            let transaction = connection.unchecked_transaction().map_err(super::failure::failed)?;
            let answer = job(&transaction);
            drop(transaction);
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            answer
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(answer) => answer,
            Err(error) => Err(StoreError::Failed { why: format!("a read was ended: {error}") }),
        }
    }
}
