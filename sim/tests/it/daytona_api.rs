//! The simulated Daytona over HTTP, in this process.

use sandpool_core::{Span, Time};
use sandpool_sim::{
    Account, AccountSettings, ApiOutcome, Call, Caller, DaytonaApi, DaytonaApiOptions,
};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An answer as it came.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    text: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {}", self.text))
    }

    fn message(&self) -> String {
        self.json()["message"].as_str().expect("a message").to_owned()
    }
}

/// Somebody who calls.
#[derive(Clone, Debug)]
struct Client {
    address: SocketAddr,
    key: String,
}

impl Client {
    fn of(api: &DaytonaApi) -> Self {
        Self { address: api.address(), key: api.api_key().to_owned() }
    }

    /// One call on a connection of its own; `None` if the connection ends without a byte.
    async fn ask(&self, method: &str, path: &str, body: Option<&str>) -> Option<Answer> {
        let mut stream = TcpStream::connect(self.address).await.expect("it listens");
        let body = body.unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {}\
             \r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.key,
            body.len()
        );
        // Where the server does not read all of it, it has answered already.
        let _ = stream.write_all(request.as_bytes()).await;
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes).await;
        if bytes.is_empty() {
            return None;
        }
        let text = String::from_utf8(bytes).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        Some(Answer {
            status: status.expect("a status"),
            head: head.to_lowercase(),
            text: body.to_owned(),
        })
    }

    async fn call(&self, method: &str, path: &str) -> Answer {
        self.ask(method, path, None).await.expect("an answer")
    }

    async fn create(&self, body: Value) -> Answer {
        let body = body.to_string();
        self.ask("POST", "/api/sandbox", Some(&body)).await.expect("an answer")
    }

    async fn control(&self, command: Value) {
        let body = command.to_string();
        let answer = self.ask("POST", "/admin/control", Some(&body)).await.expect("an answer");
        assert_eq!(answer.status, 200, "{}", answer.text);
    }

    async fn until(&self, key: &str, state: &str) {
        for _ in 0..200 {
            let answer = self.call("GET", &format!("/api/sandbox/{key}")).await;
            if answer.status == 404 && state == "gone" {
                return;
            }
            if answer.status == 200 && answer.json()["state"] == state {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("{key} is not {state}");
    }
}

async fn served(account: AccountSettings) -> (DaytonaApi, Client) {
    let options = DaytonaApiOptions { account, speed: 4.0, ..DaytonaApiOptions::default() };
    let api = DaytonaApi::start(options).await.expect("a free port");
    let client = Client::of(&api);
    (api, client)
}

#[tokio::test]
async fn a_whole_life_with_the_statuses_and_headers_of_the_real_one() {
    let (api, client) = served(AccountSettings::default()).await;
    let made = client.create(json!({"name": "a/b", "labels": {"l": "1"}})).await;
    assert_eq!((made.status, &made.json()["state"]), (200, &json!("creating")));
    assert!(made.head.contains("x-daytona-api-version: 0.190.0"), "{}", made.head);
    assert!(made.head.contains("etag: w/\""), "{}", made.head);
    let id = made.json()["id"].as_str().expect("an id").to_owned();
    let toolbox = format!("http://{}/toolbox", api.address());
    assert_eq!(made.json()["toolboxProxyUrl"], json!(toolbox));
    assert_eq!(client.call("GET", "/api/sandbox/a%2Fb").await.json()["id"], json!(id));
    assert_eq!(client.call("GET", "/api/sandbox/a/b").await.status, 404);
    for (path, status) in [
        ("autostop/7", 201),
        ("autoarchive/7", 201),
        ("autodelete/7", 201),
        ("ttl/600", 201),
        ("public/true", 201),
        ("last-activity", 201),
        ("stop?force=true", 200),
    ] {
        let answer = client.call("POST", &format!("/api/sandbox/{id}/{path}")).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text);
    }
    client.until(&id, "stopped").await;
    let started = client.call("POST", &format!("/api/sandbox/{id}/start")).await;
    assert_eq!(started.json()["state"], "started");
    let list = client.call("GET", "/api/sandbox?limit=5&labels=%7B%22l%22%3A%221%22%7D").await;
    assert_eq!(list.json()["items"][0]["id"], json!(id));
    assert_eq!(client.call("DELETE", &format!("/api/sandbox/{id}")).await.status, 200);
    client.until(&id, "gone").await;
    api.stop().await;
    assert!(TcpStream::connect(client.address).await.is_err(), "it is not served any more");
}

#[tokio::test]
async fn refusals_have_the_real_ones_bodies() {
    let (_api, client) = served(AccountSettings::default()).await;
    let unknown = client.call("GET", "/api/sandbox/nope?verbose=true").await;
    let body = unknown.json();
    assert_eq!(
        [&body["statusCode"], &body["error"], &body["path"]],
        [&json!(404), &json!("Not Found"), &json!("/api/sandbox/nope?verbose=true")]
    );
    assert!(body["timestamp"].is_string() && body.get("code").is_none(), "{body}");
    for (method, path) in [("GET", "/api/nope"), ("PATCH", "/api/sandbox/x"), ("POST", "/x")] {
        let answer = client.call(method, path).await;
        assert_eq!((answer.status, answer.message()), (404, format!("Cannot {method} {path}")));
    }
    let malformed = client.ask("POST", "/api/sandbox", Some("{bad")).await.expect("an answer");
    assert_eq!(
        malformed.json(),
        json!({"message": "Invalid JSON in request body", "error": "Bad Request",
            "statusCode": 400})
    );
    let big = format!("[{}]", " ".repeat(110_000));
    let big = client.ask("POST", "/api/sandbox", Some(&big)).await.expect("an answer");
    assert_eq!((big.status, big.message()), (404, "Cannot POST /api/sandbox".to_owned()));
    let stranger = Client { key: "dtn_wrong".to_owned(), ..client.clone() };
    assert_eq!(stranger.call("GET", "/api/sandbox").await.status, 401);
    assert_eq!(stranger.call("GET", "/api/config").await.status, 200);
    let reset = Some(r#"{"do":"reset"}"#);
    let refused = stranger.ask("POST", "/admin/control", reset).await.expect("an answer");
    assert_eq!(refused.status, 401, "the admin route wants the account's own key");
}

#[tokio::test]
async fn a_lost_answer_is_a_connection_that_ends_without_a_byte() {
    let (_api, client) = served(AccountSettings::default()).await;
    client.control(json!({"do": "lose_answer", "call": "create"})).await;
    let body = json!({"name": "limbo"}).to_string();
    assert!(client.ask("POST", "/api/sandbox", Some(&body)).await.is_none());
    client.until("limbo", "started").await;
    assert_eq!(client.create(json!({"name": "limbo"})).await.status, 409);
    client.control(json!({"do": "lose_request", "call": "delete"})).await;
    assert!(client.ask("DELETE", "/api/sandbox/limbo", None).await.is_none());
    client.control(json!({"do": "bad_gateway", "call": "delete"})).await;
    let gateway = client.call("DELETE", "/api/sandbox/limbo").await;
    assert_eq!(gateway.status, 502);
    assert!(gateway.text.starts_with("<html>"), "{}", gateway.text);
    client.until("limbo", "started").await;
}

#[tokio::test]
async fn of_eight_creates_of_one_name_at_once_one_succeeds() {
    let (_api, client) = served(AccountSettings::default()).await;
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let client = client.clone();
        calls.spawn(async move { client.create(json!({"name": "race"})).await.status });
    }
    let mut statuses = calls.join_all().await;
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409, 409, 409, 409, 409, 409]);
}

#[tokio::test]
async fn a_waiting_create_is_answered_when_its_sandbox_fails_not_at_its_deadline() {
    let (_api, client) = served(AccountSettings::default()).await;
    client.control(json!({"do": "hang", "verb": "create"})).await;
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { client.create(json!({"name": "h"})).await }
    });
    client.until("h", "creating").await;
    client.control(json!({"do": "release"})).await;
    let answer = tokio::time::timeout(Duration::from_secs(3), waiting).await;
    let answer = answer.expect("sooner than thirty seconds").expect("no panic");
    assert_eq!(
        (answer.status, answer.message()),
        (400, "Sandbox failed to start: job failed".into())
    );
}

/// One step of the script that is played on both sides.
const SCRIPT: [(&str, &str, Option<&str>); 22] = [
    ("POST", "/api/sandbox", Some(r#"{"name":"a","labels":{"l":"1"},"env":{"A":"1"}}"#)),
    ("GET", "/api/sandbox/a", None),
    ("POST", "/api/sandbox", Some(r#"{"name":"a"}"#)),
    ("POST", "/api/sandbox", Some(r#"{"cpu":"2"}"#)),
    ("POST", "/admin/control", Some(r#"{"do":"fail_next","verb":"create","message":"no"}"#)),
    ("POST", "/api/sandbox", Some(r#"{"name":"e"}"#)),
    ("GET", "/api/sandbox/e", None),
    ("DELETE", "/api/sandbox/e", None),
    ("GET", "/api/sandbox/e", None),
    ("POST", "/api/sandbox/a/stop", None),
    ("POST", "/api/sandbox/a/stop", None),
    ("WAIT", "a", Some("stopped")),
    ("POST", "/api/sandbox/a/stop", None),
    ("POST", "/api/sandbox/a/resize", Some(r#"{"disk":5}"#)),
    ("WAIT", "a", Some("stopped")),
    ("POST", "/api/sandbox/a/archive", None),
    ("WAIT", "a", Some("archived")),
    ("POST", "/api/sandbox/a/start", None),
    ("WAIT", "a", Some("started")),
    ("GET", "/api/sandbox", None),
    ("DELETE", "/api/sandbox/a", None),
    ("DELETE", "/api/sandbox/a", None),
];

/// An answer without what depends on the hour and the port.
fn plain(status: u16, body: &Value) -> (u16, Value) {
    fn scrub(value: &Value) -> Value {
        match value {
            Value::Object(object) => object
                .iter()
                .filter(|(key, _)| {
                    !key.ends_with("At")
                        && !["toolboxProxyUrl", "timestamp", "path", "error"]
                            .contains(&key.as_str())
                })
                .map(|(key, value)| (key.clone(), scrub(value)))
                .collect::<serde_json::Map<_, _>>()
                .into(),
            Value::Array(list) => list.iter().map(scrub).collect(),
            Value::String(text) if text.starts_with("DESTROYED_") => {
                json!(text.rsplit_once('_').map(|(name, _)| name))
            }
            value => value.clone(),
        }
    }
    (status, scrub(body))
}

/// The script in virtual time, without any HTTP.
fn in_virtual_time() -> Vec<(u16, Value)> {
    let settings = AccountSettings::default();
    let authorization = format!("Bearer {}", settings.api_key);
    let mut account = Account::new(settings);
    let mut now = Time::ZERO;
    let mut answers = Vec::new();
    for (method, path, body) in SCRIPT {
        let caller = Caller {
            address: "127.0.0.1",
            authorization: Some(&authorization),
            organization: None,
        };
        let json: Value = body.and_then(|body| serde_json::from_str(body).ok()).unwrap_or_default();
        let parts: Vec<&str> = path.trim_start_matches("/api/").split('/').collect();
        let key = parts.get(1).map(|key| (*key).to_owned()).unwrap_or_default();
        let call = match (method, parts.as_slice()) {
            ("WAIT", _) => {
                let get = || Call::Get { key: path.to_owned() };
                loop {
                    let outcome = account.handle(now, &caller, get()).outcome;
                    let ApiOutcome::Answer { body: Some(seen), .. } = outcome else { panic!() };
                    if seen["state"].as_str() == body {
                        break;
                    }
                    now = now.plus(Span::from_millis(20));
                }
                continue;
            }
            (_, ["", "admin", "control"]) => {
                account.control(now, &json).expect("a known command");
                answers.push((200, json!({"ok": true})));
                continue;
            }
            ("POST", ["sandbox"]) => Call::Create { body: json },
            ("GET", ["sandbox"]) => Call::List { query: Vec::new() },
            ("GET", [_, _]) => Call::Get { key },
            ("DELETE", [_, _]) => Call::Delete { key },
            (_, [_, _, "stop"]) => Call::Stop { key },
            (_, [_, _, "start"]) => Call::Start { key },
            (_, [_, _, "archive"]) => Call::Archive { key },
            (_, [_, _, "resize"]) => Call::Resize { key, body: json },
            other => panic!("{other:?}"),
        };
        let mut outcome = account.handle(now, &caller, call).outcome;
        while let ApiOutcome::Wait(ticket) = &outcome {
            let ticket = ticket.clone();
            now = account.next_at().unwrap_or(ticket.until);
            outcome = account.redeem(now, &ticket).unwrap_or(ApiOutcome::Wait(ticket));
        }
        answers.push(match outcome {
            ApiOutcome::Answer { status, body } => plain(status, &body.unwrap_or_default()),
            ApiOutcome::Error { status, message } => {
                plain(status, &json!({"statusCode": status, "message": message}))
            }
            other => panic!("{other:?}"),
        });
    }
    answers
}

#[tokio::test]
async fn the_same_script_gives_the_same_answers_in_virtual_time_and_over_http() {
    let (_api, client) = served(AccountSettings::default()).await;
    let mut over_http = Vec::new();
    for (method, path, body) in SCRIPT {
        if method == "WAIT" {
            client.until(path, body.expect("a state")).await;
            continue;
        }
        let answer = client.ask(method, path, body).await.expect("an answer");
        over_http.push(plain(answer.status, &answer.json()));
    }
    let virtually = in_virtual_time();
    assert_eq!(virtually.len(), over_http.len());
    for (step, (virtual_answer, answer)) in virtually.iter().zip(&over_http).enumerate() {
        assert_eq!(virtual_answer, answer, "answer {step}");
    }
    let statuses: Vec<u16> = over_http.iter().map(|(status, _)| *status).collect();
    assert_eq!(
        statuses,
        [200, 200, 409, 400, 200, 400, 200, 200, 404, 200, 409, 400, 200, 200, 200, 200, 200, 404]
    );
}
