//! `/v1/conversations/{conversation}/events`: what happened, as a list or as a stream.

use super::super::app::App;
use super::super::auth::Account;
use super::super::error::{ApiError, ErrorBody};
use super::super::extract::{InConversation, Params};
use super::limit;
use crate::store::{ConversationKey, EventRecord};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::ACCEPT;
use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use utoipa::{IntoParams, ToSchema};

/// Something that happened in a conversation.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Event {
    /// Counts the conversation's events from 1 without a gap.
    sequence: u64,
    /// What happened.
    kind: String,
    /// Why.
    reason: String,
    /// When, milliseconds since 1970.
    at_ms: i64,
    /// The turn; 0 outside of turns.
    turn: u32,
    /// The execute; 0 where there is none.
    execute: u32,
    /// A length of time, seconds; which one follows from the kind.
    span_seconds: f64,
}

impl Event {
    fn from_record(record: &EventRecord) -> Option<Self> {
        let event: sandpool_core::Event = serde_json::from_str(&record.body).ok()?;
        Some(Self {
            sequence: record.conversation?.1,
            kind: record.kind.clone(),
            reason: event.reason.name().to_owned(),
            at_ms: record.at_ms,
            turn: event.turn.0,
            execute: event.execute.0,
            span_seconds: event.span.as_secs_f64(),
        })
    }
}

/// Which events.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventParams {
    /// The last sequence that was seen; 0 from the beginning.
    #[serde(default)]
    after: u64,
    /// How many (1 to 1,000; 100). A stream has no end.
    limit: Option<u32>,
}

/// Events, oldest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Events {
    /// The events.
    items: Vec<Event>,
    /// What to pass as `after` to go on.
    next: u64,
}

/// List events; with `Accept: text/event-stream`, stream them (and go on after `Last-Event-ID`)
#[utoipa::path(
    get,
    path = "/v1/conversations/{conversation}/events",
    tag = "events",
    params(("conversation" = String, Path, description = "its name"), EventParams),
    responses(
        (status = 200, description = "events", content((Events = "application/json"), (String = "text/event-stream"))),
        (status = 400, description = "the request makes no sense", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 404, description = "no such conversation", body = ErrorBody)
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    Account(account): Account,
    InConversation(key): InConversation,
    Params(params): Params<EventParams>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let is_stream =
        text(ACCEPT.as_str()).is_some_and(|accept| accept.contains("text/event-stream"));
    let limit = limit(params.limit)?;
    let after = text("last-event-id").and_then(|id| id.parse().ok()).unwrap_or(params.after);
    let records = app.service.events(account, &key, after, limit).await?;
    if is_stream {
        return Ok(stream(app, account, key, after).into_response());
    }
    let items: Vec<Event> = records.iter().filter_map(Event::from_record).collect();
    let next = items.last().map_or(after, |event| event.sequence);
    Ok(axum::Json(Events { items, next }).into_response())
}

/// A stream that ends when the server does, or when the conversation cannot be read any more.
fn stream(
    app: App,
    account: u32,
    key: ConversationKey,
    after: u64,
) -> Sse<impl futures_util::Stream<Item = Result<SseEvent, Infallible>>> {
    let safe = app.service.engine().safe_events();
    let state = (app, key, after, safe, std::collections::VecDeque::<Event>::new());
    let events = futures_util::stream::unfold(state, move |state| async move {
        let (app, key, mut after, mut safe, mut ready) = state;
        loop {
            if let Some(event) = ready.pop_front() {
                after = event.sequence;
                let line = SseEvent::default()
                    .id(event.sequence.to_string())
                    .event(event.kind.clone())
                    .json_data(&event)
                    .unwrap_or_default();
                return Some((Ok(line), (app, key, after, safe, ready)));
            }
            // Marked as seen before it is read: what comes in between is looked for again.
            safe.borrow_and_update();
            let records = app.service.events(account, &key, after, 100).await.ok()?;
            ready.extend(records.iter().filter_map(Event::from_record));
            if ready.is_empty() {
                safe.changed().await.ok()?;
            }
        }
    });
    Sse::new(events).keep_alive(KeepAlive::default())
}
