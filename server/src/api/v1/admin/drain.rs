//! `/v1/admin/drain`: shutting down.

use super::super::super::app::App;
use super::super::super::auth::Operator;
use super::super::super::error::{ApiError, ErrorBody};
use super::super::super::extract::Json;
use crate::service::ServiceError;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use std::sync::atomic::Ordering;
use utoipa::ToSchema;

/// How to shut down.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DrainBody {
    /// Leave the conversations' sandboxes to be adopted by the next instance.
    #[serde(default)]
    leave_sandboxes: bool,
}

/// Stop admitting, answer everybody, and let everything go. Answers when nothing is left
#[utoipa::path(
    post,
    path = "/v1/admin/drain",
    tag = "admin",
    request_body = DrainBody,
    responses(
        (status = 204, description = "drained"),
        (status = 400, description = "the request makes no sense", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 403, description = "not the operator's key", body = ErrorBody)
    )
)]
pub(crate) async fn drain(
    State(app): State<App>,
    _: Operator,
    Json(body): Json<DrainBody>,
) -> Result<StatusCode, ApiError> {
    app.is_draining.store(true, Ordering::Release);
    app.service.engine().drain(body.leave_sandboxes).await.map_err(ServiceError::from)?;
    Ok(StatusCode::NO_CONTENT)
}
