//! `/v1/conversations/{conversation}/turns`.

use super::super::app::App;
use super::super::auth::Account;
use super::super::error::{ApiError, ErrorBody, ErrorCode};
use super::super::extract::{At, InConversation, Json, Params};
use super::conversations::CancelParams;
use crate::store::TurnRecord;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A turn.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Turn {
    /// Its number within the conversation.
    turn: u64,
    /// The class of sandbox that it uses.
    class: String,
    /// When it began, milliseconds since 1970.
    began_ms: i64,
    /// When it ended, milliseconds since 1970; null while it is open.
    ended_ms: Option<i64>,
    /// Why it ended; null while it is open.
    ended_by: Option<String>,
}

impl From<TurnRecord> for Turn {
    fn from(it: TurnRecord) -> Self {
        let (ended_ms, ended_by) = it.ended.unzip();
        Self { turn: it.turn, class: it.class, began_ms: it.began_ms, ended_ms, ended_by }
    }
}

/// A turn to begin.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewTurn {
    /// The class of sandbox; the default one if it is left out.
    #[serde(default)]
    class: Option<String>,
    /// The caller's own estimate that the turn needs code, percent (0 to 100).
    #[serde(default)]
    likely_percent: Option<u8>,
}

/// Begin a turn; a sandbox may be acquired in the background from now on
#[utoipa::path(
    post,
    path = "/v1/conversations/{conversation}/turns",
    tag = "turns",
    params(("conversation" = String, Path, description = "its name")),
    request_body = NewTurn,
    responses(
        (status = 201, description = "begun", body = Turn),
        (status = 400, description = "the request makes no sense", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 404, description = "no such conversation", body = ErrorBody),
        (status = 409, description = "a turn is open already, or the conversation is closed", body = ErrorBody)
    )
)]
pub(crate) async fn begin(
    State(app): State<App>,
    Account(account): Account,
    InConversation(key): InConversation,
    Json(body): Json<NewTurn>,
) -> Result<(StatusCode, axum::Json<Turn>), ApiError> {
    if body.likely_percent.is_some_and(|percent| percent > 100) {
        return Err(ApiError::new(ErrorCode::InvalidRequest, "likely_percent is above 100"));
    }
    let class = body.class.as_deref();
    let turn = app.service.begin_turn(account, &key, class, body.likely_percent).await?;
    Ok((StatusCode::CREATED, axum::Json(turn.into())))
}

/// The end of a turn's path.
#[derive(Debug, Deserialize)]
pub(crate) struct TurnPath {
    turn: u32,
}

/// End a turn
#[utoipa::path(
    post,
    path = "/v1/conversations/{conversation}/turns/{turn}/end",
    tag = "turns",
    params(
        ("conversation" = String, Path, description = "its name"),
        ("turn" = u32, Path, description = "its number"),
        CancelParams
    ),
    responses(
        (status = 200, description = "ended", body = Turn),
        (status = 400, description = "the request makes no sense", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 404, description = "no such conversation", body = ErrorBody),
        (status = 409, description = "it is not open, or something is under way", body = ErrorBody)
    )
)]
pub(crate) async fn end(
    State(app): State<App>,
    Account(account): Account,
    InConversation(key): InConversation,
    At(path): At<TurnPath>,
    Params(params): Params<CancelParams>,
) -> Result<axum::Json<Turn>, ApiError> {
    let turn = app.service.end_turn(account, &key, path.turn, params.cancel).await?;
    Ok(axum::Json(turn.into()))
}
