//! `/v1/conversations`.

use super::super::app::App;
use super::super::auth::Account;
use super::super::error::{ApiError, ErrorBody, ErrorCode};
use super::super::extract::{InConversation, Json, Params};
use super::limit;
use crate::store::{self, ConversationKey};
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// A conversation.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Conversation {
    /// Its name.
    id: String,
    /// When it was opened, milliseconds since 1970.
    opened_ms: i64,
    /// When it was closed, milliseconds since 1970; null while it is open.
    closed_ms: Option<i64>,
    /// Its last turn's number; 0 before the first.
    last_turn: u64,
    /// Its last message's sequence; 0 before the first.
    last_message: u64,
    /// Its last event's sequence; 0 before the first.
    last_event: u64,
    /// What its caller keeps with it; null before it was ever set.
    metadata: serde_json::Value,
}

impl From<store::Conversation> for Conversation {
    fn from(it: store::Conversation) -> Self {
        Self {
            id: it.key.as_str().to_owned(),
            opened_ms: it.opened_ms,
            closed_ms: it.closed_ms,
            last_turn: it.last_turn,
            last_message: it.last_message,
            last_event: it.last_event,
            metadata: serde_json::from_str(&it.state).unwrap_or(serde_json::Value::Null),
        }
    }
}

/// What a conversation is opened with, or changed to.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Metadata {
    /// The caller's own state, any JSON, at most 64 KiB as text. Replaces what was there.
    #[serde(default)]
    metadata: Option<serde_json::Value>,
}

/// Most bytes of metadata.
const MOST_METADATA: usize = 64 * 1024;

impl Metadata {
    fn text(self) -> Result<Option<String>, ApiError> {
        let text = self.metadata.map(|value| value.to_string());
        match text {
            Some(text) if text.len() > MOST_METADATA => Err(ApiError::new(
                ErrorCode::InvalidRequest,
                format!("{} bytes of metadata, {MOST_METADATA} allowed", text.len()),
            )),
            text => Ok(text),
        }
    }
}

/// Which conversations.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListParams {
    /// The last conversation of the page before.
    after: Option<String>,
    /// How many (1 to 1,000; 100).
    limit: Option<u32>,
}

/// Conversations, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Conversations {
    /// The conversations.
    items: Vec<Conversation>,
    /// What to pass as `after` for the next page; null on the last one.
    next: Option<String>,
}

/// Open a conversation
#[utoipa::path(
    post,
    path = "/v1/conversations",
    tag = "conversations",
    request_body = Metadata,
    responses(
        (status = 201, description = "opened", body = Conversation),
        (status = 400, description = "the request makes no sense", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody)
    )
)]
pub(crate) async fn create(
    State(app): State<App>,
    Account(account): Account,
    Json(body): Json<Metadata>,
) -> Result<(StatusCode, axum::Json<Conversation>), ApiError> {
    let opened = app.service.open(account, body.text()?).await?;
    Ok((StatusCode::CREATED, axum::Json(opened.into())))
}

/// List the account's conversations, newest first
#[utoipa::path(
    get,
    path = "/v1/conversations",
    tag = "conversations",
    params(ListParams),
    responses(
        (status = 200, description = "a page", body = Conversations),
        (status = 400, description = "the request makes no sense", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 404, description = "no such conversation to go on after", body = ErrorBody)
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    Account(account): Account,
    Params(params): Params<ListParams>,
) -> Result<axum::Json<Conversations>, ApiError> {
    let after = match params.after {
        None => None,
        Some(text) => {
            Some(ConversationKey::parse(&text).ok_or_else(|| ApiError::not_found("conversation"))?)
        }
    };
    let page = app.service.conversations(account, after.as_ref(), limit(params.limit)?).await?;
    Ok(axum::Json(Conversations {
        items: page.conversations.into_iter().map(Conversation::from).collect(),
        next: page.next.map(|key| key.as_str().to_owned()),
    }))
}

/// Look at a conversation
#[utoipa::path(
    get,
    path = "/v1/conversations/{conversation}",
    tag = "conversations",
    params(("conversation" = String, Path, description = "its name")),
    responses(
        (status = 200, description = "the conversation", body = Conversation),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 404, description = "no such conversation", body = ErrorBody)
    )
)]
pub(crate) async fn get(
    State(app): State<App>,
    Account(account): Account,
    InConversation(key): InConversation,
) -> Result<axum::Json<Conversation>, ApiError> {
    Ok(axum::Json(app.service.conversation(account, &key).await?.into()))
}

/// Replace a conversation's metadata
#[utoipa::path(
    patch,
    path = "/v1/conversations/{conversation}",
    tag = "conversations",
    params(("conversation" = String, Path, description = "its name")),
    request_body = Metadata,
    responses(
        (status = 200, description = "the conversation", body = Conversation),
        (status = 400, description = "the request makes no sense", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 404, description = "no such conversation", body = ErrorBody),
        (status = 409, description = "it is closed", body = ErrorBody)
    )
)]
pub(crate) async fn update(
    State(app): State<App>,
    Account(account): Account,
    InConversation(key): InConversation,
    Json(body): Json<Metadata>,
) -> Result<axum::Json<Conversation>, ApiError> {
    let text = body.text()?.unwrap_or_else(|| "null".to_owned());
    Ok(axum::Json(app.service.set_state(account, &key, text).await?.into()))
}

/// Whether something under way is cancelled.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct CancelParams {
    /// Cancel what is under way; otherwise that is a conflict.
    #[serde(default)]
    pub(crate) cancel: bool,
}

/// Close a conversation: its history stays, its sandbox goes
#[utoipa::path(
    delete,
    path = "/v1/conversations/{conversation}",
    tag = "conversations",
    params(("conversation" = String, Path, description = "its name"), CancelParams),
    responses(
        (status = 200, description = "the closed conversation", body = Conversation),
        (status = 400, description = "the request makes no sense", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 404, description = "no such conversation", body = ErrorBody),
        (status = 409, description = "it is closed already, or something is under way", body = ErrorBody)
    )
)]
pub(crate) async fn close(
    State(app): State<App>,
    Account(account): Account,
    InConversation(key): InConversation,
    Params(params): Params<CancelParams>,
) -> Result<axum::Json<Conversation>, ApiError> {
    Ok(axum::Json(app.service.close(account, &key, params.cancel).await?.into()))
}
