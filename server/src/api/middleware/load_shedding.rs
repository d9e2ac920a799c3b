//! More requests than the server takes on are answered at once, not queued: whoever waits in a
//! queue that only grows waits in vain.

use super::not_now;
use crate::api::app::App;
use crate::api::error::{ApiError, ErrorCode};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use std::sync::atomic::Ordering;

pub(super) async fn shed(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    // Whoever looks after the server must always get through.
    if matches!(request.uri().path(), "/healthz" | "/readyz" | "/metrics") {
        return Ok(next.run(request).await);
    }
    if app.is_draining.load(Ordering::Acquire) {
        return Err(not_now(ErrorCode::NotReady, "the server is shutting down"));
    }
    let Ok(_permit) = app.permits.try_acquire() else {
        return Err(not_now(ErrorCode::Overloaded, "too many requests are under way"));
    };
    Ok(next.run(request).await)
}
