//! What any store must do. Written against the trait alone, so that another one passes the same.

use super::fixture::{
    Fixture, add_account, append, batch, event, key, line, message, open_conversation,
};
use sandpool_core::{SandboxName, SandboxState, Verb};
use sandpool_server::{
    IdempotencyStatus, Intent, MessageRange, NewIdempotent, OpenRequest, Order, SandboxRef, Store,
    StoreError, Write,
};

async fn begun(store: &dyn Store) {
    store.commit(batch([add_account(0), open_conversation(1, 0)])).await.unwrap();
}

fn all(order: Order) -> MessageRange {
    MessageRange { order, after: None, limit: 100 }
}

#[tokio::test]
async fn a_batch_is_kept_as_a_whole_or_not_at_all() {
    let fixture = Fixture::new();
    let store: &dyn Store = &fixture.store;
    begun(store).await;
    let refused = store
        .commit(batch([
            append(1, 1),
            Write::AppendEvent(event(1, 0, (1, 1))),
            Write::AppendJournal(line(1)),
            append(1, 3),
        ]))
        .await;
    assert_eq!(refused, Err(StoreError::OutOfOrder { what: "message", expected: 2, got: 3 }));
    let kept = store.recovery().await.unwrap();
    assert_eq!((kept.last_event, kept.last_journal, kept.conversations[0].last_message), (0, 0, 0));
    // The counters were taken back with the rest: the same sequences go through now.
    store
        .commit(batch([
            append(1, 1),
            Write::AppendEvent(event(1, 0, (1, 1))),
            Write::AppendJournal(line(1)),
        ]))
        .await
        .unwrap();
    let kept = store.recovery().await.unwrap();
    assert_eq!((kept.last_event, kept.last_journal, kept.conversations[0].last_message), (1, 1, 1));
}

#[tokio::test]
async fn a_counter_that_does_not_follow_is_refused() {
    let fixture = Fixture::new();
    let store: &dyn Store = &fixture.store;
    begun(store).await;
    let wrong = [
        ("event", Write::AppendEvent(event(2, 0, (1, 1)))),
        ("event of the conversation", Write::AppendEvent(event(1, 0, (1, 2)))),
        ("journal line", Write::AppendJournal(line(2))),
        ("message", append(1, 0)),
        ("conversation", open_conversation(1, 0)),
        ("epoch", Write::BeginEpoch { epoch: 2 }),
    ];
    for (name, write) in wrong {
        match store.commit(batch([write])).await {
            Err(StoreError::OutOfOrder { what, .. }) => assert_eq!(what, name),
            other => panic!("{name}: {other:?}"),
        }
    }
    let huge = store.commit(batch([append(1, u64::MAX)])).await;
    assert!(matches!(huge, Err(StoreError::Invalid { .. })), "{huge:?}");
}

#[tokio::test]
async fn an_epoch_is_never_used_twice() {
    let mut fixture = Fixture::new();
    for epoch in 1..=3 {
        assert_eq!(fixture.store.recovery().await.unwrap().epoch, epoch - 1);
        fixture.store.commit(batch([Write::BeginEpoch { epoch }])).await.unwrap();
        fixture = fixture.reopen();
    }
    let again = fixture.store.commit(batch([Write::BeginEpoch { epoch: 3 }])).await;
    assert_eq!(again, Err(StoreError::OutOfOrder { what: "epoch", expected: 4, got: 3 }));
}

#[tokio::test]
async fn messages_are_read_from_either_end_page_by_page() {
    let fixture = Fixture::new();
    let store: &dyn Store = &fixture.store;
    begun(store).await;
    store.commit(batch((1..=5).map(|sequence| append(1, sequence)))).await.unwrap();
    for (order, expected) in
        [(Order::OldestFirst, [1, 2, 3, 4, 5]), (Order::NewestFirst, [5, 4, 3, 2, 1])]
    {
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let range = MessageRange { order, after, limit: 2 };
            let page = store.messages(0, &key(1), range).await.unwrap();
            after = page.last().map(|last| last.sequence);
            if page.is_empty() {
                break;
            }
            assert!(page.len() <= 2);
            seen.extend(page);
        }
        assert_eq!(seen, expected.map(message), "{order:?}");
    }
}

#[tokio::test]
async fn conversations_are_listed_newest_first_and_every_one_once() {
    let fixture = Fixture::new();
    let store: &dyn Store = &fixture.store;
    let opened = (1..=7).map(|number| open_conversation(number, (number % 2) as u32));
    store.commit(batch([add_account(0), add_account(1)].into_iter().chain(opened))).await.unwrap();
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let page = store.conversations(1, after.as_ref(), 2).await.unwrap();
        seen.extend(page.conversations.iter().map(|conversation| conversation.number));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, [7, 5, 3, 1]);
}

#[tokio::test]
async fn events_are_read_after_a_sequence() {
    let fixture = Fixture::new();
    let store: &dyn Store = &fixture.store;
    begun(store).await;
    let of_the_pool =
        sandpool_server::EventRecord { account: None, conversation: None, ..event(2, 0, (1, 1)) };
    store
        .commit(batch([
            Write::AppendEvent(event(1, 0, (1, 1))),
            Write::AppendEvent(of_the_pool),
            Write::AppendEvent(event(3, 0, (1, 2))),
        ]))
        .await
        .unwrap();
    let sequences = |events: Vec<sandpool_server::EventRecord>| {
        events.into_iter().map(|event| event.sequence).collect::<Vec<_>>()
    };
    assert_eq!(sequences(store.account_events(0, 0, 10).await.unwrap()), [1, 3]);
    assert_eq!(sequences(store.account_events(0, 1, 10).await.unwrap()), [3]);
    assert_eq!(sequences(store.conversation_events(0, &key(1), 0, 1).await.unwrap()), [1]);
    assert_eq!(sequences(store.conversation_events(0, &key(1), 1, 10).await.unwrap()), [3]);
    assert_eq!(sequences(store.account_events(0, u64::MAX, 10).await.unwrap()), [0; 0]);
}

#[tokio::test]
async fn one_turn_is_open_at_most_and_executes_run_within_it() {
    let fixture = Fixture::new();
    let store: &dyn Store = &fixture.store;
    begun(store).await;
    let begin =
        |turn| Write::BeginTurn { conversation: 1, turn, class: "default".into(), at_ms: 5 };
    let end = |turn| Write::EndTurn { conversation: 1, turn, reason: "requested".into(), at_ms: 9 };
    let start = |turn, execute| Write::StartExecute { conversation: 1, turn, execute, at_ms: 6 };
    let finish = Write::FinishExecute {
        conversation: 1,
        execute: 1,
        outcome: "completed".into(),
        result: "{}".into(),
        at_ms: 7,
    };
    let refused = |what| Err(StoreError::Conflict { what });
    assert_eq!(store.commit(batch([start(1, 1)])).await, refused("the turn is not open"));
    store.commit(batch([begin(1), start(1, 1)])).await.unwrap();
    let open = refused("the conversation has an open turn");
    assert_eq!(store.commit(batch([begin(2)])).await, open);
    let close = Write::CloseConversation { conversation: 1, at_ms: 9 };
    assert_eq!(store.commit(batch([close.clone()])).await, open);

    let fixture = fixture.reopen();
    let store: &dyn Store = &fixture.store;
    let kept = store.recovery().await.unwrap();
    assert_eq!((kept.turns.len(), kept.executes.len()), (1, 1));
    assert_eq!((kept.turns[0].turn, kept.executes[0].execute), (1, 1));
    assert_eq!(store.execute(0, &key(1), 1).await.unwrap().finished, None);

    store.commit(batch([finish.clone(), end(1)])).await.unwrap();
    assert_eq!(
        store.execute(0, &key(1), 1).await.unwrap().finished,
        Some((7, "completed".to_owned(), "{}".to_owned()))
    );
    assert_eq!(store.turn(0, &key(1), 1).await.unwrap().ended, Some((9, "requested".to_owned())));
    let twice = refused("the execute is not under way");
    assert_eq!(store.commit(batch([finish])).await, twice);
    assert!(matches!(
        store.commit(batch([begin(1)])).await,
        Err(StoreError::OutOfOrder { what: "turn", expected: 2, got: 1 })
    ));
    store.commit(batch([close])).await.unwrap();
    let closed = refused("the conversation is closed");
    assert_eq!(store.commit(batch([append(1, 1)])).await, closed);
    assert_eq!(store.commit(batch([begin(2)])).await, closed);
    let kept = store.recovery().await.unwrap();
    assert!(kept.conversations.is_empty() && kept.turns.is_empty() && kept.executes.is_empty());
}

#[tokio::test]
async fn sandboxes_and_intents_outlive_the_store() {
    let fixture = Fixture::new();
    begun(&fixture.store).await;
    let name = SandboxName { epoch: 1, sequence: 4 };
    let intent = Intent { epoch: 1, operation: 8, verb: Verb::Create, sandbox: name, at_ms: 5 };
    let mut sandbox = SandboxRef {
        name,
        class: "default".to_owned(),
        provider_id: None,
        conversation: None,
        state: SandboxState::Creating,
        at_ms: 5,
    };
    let begin = batch([Write::AddIntent(intent), Write::PutSandbox(sandbox.clone())]);
    fixture.store.commit(begin).await.unwrap();
    let fixture = fixture.reopen();
    let kept = fixture.store.recovery().await.unwrap();
    assert_eq!((kept.intents, kept.sandboxes), (vec![intent], vec![sandbox.clone()]));

    sandbox.provider_id = Some("at-the-provider".to_owned());
    sandbox.conversation = Some(1);
    sandbox.state = SandboxState::Idle;
    let resolve = Write::ResolveIntent { epoch: 1, operation: 8 };
    let put = Write::PutSandbox(sandbox.clone());
    fixture.store.commit(batch([resolve.clone(), put])).await.unwrap();
    let fixture = fixture.reopen();
    let kept = fixture.store.recovery().await.unwrap();
    assert_eq!((kept.intents, kept.sandboxes), (vec![], vec![sandbox.clone()]));

    let another = SandboxRef { name: SandboxName { epoch: 1, sequence: 5 }, ..sandbox };
    assert_eq!(
        fixture.store.commit(batch([Write::PutSandbox(another)])).await,
        Err(StoreError::Conflict { what: "the conversation has another sandbox" })
    );
    // A confirmation may come twice.
    let remove = Write::RemoveSandbox { name };
    fixture.store.commit(batch([resolve, remove.clone(), remove])).await.unwrap();
    assert!(fixture.store.recovery().await.unwrap().sandboxes.is_empty());
}

#[tokio::test]
async fn an_idempotency_key_answers_once_until_it_expires() {
    let fixture = Fixture::new();
    let store: &dyn Store = &fixture.store;
    begun(store).await;
    let begin = |began_ms| {
        batch([Write::BeginIdempotent(NewIdempotent {
            account: 0,
            key: "k".to_owned(),
            request_hash: [7; 32],
            began_ms,
            expires_ms: began_ms + 100,
        })])
    };
    let finish = batch([Write::FinishIdempotent {
        account: 0,
        key: "k".to_owned(),
        status: 201,
        body: b"made".to_vec(),
    }]);
    let taken = Err(StoreError::Exists { what: "the idempotency key" });
    store.commit(begin(0)).await.unwrap();
    assert_eq!(store.commit(begin(50)).await, taken);
    let kept = store.idempotency(0, "k", 50).await.unwrap().unwrap();
    assert_eq!((kept.status, kept.request_hash), (IdempotencyStatus::InProgress, [7; 32]));
    let unanswered = store.recovery().await.unwrap().requests;
    assert_eq!(unanswered, [OpenRequest { account: 0, key: "k".to_owned() }]);
    store.commit(finish.clone()).await.unwrap();
    assert_eq!(store.recovery().await.unwrap().requests, []);
    let done = IdempotencyStatus::Finished { status: 201, body: b"made".to_vec() };
    assert_eq!(store.idempotency(0, "k", 99).await.unwrap().unwrap().status, done);
    assert!(store.commit(finish).await.is_err(), "an answer is never replaced");
    assert_eq!(store.commit(begin(99)).await, taken);
    assert_eq!(store.idempotency(0, "k", 100).await.unwrap(), None);
    store.commit(begin(100)).await.unwrap();
    let kept = store.idempotency(0, "k", 100).await.unwrap().unwrap();
    assert_eq!(kept.status, IdempotencyStatus::InProgress);
    store.commit(batch([Write::ExpireIdempotent { by_ms: 200 }])).await.unwrap();
    assert_eq!(store.idempotency(0, "k", 100).await.unwrap(), None);
}

#[tokio::test]
async fn state_settings_and_journal_read_back() {
    let fixture = Fixture::new();
    begun(&fixture.store).await;
    let state = Write::SetConversationState { conversation: 1, state: "{\"a\":1}".to_owned() };
    let set = |value: &str| Write::SetSetting { name: "n".to_owned(), value: value.to_owned() };
    let journal = (1..=3).map(|sequence| Write::AppendJournal(line(sequence)));
    let writes = [state, set("old"), set("new")].into_iter().chain(journal);
    fixture.store.commit(batch(writes)).await.unwrap();
    let fixture = fixture.reopen();
    let store: &dyn Store = &fixture.store;
    assert_eq!(store.conversation(0, &key(1)).await.unwrap().state, "{\"a\":1}");
    assert_eq!(store.setting("n").await.unwrap().as_deref(), Some("new"));
    assert_eq!(store.setting("unset").await.unwrap(), None);
    assert_eq!(store.journal(1, 10).await.unwrap(), [line(2), line(3)]);
    assert_eq!(store.messages(0, &key(1), all(Order::OldestFirst)).await.unwrap(), []);
}
