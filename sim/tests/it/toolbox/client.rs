//! Somebody who calls the simulated Daytona.

use axum::body::Bytes;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    /// The body as JSON; null if it is empty.
    pub(crate) fn json(&self) -> Value {
        if self.body.is_empty() {
            return Value::Null;
        }
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// That it has this status, and if it is JSON what that says.
    #[track_caller]
    pub(crate) fn with(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// That it is a refusal by the daemon.
    #[track_caller]
    pub(crate) fn refused(self, status: u16, code: &str) -> Value {
        let body = self.with(status);
        assert_eq!(body["code"], code, "{body}");
        assert_eq!(body["statusCode"], status, "{body}");
        body
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Client {
    http: HttpClient<HttpConnector, Full<Bytes>>,
    /// Without `/api`.
    base: String,
    key: String,
}

impl Client {
    /// `url` is that which a client of Daytona is given.
    pub(crate) fn new(url: &str, key: &str) -> Self {
        let base = url.strip_suffix("/api").expect("it ends in /api").to_owned();
        let http = HttpClient::builder(TokioExecutor::new()).build_http();
        Self { http, base, key: key.to_owned() }
    }

    pub(crate) fn with_key(&self, key: &str) -> Self {
        Self { key: key.to_owned(), ..self.clone() }
    }

    /// `None` if the connection ends without an answer.
    pub(crate) async fn try_send(
        &self,
        method: &str,
        path: &str,
        kind: &str,
        body: impl Into<Bytes>,
    ) -> Option<Answer> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header("authorization", format!("Bearer {}", self.key))
            .header("content-type", kind)
            .body(Full::new(body.into()))
            .expect("a request");
        let response = self.http.request(request).await.ok()?;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = response.into_body().collect().await.ok()?.to_bytes();
        Some(Answer { status: StatusCode::as_u16(&status), headers, body })
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        kind: &str,
        body: impl Into<Bytes>,
    ) -> Answer {
        let answer = self.try_send(method, path, kind, body).await;
        answer.unwrap_or_else(|| panic!("no answer to {method} {path}"))
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "text/plain", "").await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, "text/plain", "").await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.send("POST", path, "application/json", body).await
    }

    /// Makes a sandbox and waits until it has started; the answer is its id.
    pub(crate) async fn create(&self, body: Value) -> String {
        let made = self.post("/api/sandbox", body).await.with(200);
        let id = made["id"].as_str().expect("an id").to_owned();
        self.until(&id, "started").await;
        id
    }

    /// Waits until a sandbox is in a state, or `gone`.
    pub(crate) async fn until(&self, id: &str, state: &str) {
        for _ in 0..1000 {
            let answer = self.get(&format!("/api/sandbox/{id}")).await;
            let is_there = match answer.status {
                200 => answer.json()["state"] == state,
                _ => state == "gone",
            };
            if is_there {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{id} is not {state}");
    }

    /// Stops or starts a sandbox and waits until it has.
    pub(crate) async fn stop(&self, id: &str) {
        self.post(&format!("/api/sandbox/{id}/stop"), Value::Null).await.with(200);
        self.until(id, "stopped").await;
    }

    pub(crate) async fn remove(&self, id: &str) {
        self.delete(&format!("/api/sandbox/{id}")).await.with(200);
        self.until(id, "gone").await;
    }

    /// Runs a command; the answer is its exit code and its output.
    pub(crate) async fn execute(&self, id: &str, command: &str) -> (i64, String) {
        let body = json!({ "command": command });
        let ended = self.post(&format!("/toolbox/{id}/process/execute"), body).await.with(200);
        let result = ended["result"].as_str().expect("a result").to_owned();
        (ended["exitCode"].as_i64().expect("an exit code"), result)
    }

    /// Writes one file.
    pub(crate) async fn upload(&self, id: &str, path: &str, content: impl Into<Bytes>) -> Answer {
        let path = format!("/toolbox/{id}/files/upload-v2?path={path}");
        self.send("POST", &path, "application/octet-stream", content).await
    }

    pub(crate) async fn download(&self, id: &str, path: &str) -> Answer {
        self.get(&format!("/toolbox/{id}/files/download?path={path}")).await
    }
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn soon(what: &str, mut is_so: impl FnMut() -> bool) -> impl Future<Output = ()> {
    let place = std::panic::Location::caller();
    async move {
        for _ in 0..1000 {
            if is_so() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{place}: not so: {what}");
    }
}

/// Whether a process of this number is running.
pub(crate) fn is_running(process: u32) -> bool {
    // One that nobody has waited for yet does not run any more.
    let status = std::fs::read_to_string(format!("/proc/{process}/stat"));
    status.is_ok_and(|text| !text.contains(") Z ") && !text.contains(") X "))
}

/// How many entries a directory has; none if it is not there.
pub(crate) fn entries(directory: &Path) -> usize {
    std::fs::read_dir(directory).map_or(0, Iterator::count)
}
