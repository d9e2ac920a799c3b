//! Commands and files in a sandbox, and the prepare steps made of them.

use super::stand_in::{Answer, ID, StandIn, options};
use super::{CLASS, by_name};
use crate::provider::{
    CommandOutcome, CommandRequest, Daytona, FileContent, PrepareSteps, ProviderError,
    SandboxProvider,
};
use serde_json::{Value, json};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

async fn started() -> StandIn {
    let stand_in = StandIn::start().await;
    stand_in.on(&format!("GET /api/sandbox/{ID}"), stand_in.shows(ID, "blue-1-7", "started"));
    stand_in
}

fn execute_route() -> String {
    format!("POST /toolbox/{ID}/process/execute")
}

#[tokio::test]
async fn a_command_ends_completed_or_timed_out() {
    let stand_in = started().await;
    stand_in
        .on(&execute_route(), Answer::json(200, &json!({"exitCode": 137, "result": "Killed\n"})))
        .on(
            &execute_route(),
            Answer::json(
                408,
                &json!({"statusCode": 408,
            "message": "command execution timeout", "code": "PROCESS_EXECUTION_TIMEOUT"}),
            ),
        );
    let client = stand_in.client();
    let provider = client.number_of(ID);
    let mut command = CommandRequest::new("x", Duration::from_millis(1500));
    command.working_directory = Some("/tmp".to_owned());
    command.environment.insert("A".to_owned(), "1".to_owned());
    let outcome = client.execute(provider, &command).await.unwrap();
    assert!(outcome.looks_killed_for_memory());
    assert_eq!(
        outcome,
        CommandOutcome::Completed { exit_code: 137, output: "Killed\n".to_owned() }
    );
    assert_eq!(client.execute(provider, &command).await, Ok(CommandOutcome::TimedOut));
    let body: Value = serde_json::from_str(&stand_in.asked("POST /toolbox")[0].body).unwrap();
    assert_eq!(
        body,
        json!({"command": "x", "cwd": "/tmp", "timeout": 2, "envs": {"A": "1", "SANDPOOL_EXECUTE": ID}})
    );
}

#[tokio::test]
async fn a_command_without_an_answer_is_lost_and_not_sent_again() {
    let stand_in = started().await;
    stand_in.on(&execute_route(), Answer::text(502, ""));
    let client = stand_in.client();
    let error = client.execute(client.number_of(ID), &CommandRequest::new("x", SECOND)).await;
    assert!(matches!(error, Err(ProviderError::Lost { .. })), "{error:?}");
    assert_eq!(stand_in.asked(&execute_route()).len(), 1);
}

#[tokio::test]
async fn that_a_sandbox_is_gone_is_believed_only_of_the_api() {
    let texts = [
        (
            400,
            "bad request: failed to resolve container IP after 3 attempts: no IP address found. Is the Sandbox started?",
        ),
        (404, "not found: sandbox container not found: Error: No such container: x"),
    ];
    for (status, text) in texts {
        for (state, is_gone) in [("stopped", true), ("started", false)] {
            let stand_in = StandIn::start().await;
            stand_in
                .on(&format!("GET /api/sandbox/{ID}"), stand_in.shows(ID, "blue-1-7", state))
                .on(&execute_route(), Answer::refusal(status, text));
            let client = stand_in.client();
            let command = CommandRequest::new("x", SECOND);
            match client.execute(client.number_of(ID), &command).await.unwrap_err() {
                ProviderError::Gone { .. } => assert!(is_gone, "{text} {state}"),
                ProviderError::Unavailable { .. } => assert!(!is_gone, "{text} {state}"),
                other => panic!("{text} {state}: {other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_bad_command_is_rejected() {
    let stand_in = started().await;
    stand_in.on(&execute_route(), Answer::refusal(400, "command is required"));
    let client = stand_in.client();
    let error = client.execute(client.number_of(ID), &CommandRequest::new("", SECOND)).await;
    assert!(matches!(error, Err(ProviderError::Rejected { .. })), "{error:?}");
}

#[tokio::test]
async fn files_are_written_read_listed_and_deleted() {
    let stand_in = started().await;
    let upload = format!("POST /toolbox/{ID}/files/bulk-upload");
    stand_in
        .on(&upload, Answer::json(200, &json!({"files": []})))
        .on(&format!("GET /toolbox/{ID}/files/download"), Answer::text(200, "hello"))
        .on(
            &format!("GET /toolbox/{ID}/files/download"),
            Answer::json(404, &json!({"message": "file not found", "code": "FILE_NOT_FOUND"})),
        )
        .on(
            &format!("GET /toolbox/{ID}/files"),
            Answer::json(
                200,
                &json!([
            {"name": "a", "isDir": false, "size": 5, "mode": "-rw-r--r--"}]),
            ),
        )
        .on(&format!("DELETE /toolbox/{ID}/files"), Answer::text(204, ""));
    let client = stand_in.client();
    let provider = client.number_of(ID);
    let file = FileContent { path: "/w/a b.txt".to_owned(), content: b"hello".to_vec() };
    client.write_file(provider, file).await.unwrap();
    let form = &stand_in.asked(&upload)[0].body;
    let (path, content) =
        (form.find("name=\"files[0].path\""), form.find("name=\"files[0].file\""));
    assert!(path.is_some() && path < content, "the path comes before its content: {form}");
    assert_eq!(client.read_file(provider, "/w/a b.txt&c=d").await.unwrap(), b"hello");
    let missing = client.read_file(provider, "/nowhere").await;
    assert_eq!(missing, Err(ProviderError::NoSuchFile { path: "/nowhere".to_owned() }));
    let listed = client.list_files(provider, "/w").await.unwrap();
    assert_eq!(
        (listed[0].name.as_str(), listed[0].size_bytes, listed[0].is_folder),
        ("a", 5, false)
    );
    client.delete_file(provider, "/w", true).await.unwrap();
    let asked = stand_in.asked(&format!("GET /toolbox/{ID}/files/download"));
    assert!(asked[0].line.ends_with("path=%2Fw%2Fa+b.txt%26c%3Dd"), "{}", asked[0].line);
    assert!(stand_in.asked("DELETE")[0].line.ends_with("path=%2Fw&recursive=true"));
}

#[tokio::test]
async fn prepare_steps_run_in_order_and_a_failing_one_is_told() {
    let stand_in = started().await;
    let done = Answer::json(200, &json!({"exitCode": 0, "result": ""}));
    stand_in
        .on("GET /api/sandbox/blue-1-7", stand_in.shows(ID, "blue-1-7", "started"))
        .on(
            &format!("POST /toolbox/{ID}/files/bulk-upload"),
            Answer::json(200, &json!({"files": []})),
        )
        .on(&execute_route(), done.clone())
        .on(&execute_route(), done)
        .on(
            &execute_route(),
            Answer::json(200, &json!({"exitCode": 3, "result": "no such module"})),
        );
    let mut options = options(&format!("{}/api", stand_in.address));
    options.templates[0].prepare = toml::from_str::<PrepareSteps>(
        "working_directory = '/w'\npackages = [\"a'b\"]\ncommands = ['one', 'two']\nfiles = [{ path = 'x', content = 'y' }]",
    )
    .unwrap();
    let client = Daytona::new(options).unwrap();
    let error = client.prepare(by_name(), CLASS).await.unwrap_err();
    assert!(
        matches!(&error, ProviderError::Errored { detail } if detail.contains("no such module"))
    );
    let asked: Vec<_> =
        stand_in.asked("POST /toolbox").into_iter().map(|asked| asked.body).collect();
    assert_eq!(asked.len(), 4, "the second command is not run");
    assert!(asked[0].contains("mkdir -p '/w'"));
    assert!(asked[1].contains("/w/x"));
    assert!(asked[2].contains("pip install") && asked[2].contains("'a'\\\\''b'"), "{}", asked[2]);
    assert!(asked[3].contains("\"command\":\"one\"") && asked[3].contains("\"cwd\":\"/w\""));
}
