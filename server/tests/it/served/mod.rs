//! The built program over real HTTP, with the simulated Daytona in its own process.

mod conversations;
mod execute;
mod operation;
mod sharing;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sandpool_sim::DaytonaApi;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A program that runs. Killed when it is dropped.
pub(crate) struct Served {
    child: Child,
    pub(crate) url: String,
    /// The operator's key and the default account's; empty but at the first start.
    pub(crate) keys: Vec<String>,
}

impl Served {
    /// With the simulated Daytona that it starts itself.
    pub(crate) fn start(folder: &Path, config: &str) -> Self {
        Self::start_with(folder, config, None)
    }

    /// With one that outlives it.
    pub(crate) fn start_on(folder: &Path, config: &str, api: &DaytonaApi) -> Self {
        let config = format!("{config}\n[daytona]\napi_url = \"{}\"\n", api.url());
        Self::start_with(folder, &config, Some(api.api_key()))
    }

    fn start_with(folder: &Path, config: &str, daytona_key: Option<&str>) -> Self {
        let file = folder.join("pool.toml");
        std::fs::write(&file, config).unwrap();
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(folder.join("server.log"))
            .unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_sandpool-server"));
        command.env_remove("DAYTONA_API_KEY");
        if let Some(key) = daytona_key {
            command.env("DAYTONA_API_KEY", key);
        }
        let mut child = command
            .args(["--listen", "127.0.0.1:0", "--config"])
            .arg(&file)
            .arg("--store")
            .arg(folder.join("pool.sqlite"))
            .env_remove("DAYTONA_API_KEY_FILE")
            .arg("--log-json")
            .env("RUST_LOG", "debug")
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = loop {
            let line = lines.next().expect("it says where it listens").unwrap();
            if let Some(url) = line.strip_prefix("sandpool-server listens on ") {
                break url.to_owned();
            }
        };
        let mut keys = Vec::new();
        if !folder.join("started").exists() {
            std::fs::write(folder.join("started"), "").unwrap();
            while keys.len() < 2 {
                let line = lines.next().expect("it shows the first keys").unwrap();
                keys.extend(line.split("  sp_").nth(1).map(|rest| format!("sp_{rest}")));
            }
        }
        // Whatever else it says must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url, keys }
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end, and gives its exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        kill(pid, Signal::SIGTERM).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A caller with a key.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) client: reqwest::Client,
    pub(crate) url: String,
    pub(crate) key: String,
}

impl Caller {
    pub(crate) fn new(served: &Served, key: &str) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self { client: reqwest::Client::new(), url: served.url.clone(), key: key.to_owned() }
    }

    pub(crate) async fn call(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let method = method.parse().unwrap();
        let mut request =
            self.client.request(method, format!("{}{path}", self.url)).bearer_auth(&self.key);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.call("POST", path, Some(body)).await
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        self.call("GET", path, None).await
    }

    pub(crate) async fn open(&self) -> String {
        let (status, opened) = self.post("/v1/conversations", json!({})).await;
        assert_eq!(status, 201, "{opened}");
        format!("/v1/conversations/{}", opened["id"].as_str().unwrap())
    }

    pub(crate) async fn execute(&self, conversation: &str, command: &str) -> Value {
        let body = json!({ "command": command });
        let (status, answer) = self.post(&format!("{conversation}/execute"), body).await;
        assert_eq!(status, 200, "{answer}");
        answer
    }
}

pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Everything quick: one answer makes a sandbox ready.
pub(crate) const QUICK: &str =
    "[server]\nwarm_sandboxes = 0\n\n[classes.default]\nprepare = false\n";
