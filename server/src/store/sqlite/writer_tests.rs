//! A disk that fails while a transaction ends.

use super::*;
use crate::store::Write;
use crate::store::sqlite::open::open_writer;
use rusqlite::{Error, ffi};
use std::path::Path;

fn writer(path: &Path) -> Writer {
    let (lock, connection) = open_writer(path, None).unwrap();
    let counters = Counters::load(&connection).unwrap();
    Writer::new(connection, counters, Arc::new(lock))
}

fn epoch(epoch: u32) -> Batch {
    Batch::new(vec![Write::BeginEpoch { epoch }])
}

fn failure(code: std::ffi::c_int) -> Error {
    Error::SqliteFailure(ffi::Error::new(code), None)
}

#[test]
fn after_a_failed_sync_nothing_is_acknowledged_until_the_file_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut store = writer(&path);
    assert_eq!(store.try_commit(&[epoch(1)]), Ok(vec![Ok(())]));
    // The sync fails although everything has reached the disk: the worst case.
    store.end = |connection| {
        run(connection, "COMMIT")?;
        Err(failure(ffi::SQLITE_IOERR_FSYNC))
    };
    assert!(matches!(store.try_commit(&[epoch(2)]), Err(StoreError::Broken { .. })));
    store.end = |connection| run(connection, "COMMIT");
    assert!(matches!(store.try_commit(&[epoch(2)]), Err(StoreError::Broken { .. })));
    assert!(matches!(store.try_commit(&[epoch(3)]), Err(StoreError::Broken { .. })));
    drop(store);
    assert_eq!(writer(&path).try_commit(&[epoch(3)]), Ok(vec![Ok(())]));
}

#[test]
fn after_a_full_disk_nothing_of_the_group_is_kept_and_the_store_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut store = writer(&path);
    store.end = |_| Err(failure(ffi::SQLITE_FULL));
    assert_eq!(store.try_commit(&[epoch(1), epoch(2)]), Err(StoreError::DiskFull));
    store.end = |connection| run(connection, "COMMIT");
    assert_eq!(store.try_commit(&[epoch(1)]), Ok(vec![Ok(())]));
    drop(store);
    assert_eq!(writer(&path).counters.epoch, 1);
}

#[test]
fn a_refused_batch_takes_its_counters_back_and_leaves_its_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = writer(&folder.path().join("store.db"));
    let half = Batch::new(vec![
        Write::BeginEpoch { epoch: 2 },
        Write::SetSetting { name: "half".to_owned(), value: "done".to_owned() },
        Write::BeginEpoch { epoch: 9 },
    ]);
    let refused = StoreError::OutOfOrder { what: "epoch", expected: 3, got: 9 };
    let results = store.try_commit(&[epoch(1), half, epoch(2)]);
    assert_eq!(results, Ok(vec![Ok(()), Err(refused), Ok(())]));
    let kept: u32 = store
        .connection
        .query_row("SELECT count(*) FROM settings WHERE name = 'half'", [], |row| row.get(0))
        .unwrap();
    assert_eq!((kept, store.counters.epoch), (0, 2));
}
