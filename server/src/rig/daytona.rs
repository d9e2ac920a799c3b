//! The simulated Daytona that servers of the rig speak to. It outlives them.

use super::{Connection, ConnectionError};
use sandpool_sim::{AccountSettings, CommandExecution, DaytonaApi, DaytonaApiOptions, StartError};
use serde_json::{Value, json};
use std::net::SocketAddr;

/// A simulated Daytona in this process.
#[derive(Debug)]
pub(crate) struct Daytona {
    api: DaytonaApi,
}

/// A sandbox as the provider itself has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sandbox {
    /// The provider's id.
    pub(crate) id: String,
    /// Its name.
    pub(crate) name: String,
    /// Its state, in the provider's word.
    pub(crate) state: String,
}

impl Daytona {
    /// Starts it on a free port of this machine.
    pub(crate) async fn start(
        account: AccountSettings,
        execution: CommandExecution,
        speed: f64,
    ) -> Result<Self, StartError> {
        let options = DaytonaApiOptions { account, execution, speed, ..Default::default() };
        Ok(Self { api: DaytonaApi::start(options).await? })
    }

    /// The API's address for clients.
    pub(crate) fn url(&self) -> String {
        self.api.url()
    }

    pub(crate) fn key(&self) -> &str {
        self.api.api_key()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.api.address()
    }

    pub(crate) async fn connect(&self) -> Result<Connection, ConnectionError> {
        Connection::open(self.address(), self.key()).await
    }

    /// Changes what goes wrong, as `POST /admin/control` does.
    pub(crate) async fn control(&self, command: Value) -> Result<(), ConnectionError> {
        self.connect().await?.json("POST", "/admin/control", &command).await.map(drop)
    }

    /// Every sandbox that exists.
    pub(crate) async fn sandboxes(&self) -> Result<Vec<Sandbox>, ConnectionError> {
        let mut connection = self.connect().await?;
        let mut sandboxes = Vec::new();
        let mut path = "/api/sandbox?limit=100".to_owned();
        loop {
            let page = connection.json("GET", &path, &json!({})).await?;
            let text = |item: &Value, key: &str| item[key].as_str().unwrap_or_default().to_owned();
            sandboxes.extend(page["items"].as_array().into_iter().flatten().map(|item| Sandbox {
                id: text(item, "id"),
                name: text(item, "name"),
                state: text(item, "state"),
            }));
            let Some(cursor) = page["nextCursor"].as_str() else { return Ok(sandboxes) };
            path = format!("/api/sandbox?limit=100&cursor={cursor}");
        }
    }

    pub(crate) async fn stop(self) {
        self.api.stop().await;
    }
}
