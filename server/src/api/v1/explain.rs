//! `/v1/conversations/{conversation}/explain`: why it waits.

use super::super::app::App;
use super::super::auth::Account;
use super::super::error::{ApiError, ErrorBody};
use super::super::extract::InConversation;
use super::seconds;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

/// Why a conversation waits for its sandbox.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Explanation {
    /// Whether it waits at all; if not, the rest is null.
    waits: bool,
    /// Why.
    reason: Option<serde_json::Value>,
    /// Claims that come before it; 0: it is next.
    position: Option<usize>,
    /// Estimated time until it has a sandbox, seconds.
    estimate_seconds: Option<f64>,
    /// How long it has waited, seconds.
    waited_seconds: Option<f64>,
    /// What is left of its patience, seconds.
    patience_left_seconds: Option<f64>,
}

impl From<Option<sandpool_core::Explanation>> for Explanation {
    fn from(why: Option<sandpool_core::Explanation>) -> Self {
        Self {
            waits: why.is_some(),
            reason: why.and_then(|why| serde_json::to_value(why.reason).ok()),
            position: why.and_then(|why| why.position),
            estimate_seconds: why.and_then(|why| why.estimate).map(seconds),
            waited_seconds: why.map(|why| seconds(why.waited)),
            patience_left_seconds: why.and_then(|why| why.patience_left).map(seconds),
        }
    }
}

/// Why the conversation waits for its sandbox
#[utoipa::path(
    get,
    path = "/v1/conversations/{conversation}/explain",
    tag = "events",
    params(("conversation" = String, Path, description = "its name")),
    responses(
        (status = 200, description = "why", body = Explanation),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 404, description = "no such conversation", body = ErrorBody),
        (status = 409, description = "it is closed", body = ErrorBody)
    )
)]
pub(crate) async fn explain(
    State(app): State<App>,
    Account(account): Account,
    InConversation(key): InConversation,
) -> Result<axum::Json<Explanation>, ApiError> {
    Ok(axum::Json(app.service.explain(account, &key).await?.into()))
}
