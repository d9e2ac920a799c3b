//! What every request passes, from the outside in: a request id, a log line, a count, a net under defects,
//! a bound on requests at once, a bound on bodies, and idempotency keys.

mod counting;
mod idempotency;
mod load_shedding;

pub(super) use idempotency::IDEMPOTENCY_KEY;

use super::app::App;
use super::error::{ApiError, ErrorCode};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderName, Request};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::request_id::{
    MakeRequestId, PropagateRequestIdLayer, RequestId, SetRequestIdLayer,
};
use tower_http::trace::TraceLayer;

static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Puts the middlewares around the routes.
pub(super) fn around(router: Router<App>, app: &App) -> Router<App> {
    let most_bytes = app.http.max_body_mb as usize * 1_024 * 1_024;
    router
        .layer(from_fn_with_state(app.clone(), idempotency::once))
        .layer(DefaultBodyLimit::max(most_bytes))
        .layer(from_fn_with_state(app.clone(), load_shedding::shed))
        .layer(CatchPanicLayer::custom(defect))
        .layer(from_fn_with_state(app.clone(), counting::count))
        .layer(PropagateRequestIdLayer::new(REQUEST_ID.clone()))
        .layer(TraceLayer::new_for_http().make_span_with(span))
        .layer(SetRequestIdLayer::new(REQUEST_ID.clone(), NewId))
}

/// One span a request. Headers and bodies are not in it: they hold keys and people's data.
fn span<B>(request: &Request<B>) -> tracing::Span {
    let id = request.headers().get(&REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or("");
    tracing::info_span!("request", id, method = %request.method(), path = request.uri().path())
}

fn defect(panic: Box<dyn std::any::Any + Send>) -> Response {
    let what = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("unknown");
    ApiError::internal(&what).into_response()
}

/// Ids that nobody else gives.
#[derive(Clone, Copy)]
struct NewId;

impl MakeRequestId for NewId {
    fn make_request_id<B>(&mut self, _: &Request<B>) -> Option<RequestId> {
        let mut bytes = [0_u8; 12];
        getrandom::fill(&mut bytes).ok()?;
        let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Some(RequestId::new(format!("req_{text}").parse().ok()?))
    }
}

/// The server does not take requests on now.
fn not_now(code: ErrorCode, why: &str) -> ApiError {
    ApiError::new(code, why).retry_after_seconds(1)
}
