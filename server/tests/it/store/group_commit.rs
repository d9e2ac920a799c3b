//! Batches that wait together share one sync, and each is answered for itself.

use super::fixture::{Fixture, add_account, append, batch, open_conversation};
use sandpool_server::{SqliteOptions, SqliteStore, Store, StoreError, Write};

#[tokio::test]
async fn batches_that_wait_together_share_a_sync() {
    let fixture = Fixture::new();
    let opened = (1..=64).map(|number| open_conversation(number, 0));
    fixture.store.commit(batch([add_account(0)].into_iter().chain(opened))).await.unwrap();
    // All are in line before the first is awaited.
    let waiting: Vec<_> = (1..=20)
        .flat_map(|sequence| (1..=64).map(move |number| (number, sequence)))
        .map(|(number, sequence)| fixture.store.commit(batch([append(number, sequence)])))
        .collect();
    let mut largest = 0;
    for committing in waiting {
        largest = largest.max(committing.await.unwrap().shared_by);
    }
    assert!(largest > 1, "no two of 1,280 waiting batches shared a sync");
    let kept = fixture.reopen().store.recovery().await.unwrap();
    assert!(kept.conversations.iter().all(|conversation| conversation.last_message == 20));
}

#[tokio::test]
async fn a_refused_batch_leaves_its_neighbours_alone() {
    let fixture = Fixture::new();
    let begin = batch([add_account(0), open_conversation(1, 0)]);
    fixture.store.commit(begin).await.unwrap();
    // In order: the third is refused whether it shares a transaction with the others or not.
    let sequences = [1, 2, 9, 3];
    let waiting =
        sequences.map(|sequence| (sequence, fixture.store.commit(batch([append(1, sequence)]))));
    for (sequence, committing) in waiting {
        assert_eq!(committing.await.is_ok(), sequence != 9, "{sequence}");
    }
    assert_eq!(fixture.store.recovery().await.unwrap().conversations[0].last_message, 3);
}

#[tokio::test]
async fn an_answer_that_nobody_awaits_takes_nothing_back() {
    let fixture = Fixture::new();
    drop(fixture.store.commit(batch([add_account(0)])));
    // Closing waits for what is in line.
    assert_eq!(fixture.reopen().store.recovery().await.unwrap().accounts.len(), 1);
}

#[tokio::test]
async fn a_full_disk_is_told_and_nothing_of_the_batch_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = super::fixture::file(&folder);
    let options = SqliteOptions { max_file_bytes: Some(512 << 10), ..SqliteOptions::default() };
    let store = SqliteStore::open(&path, options).unwrap();
    store.commit(batch([add_account(0), open_conversation(1, 0)])).await.unwrap();
    let large = |sequence| {
        let mut message = super::fixture::message(sequence);
        message.text = "x".repeat(20_000);
        batch([Write::AppendMessage { conversation: 1, message }])
    };
    let mut kept = 0;
    let refusal = loop {
        match store.commit(large(kept + 1)).await {
            Ok(_) => kept += 1,
            Err(error) => break error,
        }
        assert!(kept < 100, "the limit of the file was not kept");
    };
    assert_eq!(refusal, StoreError::DiskFull);
    assert_eq!(store.recovery().await.unwrap().conversations[0].last_message, kept);
    // With room again, the store goes on where it was.
    drop(store);
    let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
    store.commit(large(kept + 1)).await.unwrap();
    assert_eq!(store.recovery().await.unwrap().conversations[0].last_message, kept + 1);
}
