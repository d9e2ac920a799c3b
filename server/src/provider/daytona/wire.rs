//! Bodies as they go over the wire. Unknown fields and unknown states are tolerated: the API grows.

use crate::provider::Pool;
use sandpool_core::FoundState;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Body of `POST /sandbox`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreateSandbox<'a> {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) env: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) snapshot: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) build_info: Option<BuildInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) target: Option<&'a str>,
    /// vCPUs; only beside `build_info`, a snapshot has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cpu: Option<u32>,
    /// GiB, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) memory: Option<u32>,
    /// GiB, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) disk: Option<u32>,
    pub(super) auto_stop_interval: u32,
    pub(super) auto_delete_interval: u32,
}

/// An image, which has no field of its own: it is a one-line Dockerfile.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BuildInfo {
    pub(super) dockerfile_content: String,
}

/// A sandbox as `GET` and the list show it; the list leaves fields out that are not read here.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sandbox {
    pub(super) id: String,
    #[serde(default)]
    pub(super) name: String,
    /// Anything may stand here: `PUT /labels` is not validated (v0.190.0).
    #[serde(default)]
    pub(super) labels: serde_json::Value,
    #[serde(default)]
    pub(super) state: State,
    #[serde(default)]
    pub(super) error_reason: Option<String>,
    #[serde(default)]
    pub(super) toolbox_proxy_url: String,
}

impl Sandbox {
    pub(super) fn label(&self, key: &str) -> Option<&str> {
        self.labels.get(key)?.as_str()
    }

    /// Whether it bears the pool's labels.
    pub(super) fn bears(&self, pool: &Pool) -> bool {
        pool.selector().iter().all(|(key, value)| self.label(key) == Some(value))
    }

    /// What is known of why it failed.
    pub(super) fn failed(&self) -> String {
        let reason = self.error_reason.as_deref().unwrap_or("no reason given");
        format!("the sandbox is {:?}: {reason}", self.state)
    }
}

/// The states of the published API description v0.205.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    Creating,
    Restoring,
    Destroyed,
    Destroying,
    Started,
    Stopped,
    Starting,
    Stopping,
    Error,
    BuildFailed,
    PendingBuild,
    BuildingSnapshot,
    PullingSnapshot,
    Archived,
    Archiving,
    Resizing,
    Snapshotting,
    Forking,
    Pausing,
    Paused,
    Resuming,
    /// `unknown` itself, and every state that this client does not know.
    #[default]
    #[serde(other)]
    Unknown,
}

impl State {
    /// The scheduler's word. An unknown state may still come up, so nothing is killed for it.
    pub(super) fn found(self) -> Option<FoundState> {
        Some(match self {
            Self::Destroyed => return None,
            Self::Destroying => FoundState::Destroying,
            Self::Started | Self::Resizing | Self::Snapshotting | Self::Forking => {
                FoundState::Running
            }
            Self::Stopped
            | Self::Stopping
            | Self::Archived
            | Self::Archiving
            | Self::Pausing
            | Self::Paused => FoundState::Stopped,
            Self::Error | Self::BuildFailed => FoundState::Errored,
            Self::Creating
            | Self::Restoring
            | Self::Starting
            | Self::PendingBuild
            | Self::BuildingSnapshot
            | Self::PullingSnapshot
            | Self::Resuming
            | Self::Unknown => FoundState::Starting,
        })
    }
}

/// One page of `GET /sandbox`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Page {
    pub(super) items: Vec<Sandbox>,
    #[serde(default)]
    pub(super) next_cursor: Option<String>,
}

/// Body of `PUT /sandbox/{id}/labels`, which replaces them all.
#[derive(Debug, Serialize)]
pub(super) struct Labels {
    pub(super) labels: BTreeMap<String, String>,
}

/// Body of the toolbox's `POST /process/execute`.
#[derive(Debug, Serialize)]
pub(super) struct Execute<'a> {
    pub(super) command: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cwd: Option<&'a str>,
    /// Seconds.
    pub(super) timeout: u64,
    pub(super) envs: BTreeMap<String, String>,
}

/// Body of the toolbox's `POST /process/code-run`.
#[derive(Debug, Serialize)]
pub(super) struct CodeRun<'a> {
    pub(super) code: &'a str,
    pub(super) language: &'static str,
    /// Seconds.
    pub(super) timeout: u64,
    pub(super) envs: BTreeMap<String, String>,
}

/// Body of the toolbox's `POST /process/session`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewSession<'a> {
    pub(super) session_id: &'a str,
}

/// Body of the toolbox's `POST /process/session/{session}/exec`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionExecute<'a> {
    pub(super) command: &'a str,
    pub(super) run_async: bool,
}

/// Its answer.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionBegun {
    pub(super) cmd_id: String,
}

/// A session's command: `exitCode` is left out while it runs.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionCommand {
    #[serde(default)]
    pub(super) exit_code: Option<i32>,
}

/// What a session's command has written so far.
#[derive(Debug, Deserialize)]
pub(super) struct SessionLogs {
    #[serde(default)]
    pub(super) output: String,
}

/// Answer of `execute` and of `code-run`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Executed {
    pub(super) exit_code: i32,
    #[serde(default)]
    pub(super) result: String,
}

/// An entry of the toolbox's `GET /files`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileInfo {
    pub(super) name: String,
    #[serde(default)]
    pub(super) is_dir: bool,
    #[serde(default)]
    pub(super) size: u64,
}
