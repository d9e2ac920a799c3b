//! `/v1/conversations/{conversation}/explain`: why it waits.

use super::super::app::App;
use super::super::auth::Account;
use super::super::error::{ApiError, ErrorBody};
use super::super::extract::InConversation;
use super::seconds;
use crate::service::{Happened, What};
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

/// Why a conversation waits for its sandbox, and what happened to it before.
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
    /// Why it waited, was refused or lost its files before, oldest first; at most 20.
    before: Vec<Before>,
}

/// Something that happened to its sandboxes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Before {
    /// When, milliseconds since 1970.
    at_ms: i64,
    /// In which turn; 0: outside of turns.
    turn: u32,
    /// What: `waited`, `refused`, `lost_sandbox`, `told_of_loss` or `cut_off`.
    what: &'static str,
    /// Why, in the word of the events.
    reason: &'static str,
    /// How long was waited, seconds; null where nobody was.
    waited_seconds: Option<f64>,
    /// The same as a sentence.
    text: String,
}

impl From<Happened> for Before {
    fn from(it: Happened) -> Self {
        Self {
            at_ms: it.at_ms,
            turn: it.turn,
            what: match it.what {
                What::Waited => "waited",
                What::Refused => "refused",
                What::LostSandbox => "lost_sandbox",
                What::ToldOfLoss => "told_of_loss",
                What::CutOff => "cut_off",
            },
            reason: it.reason.name(),
            waited_seconds: matches!(it.what, What::Waited | What::Refused)
                .then(|| seconds(it.waited)),
            text: it.text(),
        }
    }
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
            before: Vec::new(),
        }
    }
}

/// Why the conversation waits, waited, was refused or lost its files
#[utoipa::path(
    get,
    path = "/v1/conversations/{conversation}/explain",
    tag = "events",
    params(("conversation" = String, Path, description = "its name")),
    responses(
        (status = 200, description = "why", body = Explanation),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 404, description = "no such conversation", body = ErrorBody)
    )
)]
pub(crate) async fn explain(
    State(app): State<App>,
    Account(account): Account,
    InConversation(key): InConversation,
) -> Result<axum::Json<Explanation>, ApiError> {
    let explained = app.service.explain(account, &key).await?;
    let before = explained.before.into_iter().map(Before::from).collect();
    Ok(axum::Json(Explanation { before, ..explained.now.into() }))
}
