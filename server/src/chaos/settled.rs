//! The server's books and the provider's agree, and in the end nothing is left.

use crate::rig::{Child, Connection, ConnectionError, Daytona, Sandbox};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// How long books may take to agree once nothing happens any more: the longest of the server's
/// own delays (limbo, orphans, retries) and time to spare on a busy machine.
const SETTLED_WITHIN: Duration = Duration::from_secs(60);

/// How long lists may show what is gone: the provider's lag, and a delete that it has confirmed.
const GONE_WITHIN: Duration = Duration::from_secs(5);

/// Waits until the server counts just what exists at the provider. Gives what differs if it never
/// does.
pub(super) async fn books_agree(child: &Child, key: &str, daytona: &Daytona) -> Result<(), String> {
    let until = Instant::now() + SETTLED_WITHIN;
    let mut in_a_row = 0;
    loop {
        let (counted, there) =
            both(child, key, daytona).await.map_err(|error| error.to_string())?;
        in_a_row = if counted == there { in_a_row + 1 } else { 0 };
        // Once may be chance: a delete under way on both sides.
        if in_a_row == 3 {
            return Ok(());
        }
        if Instant::now() > until {
            return Err(format!(
                "the server counts {counted} sandboxes and the provider has {there}, after {} s",
                SETTLED_WITHIN.as_secs()
            ));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn both(child: &Child, key: &str, daytona: &Daytona) -> Result<(u64, u64), ConnectionError> {
    let mut connection = Connection::open(child.address, key).await?;
    let capacity: Value = connection.json("GET", "/v1/capacity", &json!({})).await?;
    let counted = capacity["sandboxes"].as_u64().unwrap_or(u64::MAX);
    Ok((counted, daytona.sandboxes().await?.len() as u64))
}

/// After an orderly end the provider has nothing of the pool left. Gives what it has for longer
/// than its lists are stale.
pub(super) async fn leaked(daytona: &Daytona) -> Result<Vec<String>, ConnectionError> {
    let until = Instant::now() + GONE_WITHIN;
    loop {
        let sandboxes = daytona.sandboxes().await?;
        if sandboxes.is_empty() || Instant::now() > until {
            let told = |it: &Sandbox| format!("{} ({}, {})", it.name, it.id, it.state);
            return Ok(sandboxes.iter().map(told).collect());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
