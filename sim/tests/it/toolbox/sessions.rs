//! Sessions: a shell that stays.

use super::client::soon;
use super::{Client, roomy, served};
use sandpool_sim::{AccountSettings, DaytonaApi, DaytonaApiOptions};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

#[tokio::test]
async fn a_session_keeps_its_directory_and_variables() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    let sessions = format!("/toolbox/{id}/process/session");
    client.post(&sessions, json!({ "sessionId": "s" })).await.with(201);
    client.post(&sessions, json!({ "sessionId": "s" })).await.refused(409, "CONFLICT");
    client.post(&sessions, json!({})).await.refused(400, "BAD_REQUEST");
    let run = |command: &'static str| {
        let (client, path) = (client.clone(), format!("{sessions}/s/exec"));
        async move { client.post(&path, json!({ "command": command })).await.with(200) }
    };
    let ended = run("mkdir w; cd w; X='5 6'; echo out; echo err >&2; false").await;
    let parts = [&ended["exitCode"], &ended["stdout"], &ended["stderr"], &ended["output"]];
    assert_eq!(parts, [&json!(1), &json!("out\n"), &json!("err\n"), &json!("out\nerr\n")]);
    assert_eq!(run("basename $PWD; echo $X").await["output"], "w\n5 6\n");
    // A quote that is never closed is that command's own mistake.
    let ended = run("echo 'unclosed").await;
    assert_ne!(ended["exitCode"], 0, "{ended}");
    assert_eq!(run("cat <<END\nhere\nEND\n").await["output"], "here\n");
    let view = client.get(&format!("{sessions}/s")).await.with(200);
    assert_eq!(view["commands"].as_array().map(Vec::len), Some(4));
    let listed = client.get(&sessions).await.with(200);
    assert_eq!(listed[0]["sessionId"], "s");
    client.delete(&format!("{sessions}/s")).await.with(204);
    client.get(&format!("{sessions}/s")).await.refused(404, "NOT_FOUND");
    client.delete(&format!("{sessions}/s")).await.refused(404, "NOT_FOUND");
    api.stop().await;
}

#[tokio::test]
async fn a_command_in_the_background_is_given_input() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    let sessions = format!("/toolbox/{id}/process/session");
    client.post(&sessions, json!({ "sessionId": "s" })).await.with(201);
    let body = json!({ "command": "read line; echo got $line", "runAsync": true });
    let begun = client.post(&format!("{sessions}/s/exec"), body).await.with(202);
    let command = format!("{sessions}/s/command/{}", begun["cmdId"].as_str().expect("an id"));
    let view = client.get(&command).await.with(200);
    assert!(view.get("exitCode").is_none(), "{view}");
    client.post(&format!("{command}/input"), json!({ "data": "it\n" })).await.with(204);
    while client.get(&command).await.with(200).get("exitCode").is_none() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let logs = client.get(&format!("{command}/logs")).await.with(200);
    assert_eq!(logs["stdout"], "got it\n");
    let late = client.post(&format!("{command}/input"), json!({ "data": "x" })).await;
    late.refused(410, "COMMAND_ALREADY_COMPLETED");
    client.get(&format!("{sessions}/s/command/none/logs")).await.refused(404, "NOT_FOUND");
    api.stop().await;
}

#[tokio::test]
async fn a_session_whose_shell_has_ended_takes_no_more() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    let sessions = format!("/toolbox/{id}/process/session");
    client.post(&sessions, json!({ "sessionId": "s" })).await.with(201);
    let exec = format!("{sessions}/s/exec");
    let ended = client.post(&exec, json!({ "command": "exit 4" })).await.with(200);
    assert_eq!(ended["exitCode"], 4);
    client.post(&exec, json!({ "command": "true" })).await.refused(410, "SESSION_ENDED");
    api.stop().await;
}

#[tokio::test]
async fn sessions_end_when_they_are_deleted_and_when_the_sandbox_stops() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    let sessions = format!("/toolbox/{id}/process/session");
    for name in ["a", "b"] {
        client.post(&sessions, json!({ "sessionId": name })).await.with(201);
    }
    let mut shells = Vec::new();
    for name in ["a", "b"] {
        let body = json!({ "command": "echo $$" });
        let told = client.post(&format!("{sessions}/{name}/exec"), body).await.with(200);
        let shell: u32 = told["stdout"].as_str().expect("text").trim().parse().expect("a number");
        assert!(super::client::is_running(shell));
        shells.push(shell);
    }
    client.delete(&format!("{sessions}/a")).await.with(204);
    soon("the shell has ended", || !super::client::is_running(shells[0])).await;
    client.stop(&id).await;
    soon("the shell has ended", || !super::client::is_running(shells[1])).await;
    client.post(&format!("/api/sandbox/{id}/start"), json!({})).await.with(200);
    client.until(&id, "started").await;
    assert_eq!(client.get(&sessions).await.with(200), json!([]));
    api.stop().await;
}

#[tokio::test]
async fn input_that_nobody_reads_waits_no_longer_than_the_command() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    let sessions = format!("/toolbox/{id}/process/session");
    client.post(&sessions, json!({ "sessionId": "s" })).await.with(201);
    // More than a pipe holds, for one that reads it slowly and for one that never does.
    let much = "x".repeat(200_000);
    for (text, status) in [("sleep 0.3; wc -c | tr -d ' '", None), ("sleep 0.3", Some(410))] {
        let body = json!({ "command": text, "runAsync": true });
        let begun = client.post(&format!("{sessions}/s/exec"), body).await.with(202);
        let command = format!("{sessions}/s/command/{}", begun["cmdId"].as_str().expect("an id"));
        let input = format!("{command}/input");
        let given = client.post(&input, json!({ "data": much }));
        let given = tokio::time::timeout(Duration::from_secs(20), given).await;
        let given = given.unwrap_or_else(|_| panic!("the input of {text:?} waits for ever"));
        assert_eq!(given.status, status.unwrap_or(204), "{text}: {}", given.text());
        if status.is_none() {
            // It reads until the end of its input, which does not come.
            assert!(client.get(&command).await.with(200).get("exitCode").is_none());
            client.delete(&format!("{sessions}/s")).await.with(204);
            client.post(&sessions, json!({ "sessionId": "s" })).await.with(201);
        }
    }
    api.stop().await;
}

#[tokio::test]
async fn a_session_command_whose_client_has_gone_does_not_keep_auto_stop_away() {
    let account = AccountSettings { api_key: "dtn_test".to_owned(), ..roomy() };
    // A minute is half a second.
    let options = DaytonaApiOptions { account, speed: 120.0, ..DaytonaApiOptions::default() };
    let api = DaytonaApi::start(options).await.expect("a free port");
    let client = Client::new(&api.url(), api.api_key());
    let id = client.create(json!({ "autoStopInterval": 1 })).await;
    let sessions = format!("/toolbox/{id}/process/session");
    client.post(&sessions, json!({ "sessionId": "s" })).await.with(201);
    let path = format!("{sessions}/s/exec");
    let impatient = client.post(&path, json!({ "command": "sleep 300" }));
    // It is kept away while the client waits, and for longer than the interval.
    assert!(tokio::time::timeout(Duration::from_millis(1500), impatient).await.is_err());
    assert_eq!(client.get(&format!("/api/sandbox/{id}")).await.json()["state"], "started");
    client.until(&id, "stopped").await;
    api.stop().await;
}

#[tokio::test]
async fn the_output_of_a_command_takes_no_more_room_than_its_limit() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    let sessions = format!("/toolbox/{id}/process/session");
    client.post(&sessions, json!({ "sessionId": "s" })).await.with(201);
    // What it leaves behind writes on after its end, and is not told that nobody reads.
    let command = "head -c 20000000 /dev/zero | tr '\\0' x; \
                   (while [ ! -e go ]; do sleep 0.01; done; head -c 1000000 /dev/zero; echo $? >told) & \
                   (exit 7)";
    let ended = client.post(&format!("{sessions}/s/exec"), json!({ "command": command })).await;
    let ended = ended.with(200);
    assert_eq!(ended["exitCode"], 7);
    let stdout = ended["stdout"].as_str().expect("an output");
    assert!(stdout.ends_with("[output cut after 8388608 bytes]\n"), "{}", stdout.len());
    assert!(stdout[..8_388_608].bytes().all(|byte| byte == b'x'));
    let (_, _) = client.execute(&id, "touch go").await;
    let home = api.directory().join(&id).join("fs/home/daytona");
    let told = || std::fs::read_to_string(home.join("told")).unwrap_or_default();
    soon("it wrote everything", || told() == "0\n").await;
    let kept = size_of(&api.directory().join(&id).join("private"));
    assert!(kept < 9_000_000, "{kept} bytes are kept");
    api.stop().await;
}

#[tokio::test]
async fn all_that_a_command_wrote_is_there_when_it_has_ended() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    let sessions = format!("/toolbox/{id}/process/session");
    client.post(&sessions, json!({ "sessionId": "s" })).await.with(201);
    for round in 0..50 {
        let command = format!("printf %s {round}; printf %060000d 7 >&2");
        let ended = client.post(&format!("{sessions}/s/exec"), json!({ "command": command })).await;
        let ended = ended.with(200);
        assert_eq!(ended["stdout"], round.to_string());
        assert_eq!(ended["stderr"].as_str().map(str::len), Some(60_000));
    }
    api.stop().await;
}

/// Bytes of all files below a directory.
fn size_of(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).expect("it is there").flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => size_of(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}
