//! What is left of a sandbox's processes and files: nothing.

use super::client::{entries, is_running, soon};
use super::{Client, served};
use serde_json::json;

/// Starts a process that outlives its command and has left its process group; the answer is its
/// process id.
async fn stray(client: &Client, id: &str) -> u32 {
    let command = "setsid sh -c 'echo $$ >stray; exec sleep 300' >/dev/null 2>&1 </dev/null &\n\
                   while [ ! -s stray ]; do sleep 0.01; done; cat stray";
    let (code, output) = client.execute(id, command).await;
    assert_eq!(code, 0, "{output}");
    output.trim().parse().expect("a process id")
}

#[tokio::test]
async fn a_process_that_outlives_its_command_dies_with_the_sandbox() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    let process = stray(&client, &id).await;
    assert_eq!(client.execute(&id, "true").await.0, 0);
    assert!(is_running(process), "it outlives its command");
    client.stop(&id).await;
    soon("it died with the stop", || !is_running(process)).await;
    let other = client.create(json!({})).await;
    let process = stray(&client, &other).await;
    client.remove(&other).await;
    soon("it died with the sandbox", || !is_running(process)).await;
    api.stop().await;
}

#[tokio::test]
async fn the_directory_of_a_deleted_sandbox_goes() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    client.execute(&id, "mkdir locked; touch locked/file; chmod 000 locked").await;
    let root = api.directory().to_owned();
    assert_eq!(entries(&root), 1);
    client.remove(&id).await;
    soon("the directory is gone", || entries(&root) == 0).await;
    api.stop().await;
    assert!(!root.exists(), "the directory of all of them is left");
}

#[tokio::test]
async fn stopping_and_dropping_leave_nothing() {
    for is_dropped in [false, true] {
        let (api, client) = served().await;
        let id = client.create(json!({})).await;
        let process = stray(&client, &id).await;
        let (other, sandbox) = (client.clone(), id.clone());
        let running = tokio::spawn(async move {
            let path = format!("/toolbox/{sandbox}/process/execute");
            let body = json!({ "command": "echo $$ >running; sleep 300" }).to_string();
            other.try_send("POST", &path, "application/json", body).await
        });
        let note = api.directory().join(&id).join("fs/home/daytona/running");
        soon("it has begun", || std::fs::read_to_string(&note).is_ok_and(|text| !text.is_empty()))
            .await;
        let shell = std::fs::read_to_string(&note).expect("a note");
        let shell: u32 = shell.trim().parse().expect("a process id");
        let root = api.directory().to_owned();
        if is_dropped {
            drop(api)
        } else {
            api.stop().await
        }
        assert!(!root.exists(), "the directory is left");
        soon("both have ended", || !is_running(process) && !is_running(shell)).await;
        let _ = running.await;
    }
}

#[test]
fn a_panic_leaves_nothing() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let panicked = std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let (api, client) = served().await;
            let id = client.create(json!({})).await;
            let process = stray(&client, &id).await;
            sender.send((api.directory().to_owned(), process)).expect("somebody listens");
            panic!("on purpose, by a test");
        });
    })
    .join();
    assert!(panicked.is_err());
    let (root, process) = receiver.recv().expect("it came so far");
    assert!(!root.exists(), "the directory is left");
    assert!(!is_running(process), "a process is left");
}
