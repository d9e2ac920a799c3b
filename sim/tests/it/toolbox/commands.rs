//! Commands really run, with their environment, their directory and their limits.

use super::{served, served_with};
use sandpool_sim::CommandExecution;
use serde_json::json;
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_command_runs_with_its_environment_and_in_its_directory() {
    let (api, client) = served().await;
    let id = client.create(json!({ "env": { "A": "sandbox", "B": "sandbox" } })).await;
    let path = format!("/toolbox/{id}/process/execute");
    let body = json!({ "command": "echo $A $B; echo err >&2; exit 7", "envs": { "B": "request" } });
    let ended = client.post(&path, body).await.with(200);
    assert_eq!(ended, json!({ "exitCode": 7, "result": "sandbox request\nerr\n" }));
    // What the process that serves it has in its environment stays there.
    assert!(std::env::var("CARGO_MANIFEST_DIR").is_ok(), "there is something that could leak");
    let (_, environment) = client.execute(&id, "env").await;
    assert!(!environment.contains("CARGO_MANIFEST_DIR"), "{environment}");
    let (_, home) = client.execute(&id, "pwd; echo $HOME; echo $DAYTONA_HOME").await;
    let lines: Vec<&str> = home.lines().collect();
    assert!(lines[0].ends_with("/home/daytona"), "{home}");
    assert_eq!(lines, [lines[0]; 3]);
    client.execute(&id, "mkdir -p deep/er").await;
    for cwd in ["deep/er", "/home/daytona/deep/er"] {
        let body = json!({ "command": "pwd", "cwd": cwd });
        let ended = client.post(&path, body).await.with(200);
        assert_eq!(ended["result"], format!("{}/deep/er\n", lines[0]), "{cwd}");
    }
    let body = json!({ "command": "pwd", "cwd": "/no/such/directory" });
    let ended = client.post(&path, body).await.with(200);
    assert_eq!(ended["exitCode"], -1, "{ended}");
    api.stop().await;
}

#[tokio::test]
async fn bad_requests_are_refused() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    let path = format!("/toolbox/{id}/process/execute");
    for (body, code) in [
        (json!({}), "BAD_REQUEST"),
        (json!({ "command": " \n" }), "BAD_REQUEST"),
        (json!({ "command": "true", "envs": { "1A": "x" } }), "BAD_REQUEST"),
        (json!({ "command": 5 }), "INVALID_REQUEST_BODY"),
    ] {
        let refused = client.post(&path, body).await.refused(400, code);
        assert_eq!(refused["source"], "DAYTONA_DAEMON");
        assert_eq!(
            (&refused["path"], &refused["method"]),
            (&json!("/process/execute"), &json!("POST"))
        );
    }
    let path = format!("/toolbox/{id}/process/code-run");
    let body = json!({ "code": "x", "language": "cobol" });
    client.post(&path, body).await.refused(400, "BAD_REQUEST");
    api.stop().await;
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "a time limit on the clock on the wall is tested")]
async fn at_the_time_limit_the_whole_process_group_dies() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    let body = json!({ "command": "sleep 300 & echo $! >child; wait", "timeout": 1 });
    let begun = Instant::now();
    let refused = client.post(&format!("/toolbox/{id}/process/execute"), body).await;
    let refused = refused.refused(408, "PROCESS_EXECUTION_TIMEOUT");
    assert_eq!(refused["message"], "command execution timeout");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    let child = client.download(&id, "child").await.text();
    let child: u32 = child.trim().parse().expect("a process id");
    super::client::soon("the child has ended", || !super::client::is_running(child)).await;
    api.stop().await;
}

#[tokio::test]
async fn much_output_is_cut_and_does_not_block_the_command() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    let (code, output) =
        client.execute(&id, "head -c 20000000 /dev/zero | tr '\\0' x; exit 5").await;
    assert_eq!(code, 5);
    assert!(output.ends_with("\n[output cut after 8388608 bytes]\n"), "{}", output.len());
    assert_eq!(output.len(), 8_388_608 + "\n[output cut after 8388608 bytes]\n".len());
    api.stop().await;
}

#[tokio::test]
async fn a_command_goes_on_when_its_client_goes_away() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    let impatient = client.execute(&id, "sleep 0.5; echo done >note");
    assert!(tokio::time::timeout(Duration::from_millis(100), impatient).await.is_err());
    for _ in 0..500 {
        if client.download(&id, "note").await.status == 200 {
            api.stop().await;
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the command did not go on");
}

#[tokio::test]
async fn python_runs_with_arguments_and_a_time_limit() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    let path = format!("/toolbox/{id}/process/code-run");
    let code = "import os, sys\nprint(sys.argv[1:], os.environ['X'])\nsys.exit(3)";
    let body = json!({ "code": code, "language": "python", "argv": ["a b"], "envs": { "X": "y" } });
    let ended = client.post(&path, body).await.with(200);
    let wanted = json!({ "exitCode": 3, "result": "['a b'] y\n", "artifacts": { "charts": [] } });
    assert_eq!(ended, wanted);
    let code = "import time\ntime.sleep(300)";
    let body = json!({ "code": code, "language": "python", "timeout": 1 });
    client.post(&path, body).await.refused(408, "PROCESS_EXECUTION_TIMEOUT");
    api.stop().await;
}

#[tokio::test]
async fn without_execution_commands_end_at_once_and_files_are_kept() {
    let (api, client) = served_with(CommandExecution::None).await;
    let id = client.create(json!({})).await;
    assert_eq!(client.execute(&id, "echo x >made; exit 3").await, (0, String::new()));
    client.download(&id, "made").await.refused(404, "FILE_NOT_FOUND");
    client.upload(&id, "kept", "k").await.with(200);
    assert_eq!(client.download(&id, "kept").await.text(), "k");
    let sessions = format!("/toolbox/{id}/process/session");
    client.post(&sessions, json!({ "sessionId": "s" })).await.with(201);
    let body = json!({ "command": "echo x; exit 3" });
    let ended = client.post(&format!("{sessions}/s/exec"), body).await.with(200);
    assert_eq!((&ended["exitCode"], &ended["output"]), (&json!(0), &json!("")));
    api.stop().await;
}
