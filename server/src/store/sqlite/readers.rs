//! The connections that read, each used by one read at a time.

use super::failure::failed;
use super::lock::Lock;
use super::open::open_reader;
use crate::store::StoreError;
use rusqlite::Connection;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

#[derive(Debug)]
pub(super) struct Readers {
    shared: Arc<Shared>,
    /// One permit a connection, so that whoever has one finds a connection.
    permits: Arc<Semaphore>,
}

#[derive(Debug)]
struct Shared {
    idle: Mutex<Vec<Connection>>,
    /// After the connections: the lock outlasts them.
    _lock: Arc<Lock>,
}

impl Readers {
    pub(super) fn open(path: &Path, count: usize, lock: &Arc<Lock>) -> Result<Self, StoreError> {
        let idle = (0..count).map(|_| open_reader(path)).collect::<Result<Vec<_>, _>>()?;
        let shared = Shared { idle: Mutex::new(idle), _lock: Arc::clone(lock) };
        Ok(Self { shared: Arc::new(shared), permits: Arc::new(Semaphore::new(count)) })
    }

    /// Runs a read on a blocking thread; all that it sees is of one moment.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|_| StoreError::Stopped)?;
        let lease = Lease::take(&self.shared)?;
        tokio::task::spawn_blocking(move || {
            // The permit is given back after the connection, whatever becomes of the caller.
            let _permit = permit;
            let lease = lease;
            lease.at_one_moment(read)
        })
        .await
        .map_err(|error| StoreError::Failed { why: format!("a read ended early: {error}") })?
    }
}

/// A connection that finds its way back.
struct Lease {
    connection: Option<Connection>,
    shared: Arc<Shared>,
}

impl Lease {
    fn take(shared: &Arc<Shared>) -> Result<Self, StoreError> {
        let connection = shared.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match connection {
            Some(connection) => {
                Ok(Self { connection: Some(connection), shared: Arc::clone(shared) })
            }
            None => Err(StoreError::Failed { why: "no connection is free".to_owned() }),
        }
    }

    fn at_one_moment<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let Some(connection) = &self.connection else { return Err(StoreError::Stopped) };
        let transaction = connection.unchecked_transaction().map_err(failed)?;
        let result = read(connection);
        transaction.finish().map_err(failed)?;
        result
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.shared.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
    }
}
