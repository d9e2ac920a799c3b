//! `/v1/conversations/{conversation}/messages` and `.../context`.

use super::super::app::App;
use super::super::auth::Account;
use super::super::error::{ApiError, ErrorBody, ErrorCode};
use super::super::extract::{InConversation, Json, Params};
use super::limit;
use crate::store::{self, MessageKind, MessageRange, Order};
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// From whom a message is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Instructions to the model.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// The model calls a tool.
    ToolCall,
    /// What the tool answered.
    ToolResult,
    /// What happened to the sandbox. Written by the server only.
    Notice,
}

impl From<MessageKind> for Kind {
    fn from(kind: MessageKind) -> Self {
        match kind {
            MessageKind::System => Self::System,
            MessageKind::User => Self::User,
            MessageKind::Assistant => Self::Assistant,
            MessageKind::ToolCall => Self::ToolCall,
            MessageKind::ToolResult => Self::ToolResult,
            MessageKind::Notice => Self::Notice,
        }
    }
}

/// A message.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Message {
    /// Counts the conversation's messages from 1.
    sequence: u64,
    /// The turn it belongs to; 0 outside of turns.
    turn: u64,
    /// From whom it is.
    kind: Kind,
    /// The tool call that a call or a result belongs to.
    call: Option<String>,
    /// When, milliseconds since 1970.
    at_ms: i64,
    /// What it says.
    text: String,
}

impl From<store::Message> for Message {
    fn from(it: store::Message) -> Self {
        Self {
            sequence: it.sequence,
            turn: it.turn,
            kind: it.kind.into(),
            call: it.call,
            at_ms: it.at_ms,
            text: it.text,
        }
    }
}

/// A message to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewMessage {
    /// From whom it is; not `notice`.
    kind: Kind,
    /// What it says.
    text: String,
    /// The tool call that a call or a result belongs to.
    #[serde(default)]
    call: Option<String>,
    /// The turn it belongs to; 0: none.
    #[serde(default)]
    turn: u32,
}

/// Where a message stands.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Appended {
    /// Its sequence.
    sequence: u64,
}

/// Which messages.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListParams {
    /// The last sequence of the page before.
    after: Option<u64>,
    /// How many (1 to 1,000; 100).
    limit: Option<u32>,
    /// From the newest back instead of from the oldest on.
    #[serde(default)]
    newest_first: bool,
}

/// Messages.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Messages {
    /// The messages.
    items: Vec<Message>,
    /// What to pass as `after` for the next page; null on the last one.
    next: Option<u64>,
}

/// How much goes to the model.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContextParams {
    /// The most tokens, estimated as a quarter of the bytes.
    budget_tokens: u64,
}

/// What of the history goes to the model.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Context {
    /// The messages, oldest first.
    items: Vec<InContext>,
    /// Their tokens, estimated.
    tokens: u64,
    /// How many messages were left out.
    left_out: usize,
}

/// A message in a context.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct InContext {
    /// The message, shortened if it was too long.
    message: Message,
    /// Whether it was shortened.
    shortened: bool,
}

/// Add a message to the history
#[utoipa::path(
    post,
    path = "/v1/conversations/{conversation}/messages",
    tag = "messages",
    params(("conversation" = String, Path, description = "its name")),
    request_body = NewMessage,
    responses(
        (status = 201, description = "added", body = Appended),
        (status = 400, description = "the request makes no sense", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 404, description = "no such conversation", body = ErrorBody),
        (status = 409, description = "it is closed", body = ErrorBody)
    )
)]
pub(crate) async fn append(
    State(app): State<App>,
    Account(account): Account,
    InConversation(key): InConversation,
    Json(body): Json<NewMessage>,
) -> Result<(StatusCode, axum::Json<Appended>), ApiError> {
    let kind = match body.kind {
        Kind::System => MessageKind::System,
        Kind::User => MessageKind::User,
        Kind::Assistant => MessageKind::Assistant,
        Kind::ToolCall => MessageKind::ToolCall,
        Kind::ToolResult => MessageKind::ToolResult,
        Kind::Notice => {
            return Err(ApiError::new(ErrorCode::InvalidRequest, "only the server writes notices"));
        }
    };
    let sequence = app.service.append(account, &key, body.turn, kind, body.call, body.text).await?;
    Ok((StatusCode::CREATED, axum::Json(Appended { sequence })))
}

/// List messages
#[utoipa::path(
    get,
    path = "/v1/conversations/{conversation}/messages",
    tag = "messages",
    params(("conversation" = String, Path, description = "its name"), ListParams),
    responses(
        (status = 200, description = "a page", body = Messages),
        (status = 400, description = "the request makes no sense", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 404, description = "no such conversation", body = ErrorBody)
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    Account(account): Account,
    InConversation(key): InConversation,
    Params(params): Params<ListParams>,
) -> Result<axum::Json<Messages>, ApiError> {
    let order = if params.newest_first { Order::NewestFirst } else { Order::OldestFirst };
    let limit = limit(params.limit)?;
    let range = MessageRange { order, after: params.after, limit };
    let messages = app.service.messages(account, &key, range).await?;
    let is_full = messages.len() == limit as usize;
    let next = messages.last().filter(|_| is_full).map(|message| message.sequence);
    Ok(axum::Json(Messages { items: messages.into_iter().map(Message::from).collect(), next }))
}

/// What of the history goes to a model within a budget
#[utoipa::path(
    get,
    path = "/v1/conversations/{conversation}/context",
    tag = "messages",
    params(("conversation" = String, Path, description = "its name"), ContextParams),
    responses(
        (status = 200, description = "the context", body = Context),
        (status = 400, description = "the request makes no sense", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 404, description = "no such conversation", body = ErrorBody)
    )
)]
pub(crate) async fn context(
    State(app): State<App>,
    Account(account): Account,
    InConversation(key): InConversation,
    Params(params): Params<ContextParams>,
) -> Result<axum::Json<Context>, ApiError> {
    let selection = app.service.context(account, &key, params.budget_tokens).await?;
    let items = selection.messages.into_iter().map(|selected| InContext {
        message: selected.message.into(),
        shortened: selected.shortened,
    });
    Ok(axum::Json(Context {
        items: items.collect(),
        tokens: selection.tokens,
        left_out: selection.left_out,
    }))
}
