//! An account never sees or touches another's, not even by knowing its ids.

use super::fixture::{Fixture, add_account, append, batch, event, key, open_conversation};
use sandpool_server::{
    ApiKey, MessageRange, NewApiKey, NewIdempotent, Order, Store, StoreError, Write,
};

/// Account 0 has conversation 1 with one of everything; account 1 has nothing.
async fn filled() -> Fixture {
    let fixture = Fixture::new();
    let writes = [
        add_account(0),
        add_account(1),
        open_conversation(1, 0),
        append(1, 1),
        Write::BeginTurn { conversation: 1, turn: 1, class: "default".into(), at_ms: 1 },
        Write::StartExecute { conversation: 1, turn: 1, execute: 1, at_ms: 1 },
        Write::AppendEvent(event(1, 0, (1, 1))),
        Write::BeginIdempotent(NewIdempotent {
            account: 0,
            key: "k".to_owned(),
            request_hash: [1; 32],
            began_ms: 0,
            expires_ms: 100,
        }),
    ];
    fixture.store.commit(batch(writes)).await.unwrap();
    fixture
}

#[tokio::test]
async fn every_read_of_anothers_conversation_answers_as_if_it_never_was() {
    let fixture = filled().await;
    let store: &dyn Store = &fixture.store;
    let range = MessageRange { order: Order::NewestFirst, after: None, limit: 10 };
    // The owner reads everything; the other account, and the owner of nothing, read nothing.
    for (account, number, owns) in [(0, 1, true), (1, 1, false), (0, 2, false), (2, 1, false)] {
        let key = key(number);
        let answers = [
            ("conversation", store.conversation(account, &key).await.map(|_| ())),
            ("list after", store.conversations(account, Some(&key), 10).await.map(|_| ())),
            ("messages", store.messages(account, &key, range).await.map(|_| ())),
            ("notices", store.notices(account, &key, 10).await.map(|_| ())),
            ("events", store.conversation_events(account, &key, 0, 10).await.map(|_| ())),
            ("turn", store.turn(account, &key, 1).await.map(|_| ())),
            ("execute", store.execute(account, &key, 1).await.map(|_| ())),
        ];
        let expected = if owns { Ok(()) } else { Err(StoreError::NotFound) };
        for (read, answer) in answers {
            assert_eq!(answer, expected, "{read} of {number} by account {account}");
        }
    }
    assert!(store.conversations(1, None, 10).await.unwrap().conversations.is_empty());
    assert!(store.account_events(1, 0, 10).await.unwrap().is_empty());
    assert_eq!(store.account_events(0, 0, 10).await.unwrap().len(), 1);
    assert_eq!(store.idempotency(1, "k", 0).await.unwrap(), None);
    assert!(store.idempotency(0, "k", 0).await.unwrap().is_some());
}

#[tokio::test]
async fn an_event_cannot_be_written_into_anothers_conversation() {
    let fixture = filled().await;
    let foreign = fixture.store.commit(batch([Write::AppendEvent(event(2, 1, (1, 2)))])).await;
    assert_eq!(foreign, Err(StoreError::NotFound));
    assert_eq!(fixture.store.recovery().await.unwrap().last_event, 1);
}

#[tokio::test]
async fn a_key_cannot_be_revoked_or_listed_by_another_account() {
    let fixture = filled().await;
    let store: &dyn Store = &fixture.store;
    let key = ApiKey::generate().unwrap();
    let add = Write::AddKey(NewApiKey {
        id: "key_1".to_owned(),
        account: 0,
        hash: key.hash(),
        label: "laptop".to_owned(),
        added_ms: 1,
    });
    store.commit(batch([add])).await.unwrap();
    let revoke = Write::RevokeKey { account: 1, id: "key_1".to_owned(), at_ms: 2 };
    assert_eq!(store.commit(batch([revoke])).await, Err(StoreError::NotFound));
    assert!(store.keys(1).await.unwrap().is_empty());
    let kept = store.keys(0).await.unwrap();
    assert_eq!((kept.len(), kept[0].revoked_ms), (1, None));
}
