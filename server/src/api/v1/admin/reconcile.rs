//! `/v1/admin/reconcile`: our books against the provider's list, now.

use super::super::super::app::App;
use super::super::super::auth::Operator;
use super::super::super::error::{ApiError, ErrorBody, ErrorCode};
use super::super::super::extract::Json;
use crate::service::{Comparison, ServiceError};
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What to do with what is found.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReconcileBody {
    /// Only say what differs, and change nothing.
    #[serde(default)]
    dry_run: bool,
}

/// A sandbox that is not in our books.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UnknownSandbox {
    /// The provider's id of it.
    provider_id: String,
    /// Its state there.
    state: serde_json::Value,
}

/// Where the books and the provider's list disagree.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Reconciled {
    /// Whether nothing was changed.
    dry_run: bool,
    /// Whether the provider's list was complete; if not, nothing can be said to be missing.
    is_complete: bool,
    /// Sandboxes that the provider lists as this pool's.
    listed: usize,
    /// Of these, sandboxes that are not in our books: removed once seen for `orphan_grace_seconds`.
    unknown: Vec<UnknownSandbox>,
    /// Sandboxes in use or warm that are not listed, by name: each is probed when a second list
    /// misses it too.
    missing: Vec<String>,
    /// Creates whose answer was lost, and that are listed, by name: they are taken over.
    found: Vec<String>,
}

fn reconciled(it: Comparison, dry_run: bool) -> Reconciled {
    let unknown = it.unknown.into_iter().map(|(provider_id, state)| UnknownSandbox {
        provider_id,
        state: serde_json::to_value(state).unwrap_or_default(),
    });
    Reconciled {
        dry_run,
        is_complete: it.is_complete,
        listed: it.listed,
        unknown: unknown.collect(),
        missing: it.missing,
        found: it.found,
    }
}

/// Compare our books with the provider's list
///
/// The answer is what one look shows. Without `dry_run` the scheduler looks as well, at once and not
/// only when it is due, and does what it always does with what it sees: it removes orphans after
/// their grace, takes over lost creates, and probes what two lists miss.
#[utoipa::path(
    post,
    path = "/v1/admin/reconcile",
    tag = "admin",
    request_body = ReconcileBody,
    responses(
        (status = 200, description = "what differs", body = Reconciled),
        (status = 400, description = "the request makes no sense", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 403, description = "not the operator's key", body = ErrorBody),
        (status = 503, description = "the provider does not answer", body = ErrorBody)
    )
)]
pub(crate) async fn reconcile(
    State(app): State<App>,
    _: Operator,
    Json(body): Json<ReconcileBody>,
) -> Result<axum::Json<Reconciled>, ApiError> {
    let compared = app.service.compare().await?;
    let compared = compared.map_err(|error| {
        tracing::warn!(%error, "the provider's list cannot be had");
        ApiError::new(ErrorCode::ProviderUnavailable, "the provider's list cannot be had")
            .hint("GET /metrics (sandpool_provider_calls) shows since when")
            .retry_after_seconds(5)
    })?;
    if !body.dry_run {
        app.service.engine().reconcile().await.map_err(ServiceError::from)?;
    }
    Ok(axum::Json(reconciled(compared, body.dry_run)))
}
