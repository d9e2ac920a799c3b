//! The proxy in front of every toolbox: who may enter, whether the sandbox can be reached, and the
//! form of every refusal.

use super::Toolbox;
use super::entered::{Entered, blocking};
use super::error::DaemonError;
use crate::daytona_api::answer::bad_gateway;
use crate::daytona_api::connection::cut;
use crate::daytona_api::control_plane::{Entry, Standing};
use axum::extract::{OriginalUri, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// Lets a request in, or answers it.
pub(super) async fn gate(
    State(toolbox): State<Arc<Toolbox>>,
    OriginalUri(uri): OriginalUri,
    mut request: Request,
    next: Next,
) -> Response {
    let method = request.method().clone();
    let (sandbox, path) = parts(uri.path());
    let (sandbox, path) = (sandbox.to_owned(), path.to_owned());
    let secret = request
        .headers()
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "))
        .map(str::trim);
    let mut answer_is_lost = false;
    let admitted = match toolbox.control_plane.enter(&sandbox, secret) {
        Entry::Silence => return cut(),
        Entry::BadGateway => return bad_gateway(),
        Entry::Unreachable => return StatusCode::BAD_GATEWAY.into_response(),
        Entry::Refused => {
            let reason =
                if secret.is_some() { "Bearer token is invalid" } else { "no Bearer token" };
            let message = format!("unauthorized: authentication failed:\n{reason}");
            Err(DaemonError::new(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", message))
        }
        Entry::Unknown => Err(container_not_found(&sandbox)),
        Entry::Reached { sandbox, answer_is_lost: is_lost } => {
            answer_is_lost = is_lost;
            match sandbox.standing {
                Standing::Gone => Err(container_not_found(&sandbox.id)),
                Standing::Stopped => Err(not_started()),
                Standing::Started { .. } => enter(&toolbox, sandbox.id, sandbox.env).await,
            }
        }
    };
    let response = match admitted {
        Err(error) => error.into_response(),
        Ok(entered) => {
            request.extensions_mut().insert(entered);
            next.run(request).await
        }
    };
    if answer_is_lost {
        return cut();
    }
    match response.extensions().get::<DaemonError>() {
        Some(error) => error.response(&method, &path, &toolbox.control_plane.timestamp()),
        None => response,
    }
}

/// Finds what the sandbox has on this machine, and makes sure that it still may.
async fn enter(
    toolbox: &Arc<Toolbox>,
    id: String,
    env: std::collections::BTreeMap<String, String>,
) -> Result<Entered, DaemonError> {
    let shared = Arc::clone(toolbox);
    blocking(move || {
        let made = shared.host.workspace(&id, &env);
        let workspace = made.map_err(|error| DaemonError::internal(error.to_string()))?;
        loop {
            let stops = workspace.stops();
            // A stop that is not seen here comes after the count above, and is noticed by it.
            match shared.control_plane.standing(&id) {
                Standing::Started { stops } if shared.host.follow(&workspace, stops) => {}
                Standing::Started { .. } => return Ok(Entered { workspace, stops }),
                Standing::Stopped => return Err(not_started()),
                Standing::Gone => {
                    // Nobody may have noticed the end before its directory was made again.
                    let removed = shared.host.end(&[], &[workspace]);
                    removed.map_err(|error| DaemonError::internal(error.to_string()))?;
                    return Err(container_not_found(&id));
                }
            }
        }
    })
    .await
}

/// The sandbox's id and the daemon's path.
fn parts(path: &str) -> (&str, &str) {
    let rest = path.strip_prefix("/toolbox/").unwrap_or(path);
    rest.find('/').map_or((rest, "/"), |at| rest.split_at(at))
}

fn not_started() -> DaemonError {
    DaemonError::bad_request(
        "bad request: failed to resolve container IP after 3 attempts: no IP address found. \
         Is the Sandbox started?",
    )
}

fn container_not_found(id: &str) -> DaemonError {
    DaemonError::not_found(format!(
        "not found: sandbox container not found: Error response from daemon: No such container: \
         {id}"
    ))
}
