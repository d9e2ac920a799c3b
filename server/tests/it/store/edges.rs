//! Values and limits at their edges. Written against the trait alone, like the suite.

use super::fixture::{
    Fixture, add_account, append, batch, event, key, line, message, open_conversation,
};
use sandpool_core::{SandboxName, SandboxState};
use sandpool_server::{
    MAX_PAGE, Message, MessageKind, MessageRange, Order, SandboxRef, Store, StoreError, Write,
};

#[tokio::test]
async fn any_text_comes_back_as_it_was() {
    let fixture = Fixture::new();
    let store: &dyn Store = &fixture.store;
    store.commit(batch([add_account(0), open_conversation(1, 0)])).await.unwrap();
    let large = "0123456789".repeat(300_000);
    let texts = ["", "a\0b", "'; DROP TABLE messages; --", "\u{1F980} \u{fc}\r\n\t", &large, "x"];
    for (at, (text, kind)) in texts.into_iter().zip(MessageKind::ALL).enumerate() {
        let call = (at % 2 == 0).then(|| format!("call {at}"));
        let text = text.to_owned();
        let kept = Message { kind, call, turn: at as u64, text, ..message(at as u64 + 1) };
        let append = Write::AppendMessage { conversation: 1, message: kept.clone() };
        store.commit(batch([append])).await.unwrap();
        let range = MessageRange { order: Order::NewestFirst, after: None, limit: 1 };
        assert!(store.messages(0, &key(1), range).await == Ok(vec![kept]), "text {at}");
    }
}

#[tokio::test]
async fn a_page_is_never_empty_by_its_limit_and_never_longer_than_the_longest() {
    let fixture = Fixture::new();
    let store: &dyn Store = &fixture.store;
    let most = u64::from(MAX_PAGE);
    let opened = (1..=most + 5).map(|number| open_conversation(number, 0));
    let messages = (1..=most + 5).map(|sequence| append(1, sequence));
    let events = (1..=most + 5).map(|n| Write::AppendEvent(event(n, 0, (1, n))));
    let lines = (1..=most + 5).map(|n| Write::AppendJournal(line(n)));
    let all = [add_account(0)].into_iter().chain(opened).chain(messages).chain(events).chain(lines);
    store.commit(batch(all)).await.unwrap();
    for (limit, expected) in [(0, 1), (1, 1), (MAX_PAGE, MAX_PAGE), (u32::MAX, MAX_PAGE)] {
        let range = MessageRange { order: Order::NewestFirst, after: None, limit };
        let lengths = [
            store.conversations(0, None, limit).await.unwrap().conversations.len(),
            store.messages(0, &key(1), range).await.unwrap().len(),
            store.conversation_events(0, &key(1), 0, limit).await.unwrap().len(),
            store.account_events(0, 0, limit).await.unwrap().len(),
            store.journal(0, limit).await.unwrap().len(),
        ];
        assert_eq!(lengths, [expected as usize; 5], "limit {limit}");
    }
}

#[tokio::test]
async fn a_cursor_beyond_everything_is_no_error() {
    let fixture = Fixture::new();
    let store: &dyn Store = &fixture.store;
    store.commit(batch([add_account(0), open_conversation(1, 0), append(1, 1)])).await.unwrap();
    for (order, expected) in [(Order::OldestFirst, 0), (Order::NewestFirst, 1)] {
        let range = MessageRange { order, after: Some(u64::MAX), limit: 5 };
        assert_eq!(store.messages(0, &key(1), range).await.unwrap().len(), expected);
    }
    assert_eq!(store.journal(u64::MAX, 5).await, Ok(vec![]));
    assert_eq!(store.conversation_events(0, &key(1), u64::MAX, 5).await, Ok(vec![]));
    assert_eq!(store.turn(0, &key(1), u64::MAX).await, Err(StoreError::NotFound));
    assert_eq!(store.execute(0, &key(1), u64::MAX).await, Err(StoreError::NotFound));
}

#[tokio::test]
async fn batches_are_kept_in_the_order_of_the_calls_not_of_the_waiting() {
    let fixture = Fixture::new();
    let waiting: Vec<_> =
        (1..=500).map(|n| fixture.store.commit(batch([Write::AppendJournal(line(n))]))).collect();
    for committing in waiting.into_iter().rev() {
        committing.await.unwrap();
    }
    assert_eq!(fixture.store.recovery().await.unwrap().last_journal, 500);
}

#[tokio::test]
async fn every_state_of_a_sandbox_that_may_exist_is_kept() {
    let fixture = Fixture::new();
    let store: &dyn Store = &fixture.store;
    store.commit(batch([add_account(0), open_conversation(1, 0)])).await.unwrap();
    for state in SandboxState::ALL {
        let sandbox = SandboxRef {
            name: SandboxName { epoch: 1, sequence: 1 },
            class: "default".to_owned(),
            provider_id: None,
            conversation: Some(1),
            state,
            at_ms: 5,
        };
        let put = store.commit(batch([Write::PutSandbox(sandbox.clone())])).await;
        if state == SandboxState::Deleted {
            assert!(matches!(put, Err(StoreError::Invalid { .. })), "{put:?}");
        } else {
            put.unwrap();
            let kept = store.recovery().await.unwrap().sandboxes;
            assert_eq!(kept, std::slice::from_ref(&sandbox));
        }
        let nowhere = SandboxRef { conversation: Some(9), state: SandboxState::Idle, ..sandbox };
        let refused = store.commit(batch([Write::PutSandbox(nowhere)])).await;
        assert_eq!(refused, Err(StoreError::NotFound));
    }
}

#[tokio::test]
async fn a_write_to_what_is_not_there_is_refused() {
    let fixture = Fixture::new();
    let store: &dyn Store = &fixture.store;
    store.commit(batch([add_account(0), open_conversation(1, 0)])).await.unwrap();
    let class = "default".to_owned();
    for write in [
        append(2, 1),
        open_conversation(2, 7),
        Write::AppendEvent(event(1, 0, (2, 1))),
        Write::CloseConversation { conversation: 2, at_ms: 1 },
        Write::SetConversationState { conversation: 2, state: String::new() },
        Write::BeginTurn { conversation: 2, turn: 1, class, at_ms: 1 },
    ] {
        let refused = store.commit(batch([write.clone()])).await;
        assert_eq!(refused, Err(StoreError::NotFound), "{write:?}");
    }
}

#[tokio::test]
async fn a_trimmed_journal_goes_on_counting() {
    let fixture = Fixture::new();
    let lines = (1..=5).map(|n| Write::AppendJournal(line(n)));
    fixture.store.commit(batch(lines)).await.unwrap();
    let trim = |through| batch([Write::TrimJournal { through }]);
    fixture.store.commit(trim(3)).await.unwrap();
    assert_eq!(fixture.store.journal(0, 10).await, Ok(vec![line(4), line(5)]));
    fixture.store.commit(trim(5)).await.unwrap();
    let fixture = fixture.reopen();
    let again = fixture.store.commit(batch([Write::AppendJournal(line(1))])).await;
    let refused = StoreError::OutOfOrder { what: "journal line", expected: 6, got: 1 };
    assert_eq!(again, Err(refused));
    fixture.store.commit(batch([Write::AppendJournal(line(6))])).await.unwrap();
}
