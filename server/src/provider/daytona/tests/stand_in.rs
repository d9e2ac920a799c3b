//! A stand-in for Daytona that answers each route with prepared answers, one after another, and
//! keeps what it was asked. The last answer to a route stays.

use crate::provider::{Daytona, DaytonaOptions, Pool, SandboxTemplate};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::Response;
use axum::routing::any;
use secrecy::SecretString;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;

pub(super) const KEY: &str = "dtn_not_to_be_seen";
pub(super) const ID: &str = "8b3c4d1e-0000-4000-8000-000000000001";

/// An answer of the stand-in.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl Answer {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: vec![("content-type", "application/json".into())],
            body: body.to_string(),
        }
    }

    /// A refusal in the shape of v0.190.0.
    pub(super) fn refusal(status: u16, message: &str) -> Self {
        Self::json(
            status,
            &json!({"path": "/api/sandbox", "timestamp": "2026-11-30T21:24:02.325Z",
                "statusCode": status, "error": "-", "message": message}),
        )
    }

    pub(super) fn text(status: u16, body: &str) -> Self {
        Self { status, headers: Vec::new(), body: body.to_owned() }
    }

    pub(super) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

/// What was asked: `METHOD /path?query`, and the body.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) line: String,
    pub(super) authorization: String,
    pub(super) body: String,
}

#[derive(Debug, Default)]
struct Book {
    answers: BTreeMap<String, VecDeque<Answer>>,
    asked: Vec<Asked>,
}

/// The stand-in, and where it listens.
#[derive(Clone, Debug)]
pub(super) struct StandIn {
    book: Arc<Mutex<Book>>,
    pub(super) address: String,
}

impl StandIn {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let book: Arc<Mutex<Book>> = Arc::default();
        let app = Router::new().fallback(any(answer)).with_state(Arc::clone(&book));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { book, address }
    }

    /// Prepares an answer to `METHOD /path`, after those prepared before.
    pub(super) fn on(&self, route: &str, answer: Answer) -> &Self {
        let mut book = self.book.lock().unwrap();
        book.answers.entry(route.to_owned()).or_default().push_back(answer);
        self
    }

    /// Everything that was asked of routes that begin so.
    pub(super) fn asked(&self, route: &str) -> Vec<Asked> {
        let book = self.book.lock().unwrap();
        book.asked.iter().filter(|asked| asked.line.starts_with(route)).cloned().collect()
    }

    /// A sandbox with this pool's labels in a state.
    pub(super) fn sandbox(&self, id: &str, name: &str, state: &str) -> Value {
        json!({"id": id, "name": name, "state": state, "organizationId": "o", "cpu": 1,
            "labels": {"app": "sandpool", "pool": "blue", "epoch": "1", "class": "default"},
            "toolboxProxyUrl": format!("{}/toolbox", self.address)})
    }

    pub(super) fn shows(&self, id: &str, name: &str, state: &str) -> Answer {
        Answer::json(200, &self.sandbox(id, name, state))
    }

    /// The sandbox answers commands.
    pub(super) fn answers_commands(&self, result: &str) -> &Self {
        self.on(
            &format!("POST /toolbox/{ID}/process/execute"),
            Answer::json(200, &json!({"exitCode": 0, "result": result})),
        )
    }

    pub(super) fn client(&self) -> Daytona {
        Daytona::new(options(&format!("{}/api", self.address))).unwrap()
    }
}

/// Options with pauses short enough for a test.
pub(super) fn options(api_url: &str) -> DaytonaOptions {
    let template = SandboxTemplate { class: "default".to_owned(), ..SandboxTemplate::default() };
    let mut options = DaytonaOptions::new(
        api_url,
        SecretString::from(KEY),
        Pool::new("blue").unwrap(),
        vec![template],
    );
    options.poll_first = Duration::from_millis(2);
    options.poll_longest = Duration::from_millis(5);
    options.start_timeout = Duration::from_millis(500);
    options.silent_timeout = Duration::from_millis(50);
    options.destroy_timeout = Duration::from_millis(200);
    options
}

async fn answer(State(book): State<Arc<Mutex<Book>>>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let authorization =
        parts.headers.get("authorization").map(|value| value.to_str().unwrap().to_owned());
    let route = format!("{} {}", parts.method, parts.uri.path());
    let mut book = book.lock().unwrap();
    book.asked.push(Asked {
        line: format!("{} {}", parts.method, parts.uri),
        authorization: authorization.unwrap_or_default(),
        body: String::from_utf8_lossy(&body).into_owned(),
    });
    let answer = match book.answers.get_mut(&route) {
        Some(answers) if answers.len() > 1 => answers.pop_front().unwrap(),
        Some(answers) => answers[0].clone(),
        None => Answer::refusal(404, "Sandbox with ID or name X not found"),
    };
    let mut response = Response::builder().status(answer.status);
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    response.body(Body::from(answer.body)).unwrap()
}
