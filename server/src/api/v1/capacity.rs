//! `/v1/capacity`: what is used, free and promised. It tells no account of another.

use super::super::app::App;
use super::super::auth::Account;
use super::super::error::{ApiError, ErrorBody};
use crate::service::ServiceError;
use axum::extract::State;
use sandpool_core::Resources;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Amounts in every dimension; null where there is no limit.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct Amounts {
    /// Sandboxes.
    pub(crate) sandboxes: Option<i64>,
    /// Memory, MB.
    pub(crate) memory_mb: Option<i64>,
    /// Processors, thousandths.
    pub(crate) cpu_milli: Option<i64>,
    /// Disk, MB.
    pub(crate) disk_mb: Option<i64>,
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
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct Capacity {
    /// The limits in force.
    pub(crate) limit: Amounts,
    /// Whether they are below the configured ones, because the provider said full.
    pub(crate) is_lowered: bool,
    /// What sandboxes take that may exist.
    pub(crate) used: Amounts,
    /// What can be promised.
    pub(crate) free: Amounts,
    /// Executes that wait for a sandbox.
    pub(crate) waiting: usize,
    /// Sandboxes that may exist.
    pub(crate) sandboxes: usize,
    /// Starts under way.
    pub(crate) starting: i64,
}

impl From<sandpool_core::Capacity> for Capacity {
    fn from(it: sandpool_core::Capacity) -> Self {
        Self {
            limit: it.limit.into(),
            is_lowered: it.is_lowered,
            used: it.used.into(),
            free: it.free.into(),
            waiting: it.blocked,
            sandboxes: it.sandboxes,
            starting: it.starting,
        }
    }
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
    Ok(axum::Json(app.service.engine().capacity().await.map_err(ServiceError::from)?.into()))
}
