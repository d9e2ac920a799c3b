//! What a route knows of the sandbox that it is called in.

use super::error::DaemonError;
use crate::daytona_api::exec::{Directory, Workspace};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::sync::Arc;

/// The sandbox of a request that the gate let in.
#[derive(Clone, Debug)]
pub(super) struct Entered {
    pub(super) workspace: Arc<Workspace>,
    /// How often the sandbox had been stopped by then: a command must not start after another stop.
    pub(super) stops: u64,
}

impl Entered {
    /// Does something with the sandbox's files where it may block.
    pub(super) async fn with_files<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Directory) -> Result<T, DaemonError> + Send + 'static,
    ) -> Result<T, DaemonError> {
        let workspace = Arc::clone(&self.workspace);
        blocking(move || act(workspace.directory())).await
    }
}

/// Does something that may block.
pub(super) async fn blocking<T: Send + 'static>(
    act: impl FnOnce() -> Result<T, DaemonError> + Send + 'static,
) -> Result<T, DaemonError> {
    let done = tokio::task::spawn_blocking(act).await;
    done.unwrap_or_else(|error| Err(DaemonError::internal(error.to_string())))
}

impl<S: Send + Sync> FromRequestParts<S> for Entered {
    type Rejection = DaemonError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, DaemonError> {
        let entered = parts.extensions.get::<Self>().cloned();
        entered.ok_or_else(|| DaemonError::internal("the request came past the gate"))
    }
}
