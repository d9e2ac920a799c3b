//! Where an execute is sent: connections, each with what to send.

use super::BenchError;
use crate::rig::{Connection, Daytona};
use bytes::Bytes;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::Mutex;

/// What is run: the provider answers it at once.
const COMMAND: &str = "true";

/// One caller: a connection of its own and a sandbox of its own.
#[derive(Debug)]
pub(super) struct Target {
    connection: Mutex<Connection>,
    path: String,
    body: Bytes,
    /// What stands in the answer of an execute that ended well.
    done: &'static str,
}

/// All callers.
#[derive(Clone, Debug)]
pub(super) struct Targets {
    pub(super) each: Arc<Vec<Target>>,
}

impl Target {
    /// Sends one execute and waits for its end.
    pub(super) async fn execute(&self) -> Result<(), BenchError> {
        let mut connection = self.connection.lock().await;
        let (status, answer) = connection.call("POST", &self.path, &[], self.body.clone()).await?;
        let text = std::str::from_utf8(&answer).unwrap_or_default();
        if status == 200 && text.contains(self.done) {
            return Ok(());
        }
        Err(BenchError::Answer(format!("{status}: {text}")))
    }
}

impl Targets {
    /// Conversations of a server, each in an open turn and with its sandbox.
    pub(super) async fn through(
        server: SocketAddr,
        key: &str,
        callers: u32,
    ) -> Result<Self, BenchError> {
        let mut each = Vec::new();
        for _ in 0..callers {
            let mut connection = Connection::open(server, key).await?;
            let opened = connection.json("POST", "/v1/conversations", &json!({})).await?;
            let id = opened["id"].as_str().unwrap_or_default();
            let turns = format!("/v1/conversations/{id}/turns");
            connection.json("POST", &turns, &json!({})).await?;
            each.push(Target {
                connection: Mutex::new(connection),
                path: format!("/v1/conversations/{id}/execute"),
                body: json!({ "command": COMMAND }).to_string().into(),
                done: r#""outcome":"completed""#,
            });
        }
        Self::with_sandboxes(each).await
    }

    /// Sandboxes of the provider, spoken to as the server speaks to them.
    pub(super) async fn direct(daytona: &Daytona, callers: u32) -> Result<Self, BenchError> {
        let mut each = Vec::new();
        for number in 0..callers {
            let mut connection = daytona.connect().await?;
            let body = json!({ "name": format!("direct-{number}") });
            let created = connection.json("POST", "/api/sandbox", &body).await?;
            let id = created["id"].as_str().unwrap_or_default();
            let path = format!("/api/sandbox/{id}");
            while connection.json("GET", &path, &Value::Null).await?["state"] != "started" {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            each.push(Target {
                connection: Mutex::new(connection),
                path: format!("/toolbox/{id}/process/execute"),
                body: json!({ "command": COMMAND, "timeout": 60 }).to_string().into(),
                done: r#""exitCode":0"#,
            });
        }
        Self::with_sandboxes(each).await
    }

    /// The first execute of each, which waits for its sandbox, is not measured.
    async fn with_sandboxes(each: Vec<Target>) -> Result<Self, BenchError> {
        for target in &each {
            target.execute().await?;
        }
        Ok(Self { each: Arc::new(each) })
    }
}
