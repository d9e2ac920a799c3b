//! What many open conversations cost: memory, and time at a restart.

use super::BenchError;
use crate::rig::{Child, Connection, Daytona};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// Callers that open conversations at once: their commits share syncs.
const OPENERS: u32 = 64;

/// What was measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Many {
    pub(crate) conversations: u32,
    /// Resident memory of the server before any was opened, and with all of them open, bytes;
    /// `None` where the operating system does not tell.
    pub(crate) memory_before: Option<u64>,
    pub(crate) memory_after: Option<u64>,
    /// Resident memory after the restart with all of them, bytes.
    pub(crate) memory_restarted: Option<u64>,
    /// From the start of the process until it says that it is ready, on a store with all of them,
    /// after a kill.
    pub(crate) restart: Duration,
}

pub(super) async fn measure(
    folder: &Path,
    daytona: &Daytona,
    conversations: u32,
) -> Result<Many, BenchError> {
    let child = Child::start(folder, daytona)?;
    let key = child.keys.last().cloned().unwrap_or_default();
    until_ready(&child, &key).await?;
    let memory_before = child.memory_bytes();
    let tasks: Vec<_> = (0..OPENERS)
        .map(|opener| {
            let (address, key) = (child.address, key.clone());
            tokio::spawn(async move {
                let mut connection = Connection::open(address, &key).await?;
                for number in (opener..conversations).step_by(OPENERS as usize) {
                    let opened = connection.json("POST", "/v1/conversations", &json!({})).await?;
                    let id = opened["id"].as_str().unwrap_or_default();
                    // A history is on the disk, not in memory.
                    let path = format!("/v1/conversations/{id}/messages");
                    let said = json!({ "kind": "user", "text": format!("question {number}") });
                    connection.json("POST", &path, &said).await?;
                }
                Ok::<_, BenchError>(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    let memory_after = child.memory_bytes();
    child.kill();
    let began = tokio::time::Instant::now();
    let again = Child::start(folder, daytona)?;
    until_ready(&again, &key).await?;
    let restart = began.elapsed();
    let memory_restarted = again.memory_bytes();
    again.kill();
    Ok(Many { conversations, memory_before, memory_after, memory_restarted, restart })
}

async fn until_ready(child: &Child, key: &str) -> Result<(), BenchError> {
    let mut connection = Connection::open(child.address, key).await?;
    loop {
        let (status, _) =
            connection.call("GET", "/readyz", &[], Value::Null.to_string().into()).await?;
        if status == 200 {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
