//! `/process/session`: shells that stay, with commands one after the other.
//!
//! `output` is what a command wrote to its output followed by what it wrote to its error output:
//! the order between the two is not kept. Logs are not followed over a web socket.

use super::Toolbox;
use super::entered::{Entered, blocking};
use super::error::DaemonError;
use super::request::{JsonBody, Query};
use crate::daytona_api::exec::{Session, SessionCommand, SessionError};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::btree_map::Entry;
use std::sync::Arc;

#[derive(Deserialize)]
pub(super) struct CreateBody {
    #[serde(default, rename = "sessionId")]
    session_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExecuteBody {
    #[serde(default)]
    command: String,
    #[serde(default)]
    run_async: bool,
    /// The older name of the same.
    #[serde(default, rename = "async")]
    is_async: bool,
}

#[derive(Deserialize)]
pub(super) struct InputBody {
    data: String,
}

/// The sandbox's id is part of the path too, and of no interest here.
#[derive(Deserialize)]
pub(super) struct Names {
    session: String,
    #[serde(default)]
    command: String,
}

/// `POST /process/session`
pub(super) async fn create(
    entered: Entered,
    JsonBody(body): JsonBody<CreateBody>,
) -> Result<StatusCode, DaemonError> {
    if body.session_id.is_empty() {
        return Err(DaemonError::bad_request("sessionId is required"));
    }
    let runtime = tokio::runtime::Handle::current();
    blocking(move || {
        let _entered = runtime.enter();
        let mut sessions = entered.workspace.sessions();
        match sessions.entry(body.session_id) {
            Entry::Occupied(_) => Err(DaemonError::conflict("session already exists")),
            Entry::Vacant(vacant) => {
                let session = Session::start(&entered.workspace, entered.stops);
                let session = session.map_err(|error| of_session(&error))?;
                vacant.insert(session);
                Ok(StatusCode::CREATED)
            }
        }
    })
    .await
}

/// `GET /process/session`
pub(super) async fn list(entered: Entered) -> Json<Value> {
    let sessions = entered.workspace.sessions();
    Json(sessions.iter().map(|(id, session)| view(id, session)).collect())
}

/// `GET /process/session/{session}`
pub(super) async fn get(
    entered: Entered,
    Path(names): Path<Names>,
) -> Result<Json<Value>, DaemonError> {
    let session = find(&entered, &names.session)?;
    Ok(Json(view(&names.session, &session)))
}

/// `DELETE /process/session/{session}`
pub(super) async fn delete(
    entered: Entered,
    Path(names): Path<Names>,
) -> Result<StatusCode, DaemonError> {
    let removed = entered.workspace.sessions().remove(&names.session);
    removed.ok_or_else(unknown_session)?.kill();
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /process/session/{session}/exec`
pub(super) async fn execute(
    State(toolbox): State<Arc<Toolbox>>,
    entered: Entered,
    Path(names): Path<Names>,
    JsonBody(body): JsonBody<ExecuteBody>,
) -> Result<Response, DaemonError> {
    if body.command.trim().is_empty() {
        return Err(DaemonError::bad_request("command cannot be empty"));
    }
    let session = find(&entered, &names.session)?;
    let id = session.submit(&body.command).await.map_err(|error| of_session(&error))?;
    if body.run_async || body.is_async {
        return Ok((StatusCode::ACCEPTED, Json(json!({ "cmdId": id }))).into_response());
    }
    let sandbox = entered.workspace.id();
    toolbox.control_plane.command_begun(sandbox);
    let ended = session.wait_for(&id).await;
    toolbox.control_plane.command_ended(sandbox);
    let exit_code = ended.map_err(|error| of_session(&error))?;
    if entered.workspace.stops() != entered.stops {
        return Ok(StatusCode::BAD_GATEWAY.into_response());
    }
    let mut answer = output(session, id.clone()).await?;
    answer["cmdId"] = json!(id);
    answer["exitCode"] = json!(exit_code);
    Ok(Json(answer).into_response())
}

/// `GET /process/session/{session}/command/{command}`
pub(super) async fn command(
    entered: Entered,
    Path(names): Path<Names>,
) -> Result<Json<Value>, DaemonError> {
    let session = find(&entered, &names.session)?;
    let command = session.command(&names.command).ok_or_else(unknown_command)?;
    Ok(Json(command_view(&command)))
}

/// `GET /process/session/{session}/command/{command}/logs`
pub(super) async fn logs(
    entered: Entered,
    Path(names): Path<Names>,
    query: Query,
) -> Result<Response, DaemonError> {
    if query.get("follow") == Some("true") {
        return Ok(super::unknown().await);
    }
    let session = find(&entered, &names.session)?;
    session.command(&names.command).ok_or_else(unknown_command)?;
    Ok(Json(output(session, names.command).await?).into_response())
}

/// `POST /process/session/{session}/command/{command}/input`
pub(super) async fn input(
    entered: Entered,
    Path(names): Path<Names>,
    JsonBody(body): JsonBody<InputBody>,
) -> Result<StatusCode, DaemonError> {
    let session = find(&entered, &names.session)?;
    blocking(move || {
        let written = session.write_input(&names.command, &body.data);
        written.map_err(|error| of_session(&error))?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

fn find(entered: &Entered, id: &str) -> Result<Arc<Session>, DaemonError> {
    entered.workspace.sessions().get(id).cloned().ok_or_else(unknown_session)
}

async fn output(session: Arc<Session>, id: String) -> Result<Value, DaemonError> {
    blocking(move || {
        let read = session.output(&id);
        let (stdout, stderr) = read.map_err(|error| DaemonError::internal(error.to_string()))?;
        let output = format!("{stdout}{stderr}");
        Ok(json!({ "output": output, "stdout": stdout, "stderr": stderr }))
    })
    .await
}

fn view(id: &str, session: &Session) -> Value {
    let commands: Vec<Value> = session.commands().iter().map(command_view).collect();
    json!({ "sessionId": id, "commands": commands })
}

fn command_view(command: &SessionCommand) -> Value {
    let mut view = json!({ "id": command.id, "command": command.text });
    if let Some(code) = command.exit_code {
        view["exitCode"] = json!(code);
    }
    view
}

fn unknown_session() -> DaemonError {
    DaemonError::not_found("session not found")
}

fn unknown_command() -> DaemonError {
    DaemonError::not_found("command not found")
}

fn of_session(error: &SessionError) -> DaemonError {
    let message = error.to_string();
    match error {
        SessionError::Ended => DaemonError::new(StatusCode::GONE, "SESSION_ENDED", message),
        SessionError::CommandEnded => {
            DaemonError::new(StatusCode::GONE, "COMMAND_ALREADY_COMPLETED", message)
        }
        SessionError::UnknownCommand => DaemonError::not_found(message),
        SessionError::Io(_) => DaemonError::internal(message),
    }
}
