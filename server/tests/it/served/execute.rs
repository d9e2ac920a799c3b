//! Executes: commands and code, at once and as a stream.

use super::{Caller, QUICK, Served, folder};
use serde_json::{Value, json};

/// A stream of events, read one by one.
struct Stream {
    response: reqwest::Response,
    buffer: String,
}

impl Stream {
    async fn open(caller: &Caller, conversation: &str, body: Value) -> Self {
        let response = ask(caller, conversation, body).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, buffer: String::new() }
    }

    /// The next event and its data; `None` at the end.
    async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some((event, rest)) = self.buffer.split_once("\n\n") {
                let field = |name: &str| {
                    event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned)
                };
                let found = field("event: ").zip(field("data: "));
                self.buffer = rest.to_owned();
                let Some((kind, data)) = found else { continue };
                return Some((kind, serde_json::from_str(&data).unwrap()));
            }
            let chunk = self.response.chunk().await.unwrap()?;
            self.buffer.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// What is written until `text` is there.
    async fn until(&mut self, text: &str) -> String {
        let mut seen = String::new();
        while !seen.contains(text) {
            match self.next().await.expect("more comes") {
                (kind, data) if kind == "output" => seen.push_str(data["text"].as_str().unwrap()),
                (kind, data) => assert_eq!(kind, "waiting", "{data}"),
            }
        }
        seen
    }
}

async fn ask(caller: &Caller, conversation: &str, body: Value) -> reqwest::Response {
    let url = format!("{}{conversation}/execute", caller.url);
    let request = caller.client.post(url).bearer_auth(&caller.key).json(&body);
    request.header("accept", "text/event-stream").send().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn output_comes_while_the_command_runs() {
    let folder = folder();
    let served = Served::start(folder.path(), QUICK);
    let caller = Caller::new(&served, &served.keys[1]);
    let conversation = caller.open().await;
    let go = folder.path().join("go");
    let command = format!(
        "echo one; echo $A >&2; pwd; while [ ! -e {} ]; do sleep 0.02; done; printf two; exit 3",
        go.display()
    );
    let body = json!({
        "command": command, "environment": { "A": "it's" }, "working_directory": "/tmp"
    });
    let mut stream = Stream::open(&caller, &conversation, body).await;
    let seen = stream.until("/tmp\n").await;
    assert!(seen.starts_with("one\nit's\n"), "{seen}");
    // It runs: nothing else may run in this conversation, which is refused with a status.
    let refused = ask(&caller, &conversation, json!({ "command": "true" })).await;
    assert_eq!(refused.status(), 409);
    std::fs::write(go, "").unwrap();
    assert_eq!(stream.until("two").await, "two");
    let (kind, answer) = stream.next().await.unwrap();
    assert_eq!((kind.as_str(), &answer["result"]["outcome"]), ("result", &json!("completed")));
    assert_eq!(answer["result"]["exit_code"], 3);
    assert_eq!(answer["result"]["output"], format!("{seen}two"));
    assert!(stream.next().await.is_none());
    // The next one is none of its business.
    let next = caller.execute(&conversation, "echo after").await;
    assert_eq!(next["result"]["output"], "after\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_streamed_command_keeps_its_time_limit_and_ends_when_it_is_cancelled() {
    let folder = folder();
    let served = Served::start(folder.path(), QUICK);
    let caller = Caller::new(&served, &served.keys[1]);
    let conversation = caller.open().await;
    let late = json!({ "command": "echo $$; exec sleep 300", "timeout_seconds": 1 });
    let mut stream = Stream::open(&caller, &conversation, late).await;
    let process: i32 = stream.until("\n").await.trim().parse().unwrap();
    let (_, answer) = stream.next().await.unwrap();
    assert_eq!(answer["result"]["outcome"], "timed_out");
    assert!(is_over(process).await, "it was stopped");
    let endless = json!({ "command": "echo $$; exec sleep 300" });
    let mut stream = Stream::open(&caller, &conversation, endless.clone()).await;
    let process: i32 = stream.until("\n").await.trim().parse().unwrap();
    caller.post(&format!("{conversation}/cancel"), json!({})).await;
    let (_, answer) = stream.next().await.unwrap();
    assert_eq!(answer["result"]["reason"], "cancelled", "{answer}");
    assert!(is_over(process).await, "it was stopped");
    // Who goes away leaves it running: it is the conversation's, and can be cancelled.
    let mut stream = Stream::open(&caller, &conversation, endless).await;
    let process: i32 = stream.until("\n").await.trim().parse().unwrap();
    drop(stream);
    let (status, _) =
        caller.post(&format!("{conversation}/execute"), json!({ "command": "true" })).await;
    assert_eq!(status, 409);
    caller.post(&format!("{conversation}/cancel"), json!({})).await;
    assert!(is_over(process).await, "it was stopped");
}

/// Waits until a process has ended.
async fn is_over(process: i32) -> bool {
    for _ in 0..500 {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
        if stat.map_or(true, |text| text.contains(") Z ")) {
            return true;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    false
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_says_why_it_waits_and_how_it_ends_without_a_sandbox() {
    let folder = folder();
    let full = format!("{QUICK}\n")
        .replace("[server]\n", "[server]\nmax_sandboxes = 1\nborrow_keep_free = 0\n");
    let served = Served::start(folder.path(), &full);
    let caller = Caller::new(&served, &served.keys[1]);
    let (holder, other) = (caller.open().await, caller.open().await);
    caller.post(&format!("{holder}/turns"), json!({})).await;
    caller.execute(&holder, "true").await;
    let body = json!({ "command": "true", "patience_seconds": 0.5 });
    let mut stream = Stream::open(&caller, &other, body).await;
    let (kind, why) = stream.next().await.unwrap();
    assert_eq!((kind.as_str(), &why["position"]), ("waiting", &json!(0)), "{why}");
    let (kind, answer) = stream.next().await.unwrap();
    assert_eq!(kind, "result");
    assert_eq!(answer["result"]["outcome"], "unavailable", "{answer}");
    assert_eq!(answer["result"]["reason"], "full", "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn code_runs_in_its_interpreter_and_mistakes_are_named() {
    let folder = folder();
    let served = Served::start(folder.path(), QUICK);
    let caller = Caller::new(&served, &served.keys[1]);
    let conversation = caller.open().await;
    let path = format!("{conversation}/execute");
    let code = json!({ "code": "import os\nprint(6 * 7, os.environ['A'])", "language": "python", "environment": { "A": "b" } });
    let (_, answer) = caller.post(&path, code.clone()).await;
    assert_eq!(answer["result"]["output"], "42 b\n", "{answer}");
    let mut stream = Stream::open(&caller, &conversation, code).await;
    assert_eq!(stream.until("\n").await, "42 b\n");
    assert_eq!(stream.next().await.unwrap().1["result"]["exit_code"], 0);
    for wrong in [
        json!({}),
        json!({ "command": "true", "code": "1", "language": "python" }),
        json!({ "code": "1" }),
        json!({ "command": "true", "language": "python" }),
        json!({ "code": "1", "language": "cobol" }),
        json!({ "code": "1", "language": "python", "working_directory": "/" }),
        json!({ "command": " " }),
    ] {
        let (status, answer) = caller.post(&path, wrong.clone()).await;
        assert!(status == 400 || status == 422, "{wrong}: {status} {answer}");
        assert_eq!(answer["code"], "invalid_request", "{wrong}: {answer}");
    }
    let keyed = caller
        .client
        .post(format!("{}{path}", caller.url))
        .bearer_auth(&caller.key)
        .header("accept", "text/event-stream")
        .header("idempotency-key", "k")
        .json(&json!({ "command": "true" }))
        .send()
        .await
        .unwrap();
    assert_eq!(keyed.status(), 400);
}
