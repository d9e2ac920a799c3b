//! What is left of a sandbox's processes and files: nothing.

use super::client::{entries, is_running, soon};
use super::{Client, roomy, served};
use sandpool_sim::{DaytonaApi, DaytonaApiOptions};
use serde_json::{Value, json};

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

#[tokio::test]
async fn who_only_looks_into_a_sandbox_is_left_alone() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    let process = stray(&client, &id).await;
    let mut visitor = std::process::Command::new("sleep")
        .arg("300")
        .current_dir(api.directory().join(&id).join("fs/home/daytona"))
        .spawn()
        .expect("a process");
    client.stop(&id).await;
    soon("the sandbox's own is gone", || !is_running(process)).await;
    client.remove(&id).await;
    let root = api.directory().to_owned();
    soon("the directory is gone", || entries(&root) == 0).await;
    api.stop().await;
    let is_left_alone = is_running(visitor.id());
    visitor.kill().expect("it is ours");
    visitor.wait().expect("it was started here");
    assert!(is_left_alone, "a process that nobody of the sandbox started was killed");
}

#[tokio::test]
async fn who_cleared_its_environment_and_stayed_in_its_group_dies_with_the_sandbox() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    // Its leader has ended and been waited for: only the group's number tells whose it is.
    let command = "env -i sh -c 'echo $$ >stray; exec sleep 300' >/dev/null 2>&1 </dev/null &\n\
                   while [ ! -s stray ]; do sleep 0.01; done; cat stray";
    let (_, output) = client.execute(&id, command).await;
    let process: u32 = output.trim().parse().expect("a process id");
    assert!(is_running(process), "it outlives its command");
    client.stop(&id).await;
    soon("it died with the stop", || !is_running(process)).await;
    api.stop().await;
}

/// One whose own work takes no time at all.
async fn served_in_no_time() -> (DaytonaApi, Client) {
    let options =
        DaytonaApiOptions { speed: 1e6, account: roomy(), ..DaytonaApiOptions::default() };
    let api = DaytonaApi::start(options).await.expect("a free port");
    let client = Client::new(&api.url(), api.api_key());
    (api, client)
}

#[tokio::test]
async fn a_stop_that_is_followed_at_once_by_a_start_ends_what_ran() {
    let (api, client) = served_in_no_time().await;
    let never = json!({ "autoStopInterval": 0 });
    for _ in 0..10 {
        let id = client.create(never.clone()).await;
        let process = stray(&client, &id).await;
        let path = format!("/api/sandbox/{id}");
        client.post(&format!("{path}/stop"), Value::Null).await.with(200);
        client.post(&format!("{path}/start"), Value::Null).await.with(200);
        client.until(&id, "started").await;
        // Whoever comes first does not meet it any more.
        assert_eq!(client.execute(&id, "true").await, (0, String::new()));
        assert!(!is_running(process), "it should have died with the stop");
    }
    api.stop().await;
}

#[tokio::test]
async fn what_starts_while_its_sandbox_stops_is_gone_with_it() {
    let (api, client) = served_in_no_time().await;
    let id = client.create(json!({ "autoStopInterval": 0 })).await;
    let (execute, path) = (format!("/toolbox/{id}/process/execute"), format!("/api/sandbox/{id}"));
    // It leaves its process group at once, and nobody waits for it.
    let leaves = json!({ "command": "setsid sleep 300 >/dev/null 2>&1 </dev/null &" }).to_string();
    for _ in 0..60 {
        let begun: Vec<_> = (0..4)
            .map(|_| {
                let (client, execute, leaves) = (client.clone(), execute.clone(), leaves.clone());
                tokio::spawn(async move {
                    client.try_send("POST", &execute, "application/json", leaves).await
                })
            })
            .collect();
        client.post(&format!("{path}/stop"), Value::Null).await;
        for task in begun {
            task.await.expect("it does not panic");
        }
        client.until(&id, "stopped").await;
        soon("nothing is left", || marked(&id) == 0).await;
        client.post(&format!("{path}/start"), Value::Null).await.with(200);
        client.until(&id, "started").await;
    }
    api.stop().await;
}

/// How many processes bear a sandbox's mark.
fn marked(id: &str) -> usize {
    let processes = std::fs::read_dir("/proc").expect("there are processes").flatten();
    let bears = |process: &std::fs::DirEntry| {
        let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(id)
    };
    let numbered =
        processes.filter(|it| it.file_name().to_string_lossy().bytes().all(|b| b.is_ascii_digit()));
    numbered.filter(bears).count()
}
