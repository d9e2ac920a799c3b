//! Creating: waiting, refusals, lost answers.

use super::stand_in::{Answer, ID, KEY, StandIn, options};
use super::{CLASS, NAME, by_name};
use crate::provider::{Daytona, Origin, ProviderError, SandboxProvider, carry_out};
use sandpool_core::{
    Dimension, Failure, FoundState, Id, OpId, Operation, Reply, Resources, Span, Verb,
};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

const POST: &str = "POST /api/sandbox";

fn get() -> String {
    format!("GET /api/sandbox/{ID}")
}

#[tokio::test]
async fn a_create_is_looked_after_until_the_sandbox_has_started_and_answers() {
    let stand_in = StandIn::start().await;
    stand_in
        .on(POST, stand_in.shows(ID, "blue-1-7", "creating"))
        .on(&get(), stand_in.shows(ID, "blue-1-7", "creating"))
        .on(&get(), stand_in.shows(ID, "blue-1-7", "a_state_of_next_year"))
        .on(
            &get(),
            Answer::text(502, "<html>\r\n<head><title>502 Bad Gateway</title></head></html>"),
        )
        .on(&get(), stand_in.shows(ID, "blue-1-7", "started"))
        .on(&format!("POST /toolbox/{ID}/process/execute"), Answer::text(502, ""))
        .answers_commands("search=1\n");
    let client = stand_in.client();
    let provider = client.create(NAME, CLASS).await.unwrap();
    assert_eq!(client.text_of(provider).as_deref(), Some(ID));
    let posts = stand_in.asked(POST);
    assert_eq!(posts.len(), 1, "a create is never sent twice");
    assert_eq!(posts[0].authorization, format!("Bearer {KEY}"));
    let body: Value = serde_json::from_str(&posts[0].body).unwrap();
    assert_eq!(
        body,
        json!({"name": "blue-1-7", "autoStopInterval": 60, "autoDeleteInterval": 0,
            "labels": {"app": "sandpool", "pool": "blue", "epoch": "1", "class": "default"}}),
    );
    assert!(stand_in.asked(&get()).len() >= 4);
    assert_eq!(stand_in.asked("POST /toolbox").len(), 2, "it is ready only once it answers");
}

#[tokio::test]
async fn only_an_image_is_sized_and_only_in_whole_units() {
    let stand_in = StandIn::start().await;
    stand_in.on(POST, Answer::refusal(400, "No available runners"));
    let mut options = options(&format!("{}/api", stand_in.address));
    options.templates[0].origin = Origin::Image("python:3.12-slim".to_owned());
    options.templates[0].resources = Resources::of_sandbox(1.5, 0.5, 3.0);
    options.target = Some("eu".to_owned());
    let error = Daytona::new(options).unwrap().create(NAME, CLASS).await.unwrap_err();
    assert!(matches!(error, ProviderError::Unavailable { .. }), "{error:?}");
    let body: Value = serde_json::from_str(&stand_in.asked(POST)[0].body).unwrap();
    assert_eq!(body["buildInfo"]["dockerfileContent"], "FROM python:3.12-slim\n");
    assert_eq!((&body["cpu"], &body["memory"], &body["disk"]), (&json!(1), &json!(2), &json!(3)));
    assert_eq!(body["target"], "eu");
}

#[tokio::test]
async fn after_a_lost_answer_the_sandbox_is_adopted_by_its_name() {
    let stand_in = StandIn::start().await;
    stand_in
        .on(
            POST,
            Answer::text(504, "<html><head><title>504 Gateway Time-out</title></head></html>"),
        )
        .on(POST, Answer::refusal(409, "Sandbox with name blue-1-7 already exists"))
        .on("GET /api/sandbox/blue-1-7", stand_in.shows(ID, "blue-1-7", "started"));
    let client = stand_in.client();
    let lost = client.create(NAME, CLASS).await.unwrap_err();
    assert!(matches!(lost, ProviderError::Lost { .. }), "{lost:?}");
    assert_eq!(client.create(NAME, CLASS).await, Err(ProviderError::NameExists));
    let found = client.find(NAME).await.unwrap().expect("it is ours");
    assert_eq!(found.state, FoundState::Running);
    assert_eq!(client.text_of(found.provider).as_deref(), Some(ID));
}

#[tokio::test]
async fn a_sandbox_of_our_name_without_our_labels_is_neither_adopted_nor_deleted() {
    let stand_in = StandIn::start().await;
    let mut foreign = stand_in.sandbox(ID, "blue-1-7", "started");
    foreign["labels"] = json!({"app": "sandpool", "pool": "red"});
    stand_in.on("GET /api/sandbox/blue-1-7", Answer::json(200, &foreign));
    let client = stand_in.client();
    assert_eq!(client.find(NAME).await, Ok(None));
    assert_eq!(client.destroy(by_name()).await, Ok(()));
    assert!(stand_in.asked("DELETE").is_empty());
}

#[tokio::test]
async fn what_a_failed_start_left_behind_is_removed_by_its_name() {
    let stand_in = StandIn::start().await;
    stand_in
        .on(POST, Answer::refusal(400, "Sandbox failed to start: boom\nsecond line"))
        .on("GET /api/sandbox/blue-1-7", stand_in.shows(ID, "blue-1-7", "error"))
        .on(&format!("DELETE /api/sandbox/{ID}"), stand_in.shows(ID, "blue-1-7", "error"));
    let client = stand_in.client();
    let failed = client.create(NAME, CLASS).await.unwrap_err();
    assert!(matches!(&failed, ProviderError::Errored { detail } if detail.contains("boom")));
    assert_eq!(client.destroy(by_name()).await, Ok(()));
    assert_eq!(stand_in.asked("DELETE").len(), 1);
}

#[tokio::test]
async fn refusals_reach_the_scheduler_in_its_own_words() {
    let stand_in = StandIn::start().await;
    stand_in
        .on(
            POST,
            Answer::refusal(
                400,
                "Total disk limit exceeded. Maximum allowed: 30GiB.\nConsider archiving",
            ),
        )
        .on(
            POST,
            Answer::refusal(429, "ThrottlerException: Too Many Requests")
                .header("Retry-After-sandbox-create", "17"),
        )
        .on(POST, Answer::refusal(429, "Rate limit exceeded"))
        .on(POST, Answer::text(502, "<html>\r\n<head><title>502 Bad Gateway</title></head></html>"))
        .on(POST, Answer::refusal(401, "Invalid credentials"))
        .on(POST, Answer::text(200, "this is not JSON"));
    let client = stand_in.client();
    let create = Operation {
        op: OpId::new(1, 0),
        verb: Verb::Create,
        sandbox: None,
        name: NAME,
        provider: None,
        class: CLASS,
        conversation: None,
    };
    for expected in [
        Failure::Full { dimension: Some(Dimension::Disk) },
        Failure::RateLimited { retry_after: Span::from_secs(17) },
        Failure::RateLimited { retry_after: Span::from_secs(60) },
        Failure::Lost,
        Failure::Rejected,
        Failure::Lost,
    ] {
        assert_eq!(carry_out(&client, 1, &create).await, Reply::Failed(expected));
    }
}

#[tokio::test]
async fn a_broken_connection_is_lost_and_a_refused_one_carried_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/api", listener.local_addr().unwrap());
    let client = Daytona::new(options(&address)).unwrap();
    let accepting = tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.unwrap();
        let read = connection.read(&mut [0; 64]).await.unwrap();
        assert!(read > 0, "the request was on its way");
    });
    let error = client.create(NAME, CLASS).await.unwrap_err();
    assert!(matches!(error, ProviderError::Lost { .. }), "{error:?}");
    accepting.await.unwrap();
    // Nobody listens any more.
    let error = client.create(NAME, CLASS).await.unwrap_err();
    assert!(matches!(error, ProviderError::Unavailable { .. }), "{error:?}");
}

#[tokio::test]
async fn a_create_that_is_not_answered_in_time_is_lost() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/api", listener.local_addr().unwrap());
    let mut options = options(&address);
    options.create_call_timeout = Duration::from_millis(50);
    let error = Daytona::new(options).unwrap().create(NAME, CLASS).await.unwrap_err();
    assert!(matches!(error, ProviderError::Lost { .. }), "{error:?}");
    drop(listener);
}

#[tokio::test]
async fn a_sandbox_that_starts_but_never_answers_has_failed() {
    let stand_in = StandIn::start().await;
    stand_in
        .on(POST, stand_in.shows(ID, "blue-1-7", "creating"))
        .on(&get(), stand_in.shows(ID, "blue-1-7", "started"))
        .on(&format!("POST /toolbox/{ID}/process/execute"), Answer::text(502, ""));
    let mut options = options(&format!("{}/api", stand_in.address));
    options.start_timeout = Duration::from_secs(60);
    let error = Daytona::new(options).unwrap().create(NAME, CLASS).await.unwrap_err();
    assert!(matches!(error, ProviderError::Errored { .. }), "{error:?}");
}

#[tokio::test]
async fn what_answers_may_come_up_later_than_the_sandbox() {
    let stand_in = StandIn::start().await;
    stand_in
        .on(POST, stand_in.shows(ID, "blue-1-7", "creating"))
        .on(&get(), stand_in.shows(ID, "blue-1-7", "started"));
    for _ in 0..6 {
        stand_in.on(&format!("POST /toolbox/{ID}/process/execute"), Answer::text(502, ""));
    }
    stand_in.answers_commands("search=1\n");
    let mut options = options(&format!("{}/api", stand_in.address));
    options.silent_timeout = Duration::from_secs(30);
    options.start_timeout = Duration::from_secs(60);
    Daytona::new(options).unwrap().create(NAME, CLASS).await.unwrap();
    assert_eq!(stand_in.asked("POST /toolbox").len(), 7);
}

#[tokio::test]
async fn a_start_that_never_ends_is_lost_to_us_and_found_by_its_name() {
    let stand_in = StandIn::start().await;
    stand_in
        .on(POST, stand_in.shows(ID, "blue-1-7", "creating"))
        .on(&get(), stand_in.shows(ID, "blue-1-7", "pulling_snapshot"));
    let error = stand_in.client().create(NAME, CLASS).await.unwrap_err();
    assert!(matches!(error, ProviderError::Lost { .. }), "{error:?}");
}

#[tokio::test]
async fn the_key_is_in_no_debug_text_and_in_no_error() {
    let options = options("http://127.0.0.1:9/api");
    assert!(!format!("{options:?}").contains(KEY));
    let client = Daytona::new(options).unwrap();
    assert!(!format!("{client:?}").contains(KEY));
    let error = client.create(NAME, CLASS).await.unwrap_err();
    assert!(!format!("{error:?} {error}").contains(KEY));
}
