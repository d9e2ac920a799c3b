//! `/v1/admin/status`: who holds what, who waits, and what is wrong.

use super::super::super::app::App;
use super::super::super::auth::Operator;
use super::super::super::error::{ApiError, ErrorBody};
use super::super::capacity::Capacity;
use super::super::seconds;
use crate::service::Standing;
use axum::extract::State;
use sandpool_core::SandboxState;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The pool at one instant.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct Status {
    /// The program's version.
    pub(crate) version: String,
    /// Whether what earlier instances left is still being looked for: nothing starts before.
    pub(crate) is_recovering: bool,
    /// What is used, free and promised.
    pub(crate) capacity: Capacity,
    /// By class.
    pub(crate) classes: Vec<ClassStatus>,
    /// Every sandbox that may exist.
    pub(crate) sandboxes: Vec<SandboxStatus>,
    /// Conversations that want a sandbox, those that wait for it first.
    pub(crate) waiting: Vec<WaitingStatus>,
    /// Creates whose answer was lost.
    pub(crate) limbo: usize,
    /// Deletes that have been tried in vain for long.
    pub(crate) stuck: usize,
}

/// One class.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ClassStatus {
    /// Its name.
    pub(crate) class: String,
    /// Ready and bound to nobody.
    pub(crate) warm: usize,
    /// How many are wanted.
    pub(crate) warm_target: i64,
    /// Failed starts in a row.
    pub(crate) failures: u32,
    /// Whether its circuit breaker is open: nothing of it starts.
    pub(crate) is_breaker_open: bool,
    /// How long a start takes of late, seconds.
    pub(crate) start_seconds: f64,
}

/// One sandbox.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct SandboxStatus {
    /// Its name: epoch and sequence.
    pub(crate) name: String,
    /// The provider's own id, once known.
    pub(crate) provider_id: Option<String>,
    /// Its class.
    pub(crate) class: String,
    /// Its state.
    pub(crate) state: String,
    /// How long it has been in that, seconds; null if this instance has not seen it change.
    pub(crate) since_seconds: Option<f64>,
    /// Whose it is.
    pub(crate) account: Option<u32>,
    /// Which conversation's.
    pub(crate) conversation: Option<String>,
    /// Whether deleting it has been tried in vain for long.
    pub(crate) is_stuck: bool,
}

/// One conversation that wants a sandbox.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct WaitingStatus {
    /// Its name.
    pub(crate) conversation: String,
    /// Whose it is.
    pub(crate) account: u32,
    /// Its open turn.
    pub(crate) turn: Option<u32>,
    /// Whether an execute waits for it.
    pub(crate) is_blocked: bool,
    /// Why it has none yet.
    pub(crate) reason: String,
    /// Claims that come before it; null once it is admitted.
    pub(crate) position: Option<usize>,
    /// How long it has waited, seconds.
    pub(crate) waited_seconds: f64,
    /// What is left of its patience, seconds.
    pub(crate) patience_left_seconds: Option<f64>,
}

impl From<Standing> for Status {
    fn from(it: Standing) -> Self {
        let pool = it.pool;
        let name = |id| it.names.get(&id).map(|key| key.as_str().to_owned());
        let in_state = |state| pool.sandboxes.iter().filter(|it| it.view.state == state).count();
        let (limbo, stuck) = (
            in_state(SandboxState::Limbo),
            pool.sandboxes.iter().filter(|it| it.view.is_stuck).count(),
        );
        let class = |index: u16| {
            let class = pool.classes.get(usize::from(index));
            class.map(|(name, _)| name.clone()).unwrap_or_default()
        };
        let sandboxes = pool.sandboxes.iter().map(|it| SandboxStatus {
            name: it.view.name.to_string(),
            provider_id: it.provider_id.clone(),
            class: class(it.view.class.0),
            state: it.view.state.name().to_owned(),
            since_seconds: it.since_seconds,
            account: it.account.map(|account| account.0),
            conversation: it.view.conversation.and_then(name),
            is_stuck: it.view.is_stuck,
        });
        let mut waiting: Vec<WaitingStatus> = pool
            .waiting
            .iter()
            .map(|it| WaitingStatus {
                conversation: name(it.conversation).unwrap_or_default(),
                account: it.account.0,
                turn: it.turn.map(|turn| turn.0),
                is_blocked: it.is_blocked,
                reason: word(it.why.reason),
                position: it.why.position,
                waited_seconds: seconds(it.why.waited),
                patience_left_seconds: it.why.patience_left.map(seconds),
            })
            .collect();
        waiting.sort_by_key(|it| (!it.is_blocked, it.position));
        let classes = pool.classes.iter().map(|(name, view)| ClassStatus {
            class: name.clone(),
            warm: view.warm,
            warm_target: view.warm_target,
            failures: view.failures,
            is_breaker_open: view.is_breaker_open,
            start_seconds: seconds(view.start_average),
        });
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            is_recovering: pool.is_recovering,
            classes: classes.collect(),
            sandboxes: sandboxes.collect(),
            waiting,
            limbo,
            stuck,
            capacity: pool.capacity.into(),
        }
    }
}

/// A reason in a word or two: `reserve`, `capacity: memory`.
fn word(reason: sandpool_core::WaitReason) -> String {
    match serde_json::to_value(reason) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(serde_json::Value::Object(parts)) => {
            let parts = parts
                .iter()
                .map(|(key, value)| format!("{key}: {}", value.as_str().unwrap_or_default()));
            parts.collect::<Vec<_>>().join(", ")
        }
        _ => String::new(),
    }
}

/// Who holds what, who waits, and what is wrong
#[utoipa::path(
    get,
    path = "/v1/admin/status",
    tag = "admin",
    responses(
        (status = 200, description = "the pool at one instant", body = Status),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 403, description = "not the operator's key", body = ErrorBody)
    )
)]
pub(crate) async fn status(
    State(app): State<App>,
    _: Operator,
) -> Result<axum::Json<Status>, ApiError> {
    Ok(axum::Json(app.service.standing().await?.into()))
}
