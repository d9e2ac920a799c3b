//! A disk that fails while a transaction ends.

use super::super::open::open_writer;
use super::*;
use crate::store::Write;
use rusqlite::{Error, ffi};

/// The lock is dropped after the connection.
struct Opened {
    group: GroupCommit,
    _lock: Lock,
}

fn open(path: &Path) -> Opened {
    let (lock, connection) = open_writer(path, None).unwrap();
    let counters = Counters::load(&connection).unwrap();
    let group = GroupCommit { connection, counters, broken: None, end: commit };
    Opened { group, _lock: lock }
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
    let path = folder.path().join("store.sqlite");
    let mut opened = open(&path);
    let group = &mut opened.group;
    assert_eq!(group.write(&[epoch(1)]), Ok(vec![Ok(())]));
    // The sync fails although everything has reached the disk: the worst case.
    group.end = |connection| {
        commit(connection)?;
        Err(failure(ffi::SQLITE_IOERR_FSYNC))
    };
    assert!(matches!(group.write(&[epoch(2)]), Err(StoreError::Broken { .. })));
    group.end = commit;
    for next in [2, 3] {
        assert!(matches!(group.write(&[epoch(next)]), Err(StoreError::Broken { .. })), "{next}");
    }
    drop(opened);
    assert_eq!(open(&path).group.write(&[epoch(3)]), Ok(vec![Ok(())]));
}

#[test]
fn after_a_full_disk_nothing_of_the_group_is_kept_and_the_store_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let mut opened = open(&path);
    let group = &mut opened.group;
    group.end = |_| Err(failure(ffi::SQLITE_FULL));
    assert_eq!(group.write(&[epoch(1), epoch(2)]), Err(StoreError::DiskFull));
    group.end = commit;
    assert_eq!(group.write(&[epoch(1)]), Ok(vec![Ok(())]));
    drop(opened);
    assert_eq!(open(&path).group.counters.epoch, 1);
}

#[test]
fn a_refused_batch_takes_its_counters_back_and_leaves_its_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    let mut opened = open(&folder.path().join("store.sqlite"));
    let group = &mut opened.group;
    let half = Batch::new(vec![
        Write::BeginEpoch { epoch: 2 },
        Write::SetSetting { name: "half".to_owned(), value: "done".to_owned() },
        Write::BeginEpoch { epoch: 9 },
    ]);
    let refused = StoreError::OutOfOrder { what: "epoch", expected: 3, got: 9 };
    let results = group.write(&[epoch(1), half, epoch(2)]);
    assert_eq!(results, Ok(vec![Ok(()), Err(refused), Ok(())]));
    let sql = "SELECT count(*) FROM settings WHERE name = 'half'";
    let kept: u32 = group.connection.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!((kept, group.counters.epoch), (0, 2));
}

/// A kill does not tell a synced commit from one that only the kernel has; the settings do.
#[test]
fn commits_are_synced_and_readers_do_not_wait() {
    let folder = tempfile::tempdir().unwrap();
    let opened = open(&folder.path().join("store.sqlite"));
    let setting = |name| {
        let read = |row: &rusqlite::Row<'_>| row.get::<_, rusqlite::types::Value>(0);
        opened.group.connection.pragma_query_value(None, name, read).unwrap()
    };
    // 2 is FULL.
    assert_eq!(setting("synchronous"), rusqlite::types::Value::Integer(2));
    assert_eq!(setting("journal_mode"), rusqlite::types::Value::Text("wal".to_owned()));
}
