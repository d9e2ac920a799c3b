//! `/metrics`: for Prometheus, with the operator's key.

use super::app::App;
use super::auth::Operator;
use super::error::ApiError;
use crate::service::ServiceError;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

/// Metrics for Prometheus (OpenMetrics 1.0)
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "operation",
    responses(
        (status = 200, description = "the metrics", body = String, content_type = "application/openmetrics-text"),
        (status = 401, description = "no valid key", body = super::error::ErrorBody),
        (status = 403, description = "not the operator's key", body = super::error::ErrorBody),
        (status = 503, description = "the server is shutting down", body = super::error::ErrorBody)
    )
)]
pub(super) async fn metrics(State(app): State<App>, _: Operator) -> Result<Response, ApiError> {
    app.service.engine().settle().await.map_err(ServiceError::from)?;
    let kind = [(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")];
    Ok((kind, app.metrics.text()).into_response())
}
