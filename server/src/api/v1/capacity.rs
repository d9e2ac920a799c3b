//! `/v1/capacity`: what is used, free and promised. It tells no account of another.

use super::super::app::App;
use super::super::auth::Account;
use super::super::error::{ApiError, ErrorBody};
use crate::service::ServiceError;
use axum::extract::State;
use sandpool_core::Resources;
use serde::Serialize;
use utoipa::ToSchema;

/// Amounts in every dimension; null where there is no limit.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Amounts {
    /// Sandboxes.
    sandboxes: Option<i64>,
    /// Memory, MB.
    memory_mb: Option<i64>,
    /// Processors, thousandths.
    cpu_milli: Option<i64>,
    /// Disk, MB.
    disk_mb: Option<i64>,
}

impl From<Resources> for Amounts {
    fn from(it: Resources) -> Self {
        let amount = |value: i64| (value < Resources::UNLIMITED / 2).then_some(value);
        Self {
            sandboxes: amount(it.slots),
            memory_mb: amount(it.memory_mb),
            cpu_milli: amount(it.cpu_milli),
            disk_mb: amount(it.disk_mb),
        }
    }
}

/// What the pool has.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Capacity {
    /// The limits in force.
    limit: Amounts,
    /// Whether they are below the configured ones, because the provider said full.
    is_lowered: bool,
    /// What sandboxes take that may exist.
    used: Amounts,
    /// What can be promised.
    free: Amounts,
    /// Executes that wait for a sandbox.
    waiting: usize,
    /// Sandboxes that may exist.
    sandboxes: usize,
    /// Starts under way.
    starting: i64,
}

/// What the pool has
#[utoipa::path(
    get,
    path = "/v1/capacity",
    tag = "operation",
    responses(
        (status = 200, description = "what it has", body = Capacity),
        (status = 401, description = "no valid key", body = ErrorBody)
    )
)]
pub(crate) async fn capacity(
    State(app): State<App>,
    _: Account,
) -> Result<axum::Json<Capacity>, ApiError> {
    let it = app.service.engine().capacity().await.map_err(ServiceError::from)?;
    Ok(axum::Json(Capacity {
        limit: it.limit.into(),
        is_lowered: it.is_lowered,
        used: it.used.into(),
        free: it.free.into(),
        waiting: it.blocked,
        sandboxes: it.sandboxes,
        starting: it.starting,
    }))
}
