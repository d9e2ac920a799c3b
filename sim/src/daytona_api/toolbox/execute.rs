//! `POST /process/execute`: runs a command in a shell and answers when it has ended.
//!
//! Output and error output come as one. There is no time limit unless one is asked for; then the
//! whole process group is killed and the answer is 408. (Daytona v0.190.0, process/execute.go.)

use super::Toolbox;
use super::entered::Entered;
use super::error::DaemonError;
use super::request::JsonBody;
use crate::daytona_api::exec::{Command, Outcome, Run, is_variable_name};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

#[derive(Deserialize)]
pub(super) struct Body {
    #[serde(default)]
    command: String,
    cwd: Option<String>,
    envs: Option<BTreeMap<String, String>>,
    /// Seconds; none, zero and less are no limit.
    timeout: Option<i64>,
}

pub(super) async fn execute(
    State(toolbox): State<Arc<Toolbox>>,
    entered: Entered,
    JsonBody(body): JsonBody<Body>,
) -> Result<Response, DaemonError> {
    if body.command.is_empty() {
        return Err(DaemonError::bad_request("command is required"));
    }
    if body.command.trim().is_empty() {
        return Err(DaemonError::bad_request("empty command"));
    }
    let command = Command {
        run: Run::Script(body.command + "\n"),
        working_directory: body.cwd,
        env: checked(body.envs)?,
        time_limit: time_limit(body.timeout),
    };
    match run(&toolbox, &entered, command).await {
        Ok((exit_code, result)) => {
            Ok(Json(json!({ "exitCode": exit_code, "result": result })).into_response())
        }
        Err(refused) => refused,
    }
}

/// Runs a command to its end, also when the client does not wait for it. `Err` is the answer of one
/// that did not end by itself.
pub(super) async fn run(
    toolbox: &Arc<Toolbox>,
    entered: &Entered,
    command: Command,
) -> Result<(i32, String), Result<Response, DaemonError>> {
    let (workspace, stops) = (Arc::clone(&entered.workspace), entered.stops);
    let under_way = UnderWay::begin(toolbox, workspace.id());
    let ended = tokio::spawn(async move {
        let outcome = workspace.run(command, stops).await;
        drop(under_way);
        outcome
    });
    match ended.await {
        Ok(Outcome::Ended { exit_code, output }) => Ok((exit_code, output)),
        Ok(Outcome::NotStarted { reason }) => Ok((-1, reason)),
        Ok(Outcome::TimedOut) => Err(Err(DaemonError::timed_out())),
        // The daemon went with the sandbox; the proxy has nobody to ask.
        Ok(Outcome::SandboxStopped) => Err(Ok(StatusCode::BAD_GATEWAY.into_response())),
        Err(error) => Err(Err(DaemonError::internal(error.to_string()))),
    }
}

/// Keeps auto-stop away from a sandbox for as long as a command runs in it.
struct UnderWay {
    toolbox: Arc<Toolbox>,
    sandbox: String,
}

impl UnderWay {
    fn begin(toolbox: &Arc<Toolbox>, sandbox: &str) -> Self {
        toolbox.control_plane.command_begun(sandbox);
        Self { toolbox: Arc::clone(toolbox), sandbox: sandbox.to_owned() }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.toolbox.control_plane.command_ended(&self.sandbox);
    }
}

/// Variables of a request, if all of them can be such.
pub(super) fn checked(
    envs: Option<BTreeMap<String, String>>,
) -> Result<BTreeMap<String, String>, DaemonError> {
    let envs = envs.unwrap_or_default();
    let is_bad =
        |(name, value): &(&String, &String)| !is_variable_name(name) || value.contains('\0');
    match envs.iter().find(is_bad) {
        None => Ok(envs),
        Some((name, _)) => {
            Err(DaemonError::bad_request(format!("invalid environment variable name: {name:?}")))
        }
    }
}

pub(super) fn time_limit(seconds: Option<i64>) -> Option<Duration> {
    let seconds = u64::try_from(seconds?).ok()?;
    (seconds > 0).then(|| Duration::from_secs(seconds))
}
