//! Which files are opened, which are refused, and that a refused one is left as it was.

use super::fixture::{Fixture, file, key, open};
use sandpool_server::{
    MessageKind, MessageRange, Order, SqliteOptions, SqliteStore, Store, StoreError,
};
use std::path::Path;

const FIRST_FORMAT: &str = include_str!("../../data/store_format_1.sql");

fn refused(path: &Path) -> StoreError {
    SqliteStore::open(path, SqliteOptions::default()).map(|_| ()).unwrap_err()
}

#[tokio::test]
async fn a_second_server_on_the_file_is_refused_by_name() {
    let fixture = Fixture::new();
    let path = file(&fixture.folder).canonicalize().unwrap();
    let roundabout = fixture.folder.path().join(".").join("store.sqlite");
    let link = fixture.folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    for way in [path.clone(), roundabout, link] {
        let error = refused(&way);
        assert_eq!(error, StoreError::InUse { path: path.clone() });
        assert!(error.to_string().contains("store.sqlite is in use by another server"), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("stop the other server")));
    }
    // The first one is none the worse, and its end lets the next one in.
    fixture.store.recovery().await.unwrap();
    fixture.reopen().store.recovery().await.unwrap();
}

#[test]
fn a_file_of_a_newer_program_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(&folder));
    let connection = rusqlite::Connection::open(file(&folder)).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let before = std::fs::read(file(&folder)).unwrap();
    let path = file(&folder).canonicalize().unwrap();
    assert_eq!(refused(&path), StoreError::TooNew { path, found: 99, known: 3 });
    assert_eq!(std::fs::read(file(&folder)).unwrap(), before);
}

#[test]
fn a_file_that_is_no_store_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    std::fs::write(
        &text,
        "not a database, and long enough that it cannot be an empty one\n".repeat(40),
    )
    .unwrap();
    let other = folder.path().join("other.sqlite");
    let connection = rusqlite::Connection::open(&other).unwrap();
    connection.execute_batch("CREATE TABLE theirs (x); PRAGMA user_version = 1").unwrap();
    drop(connection);
    for path in [text, other] {
        let before = std::fs::read(&path).unwrap();
        let error = refused(&path);
        assert!(matches!(error, StoreError::NotAStore { .. }), "{error:?}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing").join("store.sqlite");
    let error = refused(&path);
    assert!(matches!(&error, StoreError::Open { path: named, .. } if *named == path), "{error:?}");
}

/// The kernel lets nobody make a file in `/sys`, not even root.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let error = refused(Path::new("/sys/sandpool.sqlite"));
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    assert!(error.hint().is_some());
}

#[tokio::test]
async fn a_file_of_the_first_format_is_brought_up_to_date_with_all_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let connection = rusqlite::Connection::open(file(&folder)).unwrap();
    connection.execute_batch(FIRST_FORMAT).unwrap();
    drop(connection);
    let store = open(&folder);
    let kept = store.recovery().await.unwrap();
    assert_eq!((kept.epoch, kept.last_conversation), (3, 7));
    assert_eq!((kept.last_event, kept.last_journal), (1, 1));
    assert_eq!(kept.accounts.len(), 1);
    assert_eq!((kept.turns.len(), kept.executes.len()), (1, 1));
    assert_eq!((kept.sandboxes.len(), kept.intents.len()), (1, 1));
    let range = MessageRange { order: Order::OldestFirst, after: None, limit: 10 };
    let messages = store.messages(0, &key(7), range).await.unwrap();
    assert_eq!((messages.len(), messages[0].kind), (2, MessageKind::User));
    assert_eq!(messages[1].text, "kept since the first format");
    assert_eq!(store.conversation(0, &key(7)).await.unwrap().state, "");
    assert_eq!(store.conversation_events(0, &key(7), 0, 10).await.unwrap().len(), 1);
    // What the second format brought works on the old file.
    assert_eq!(store.setting("unset").await.unwrap(), None);
    assert_eq!(store.idempotency(0, "k", 0).await.unwrap(), None);
    drop(store);
    // Opening it once more changes nothing.
    assert_eq!(open(&folder).recovery().await.unwrap(), kept);
}
