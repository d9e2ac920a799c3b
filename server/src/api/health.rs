//! `/healthz`: the process runs. `/readyz`: it takes requests on.

use super::app::App;
use super::error::{ApiError, ErrorCode};
use axum::extract::State;
use std::sync::atomic::Ordering;

/// The process runs
#[utoipa::path(get, path = "/healthz", tag = "operation", security(()), responses((status = 200, description = "it runs", body = String)))]
pub(super) async fn healthz() -> &'static str {
    "ok"
}

/// The server takes requests on
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "operation",
    security(()),
    responses(
        (status = 200, description = "it does", body = String),
        (status = 503, description = "it is shutting down, or has failed", body = super::error::ErrorBody)
    )
)]
pub(super) async fn readyz(State(app): State<App>) -> Result<&'static str, ApiError> {
    if app.is_draining.load(Ordering::Acquire) || app.service.engine().is_stopped() {
        return Err(ApiError::new(ErrorCode::NotReady, "the server is shutting down"));
    }
    Ok("ready")
}
