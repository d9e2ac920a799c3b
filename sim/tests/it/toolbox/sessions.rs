//! Sessions: a shell that stays.

use super::client::soon;
use super::served;
use serde_json::json;

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
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
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
