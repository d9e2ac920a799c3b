//! Probing, keeping alive, labelling, and the inventory.

use super::stand_in::{Answer, ID, StandIn};
use super::{CLASS, by_name};
use crate::provider::{Alive, ProviderError, Relabelling, SandboxProvider};
use sandpool_core::{ConversationId, FoundState, Id};
use serde_json::{Value, json};

const BY_NAME: &str = "GET /api/sandbox/blue-1-7";

#[tokio::test]
async fn a_probe_asks_the_api_and_the_sandbox() {
    let stand_in = StandIn::start().await;
    let get = format!("GET /api/sandbox/{ID}");
    stand_in
        .on(BY_NAME, stand_in.shows(ID, "blue-1-7", "started"))
        .on(&get, stand_in.shows(ID, "blue-1-7", "started"))
        .answers_commands("search=1\n")
        .answers_commands("search=0\n")
        .on(&format!("POST /toolbox/{ID}/process/execute"), Answer::text(502, ""));
    let client = stand_in.client();
    assert_eq!(client.probe(by_name()).await, Ok(Alive { quiet: true }));
    assert_eq!(client.probe(by_name()).await, Ok(Alive { quiet: false }));
    // Shown as started, but nothing in it answers: unknown, not dead.
    let error = client.probe(by_name()).await.unwrap_err();
    assert!(matches!(error, ProviderError::Unavailable { .. }), "{error:?}");
    assert!(stand_in.asked("POST /toolbox")[0].body.contains(ID), "it looks for its own mark");
}

#[tokio::test]
async fn a_state_decides_between_dead_and_not_yet() {
    for (state, is_dead) in
        [("stopped", true), ("error", true), ("starting", false), ("of_next_year", false)]
    {
        let stand_in = StandIn::start().await;
        stand_in
            .on(BY_NAME, stand_in.shows(ID, "blue-1-7", state))
            .on(&format!("GET /api/sandbox/{ID}"), stand_in.shows(ID, "blue-1-7", state));
        match stand_in.client().probe(by_name()).await.unwrap_err() {
            ProviderError::Gone { .. } => assert!(is_dead, "{state}"),
            ProviderError::Conflict { .. } => assert!(!is_dead, "{state}"),
            other => panic!("{state}: {other:?}"),
        }
    }
    let nowhere = StandIn::start().await;
    let error = nowhere.client().probe(by_name()).await.unwrap_err();
    assert!(matches!(error, ProviderError::Gone { .. }), "{error:?}");
}

#[tokio::test]
async fn keeping_alive_goes_by_id() {
    let stand_in = StandIn::start().await;
    let touch = format!("POST /api/sandbox/{ID}/last-activity");
    stand_in
        .on(BY_NAME, stand_in.shows(ID, "blue-1-7", "started"))
        .on(&format!("GET /api/sandbox/{ID}"), stand_in.shows(ID, "blue-1-7", "started"))
        .on(&touch, Answer::text(201, ""));
    assert_eq!(stand_in.client().keep_alive(by_name()).await, Ok(Alive { quiet: true }));
    assert_eq!(stand_in.asked(&touch).len(), 1);
}

#[tokio::test]
async fn labels_are_written_whole() {
    let stand_in = StandIn::start().await;
    let put = format!("PUT /api/sandbox/{ID}/labels");
    stand_in
        .on(BY_NAME, stand_in.shows(ID, "blue-1-7", "started"))
        .on(&put, Answer::json(200, &json!({"labels": {}})));
    let conversation = Some(ConversationId::new(5, 0));
    let labels = Relabelling { epoch: 2, class: CLASS, conversation };
    stand_in.client().relabel(by_name(), labels).await.unwrap();
    let body: Value = serde_json::from_str(&stand_in.asked(&put)[0].body).unwrap();
    assert_eq!(
        body["labels"],
        json!({"app": "sandpool", "pool": "blue", "epoch": "2", "class": "default", "conversation": "5"})
    );
}

#[tokio::test]
async fn the_list_is_read_to_its_end_and_each_entry_confirmed() {
    let stand_in = StandIn::start().await;
    let page = |items: Vec<Value>, next: Value| {
        Answer::json(200, &json!({"items": items, "nextCursor": next}))
    };
    let entry = |id, name| stand_in.sandbox(id, name, "started");
    let mut foreign = entry("f", "blue-1-9");
    foreign["labels"] = json!({"app": "other"});
    stand_in
        .on("GET /api/sandbox", page(vec![entry("a", "blue-1-1"), foreign], json!("c+/=")))
        .on(
            "GET /api/sandbox",
            page(vec![entry("b", "blue-1-2"), entry("a", "blue-1-1")], Value::Null),
        )
        .on("GET /api/sandbox/a", stand_in.shows("a", "blue-1-1", "stopped"));
    // `b` is listed as started, but a look says that it is gone.
    let client = stand_in.client();
    let inventory = client.find_all().await.unwrap();
    assert!(inventory.complete);
    assert_eq!(inventory.items.len(), 1);
    assert_eq!(inventory.items[0].provider, client.number_of("a"));
    assert_eq!(inventory.items[0].state, FoundState::Stopped);
    assert_eq!(inventory.items[0].name.map(|name| (name.epoch, name.sequence)), Some((1, 1)));
    let pages = stand_in.asked("GET /api/sandbox?");
    assert!(
        pages[0].line.contains("labels=%7B%22app%22%3A%22sandpool%22%2C%22pool%22%3A%22blue%22%7D")
    );
    assert!(pages[0].line.contains("sort=createdAt"));
    assert!(pages[1].line.contains("cursor=c%2B%2F%3D"), "{}", pages[1].line);
}

#[tokio::test]
async fn a_list_that_breaks_off_or_cannot_be_confirmed_is_not_complete() {
    let stand_in = StandIn::start().await;
    let items = json!([stand_in.sandbox("a", "blue-1-1", "started")]);
    stand_in
        .on("GET /api/sandbox", Answer::json(200, &json!({"items": items, "nextCursor": "c"})))
        .on("GET /api/sandbox", Answer::text(502, "<html></html>"))
        .on("GET /api/sandbox/a", Answer::refusal(500, "An unexpected error occurred."));
    let inventory = stand_in.client().find_all().await.unwrap();
    assert!(!inventory.complete);
    assert_eq!(inventory.items.len(), 1, "what could not be confirmed is not dropped");
    // Now already the first page fails.
    assert!(stand_in.client().find_all().await.is_err());
}
