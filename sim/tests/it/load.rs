//! Many sandboxes and requests at once, and what is left of them.
#![expect(clippy::disallowed_methods, reason = "how long real processes take is what is measured")]

use crate::support::SMALL;
use crate::toolbox::{Client, Served, entries, soon};
use nix::sys::signal::Signal;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// A provider that refuses nobody and is quick.
const ROOMY: &str = r#"
[provider]
create_seconds = 0.01
delete_seconds = 0.01
call_seconds = 0
creates_per_minute = "unlimited"
lifecycle_per_minute = "unlimited"
list_lag_seconds = 0

[provider.quota]
max_sandboxes = "unlimited"
max_memory_gb = "unlimited"
max_cpu = "unlimited"
max_disk_gb = "unlimited"
"#;

/// How much.
struct Load {
    sandboxes: usize,
    requests: u32,
    requests_per_second: u32,
    rounds: u32,
    /// Rounds under way at once.
    at_once: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_little_load_leaves_nothing() {
    carry(Load {
        sandboxes: 40,
        requests: 1000,
        requests_per_second: 500,
        rounds: 100,
        at_once: 8,
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes; the short form above runs always"]
async fn a_great_load_leaves_nothing() {
    carry(Load {
        sandboxes: 200,
        requests: 20_000,
        requests_per_second: 1000,
        rounds: 10_000,
        at_once: 16,
    })
    .await;
}

/// Open file handles, and processes whose parent it is.
#[derive(Debug, PartialEq, Eq)]
struct Held {
    handles: usize,
    children: usize,
}

fn held(process: u32) -> Held {
    let handles = entries(Path::new(&format!("/proc/{process}/fd")));
    let is_child = |path: PathBuf| {
        let text = std::fs::read_to_string(path.join("stat")).unwrap_or_default();
        // The name in brackets may hold anything; the state and the parent follow it.
        let rest = text.rsplit_once(") ").map(|(_, rest)| rest.to_owned());
        rest.and_then(|rest| rest.split(' ').nth(1)?.parse().ok()) == Some(process)
    };
    let processes = std::fs::read_dir("/proc").expect("there is /proc");
    let children = processes.flatten().filter(|entry| is_child(entry.path())).count();
    Held { handles, children }
}

async fn carry(load: Load) {
    let temporary = tempfile::tempdir().expect("a directory");
    let folder = tempfile::tempdir().expect("a directory");
    let scenario = folder.path().join("roomy.toml");
    std::fs::write(&scenario, format!("{SMALL}{ROOMY}")).expect("it can be written");
    let scenario = scenario.to_string_lossy().into_owned();
    let served = Served::start(temporary.path(), &["--scenario", &scenario]);
    let (client, process) = (served.client.clone(), served.child.id());
    let root = std::fs::read_dir(temporary.path()).expect("it is there").flatten().next();
    let root = root.expect("a directory for sandboxes").path();
    round(&client).await;
    soon("the first is gone", || entries(&root) == 0).await;
    let before = held(process);

    let begun = Instant::now();
    let creates = (0..load.sandboxes).map(|_| {
        let client = client.clone();
        tokio::spawn(async move { client.create(json!({})).await })
    });
    let mut sandboxes = Vec::new();
    for create in creates.collect::<Vec<_>>() {
        sandboxes.push(create.await.expect("it was created"));
    }
    let commands = sandboxes.iter().map(|id| {
        let (client, id) = (client.clone(), id.clone());
        tokio::spawn(async move { (client.execute(&id, &format!("echo {id}")).await, id) })
    });
    for command in commands.collect::<Vec<_>>() {
        let ((code, output), id) = command.await.expect("it ran");
        assert_eq!((code, output), (0, format!("{id}\n")));
    }
    println!("{} sandboxes at once: {:.1} s", sandboxes.len(), begun.elapsed().as_secs_f64());

    requests(&client, &load, &sandboxes).await;
    let deletes = sandboxes.into_iter().map(|id| {
        let client = client.clone();
        tokio::spawn(async move { client.remove(&id).await })
    });
    for delete in deletes.collect::<Vec<_>>() {
        delete.await.expect("it was deleted");
    }

    let begun = Instant::now();
    let permits = Arc::new(Semaphore::new(load.at_once));
    let mut rounds = Vec::new();
    for _ in 0..load.rounds {
        let permit = Arc::clone(&permits).acquire_owned().await.expect("it stays open");
        let client = client.clone();
        rounds.push(tokio::spawn(async move {
            round(&client).await;
            drop(permit);
        }));
    }
    for round in rounds {
        round.await.expect("a round without an error");
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{} rounds: {seconds:.1} s, {:.0} a second",
        load.rounds,
        f64::from(load.rounds) / seconds
    );

    soon("no directory is left", || entries(&root) == 0).await;
    // Connections of this client stay open for a while, and are no leak.
    drop(client);
    let allowed = before.handles + 8;
    soon("no process is left", || held(process).children == before.children).await;
    let mut served = served;
    served.client = Client::new("http://127.0.0.1:1/api", "");
    soon("no handle is left", || held(process).handles <= allowed).await;
    println!("before: {before:?}, after: {:?}", held(process));
    assert_eq!(served.end(Signal::SIGTERM), Some(0));
    assert_eq!(entries(temporary.path()), 0, "files are left");
}

/// A sandbox's short life, with one command in it.
async fn round(client: &Client) {
    let id = client.create(json!({})).await;
    let (code, output) =
        client.execute(&id, "echo round > note; (sleep 60 &) >/dev/null 2>&1; cat note").await;
    assert_eq!((code, output.as_str()), (0, "round\n"));
    client.remove(&id).await;
}

/// So many requests a second, whether the answers come as fast or not.
async fn requests(client: &Client, load: &Load, sandboxes: &[String]) {
    let begun = Instant::now();
    let mut due = tokio::time::interval(Duration::from_secs(1) / load.requests_per_second);
    let mut under_way = Vec::new();
    for number in 0..load.requests {
        due.tick().await;
        let (client, id) = (client.clone(), sandboxes[number as usize % sandboxes.len()].clone());
        under_way.push(tokio::spawn(async move {
            let path = match number % 10 {
                0 => "/api/sandbox?limit=10".to_owned(),
                1..=3 => format!("/toolbox/{id}/files"),
                4 => format!("/toolbox/{id}/work-dir"),
                _ => format!("/api/sandbox/{id}"),
            };
            let sent = Instant::now();
            client.get(&path).await.with(200);
            sent.elapsed()
        }));
    }
    let mut latencies = Vec::new();
    for request in under_way {
        latencies.push(request.await.expect("a request without an error"));
    }
    let seconds = begun.elapsed().as_secs_f64();
    latencies.sort();
    let at = |share: usize| latencies[(latencies.len() - 1) * share / 100];
    println!(
        "{} requests: {:.0} a second, p50 {:?}, p99 {:?}",
        load.requests,
        f64::from(load.requests) / seconds,
        at(50),
        at(99)
    );
}
