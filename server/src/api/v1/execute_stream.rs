//! The answer to an execute as a stream of events, which begins while it waits or runs.

use super::super::error::ApiError;
use super::execute::told;
use super::explain::Explanation;
use crate::service::{ExecuteError, Executed, Service};
use crate::store::ConversationKey;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;

/// What makes no sense is refused within this time, with a status of its own. Afterwards the stream
/// begins, and an error is one of its events.
const REFUSED_WITHIN: Duration = Duration::from_millis(100);

type Done = JoinHandle<Result<Executed, ExecuteError>>;

/// What is still to be told.
struct Telling {
    parts: UnboundedReceiver<String>,
    done: Option<Done>,
    /// The first event, if there is one before any output.
    first: Option<Event>,
}

/// Answers with a stream, or with an error if it ends in one at once.
pub(super) async fn answer(
    service: Service,
    account: u32,
    key: ConversationKey,
    mut parts: UnboundedReceiver<String>,
    mut done: Done,
) -> Result<Response, ApiError> {
    // The output's end is the execute's: what it came to follows at once.
    let ended = async {
        let first = parts.recv().await;
        match first {
            Some(part) => Ok(part),
            None => Err((&mut done).await),
        }
    };
    let first = match tokio::time::timeout(REFUSED_WITHIN, ended).await {
        Ok(Ok(part)) => Some(output(&part)),
        Ok(Err(ended)) => {
            let ended = ended.map_err(|defect| ApiError::internal(&defect))?;
            return Ok(stream(Telling { parts, done: None, first: Some(end(told(ended)?)) }));
        }
        // It waits if the scheduler has an explanation for it.
        Err(_) => match service.explain(account, &key).await {
            Ok(explained) if explained.now.is_some() => Some(waiting(explained.now)),
            _ => None,
        },
    };
    Ok(stream(Telling { parts, done: Some(done), first }))
}

fn stream(telling: Telling) -> Response {
    let events = futures_util::stream::unfold(telling, |mut telling| async move {
        let event = next(&mut telling).await?;
        Some((Ok::<_, Infallible>(event), telling))
    });
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}

async fn next(telling: &mut Telling) -> Option<Event> {
    if let Some(first) = telling.first.take() {
        return Some(first);
    }
    if let Some(part) = telling.parts.recv().await {
        return Some(output(&part));
    }
    // No output comes any more.
    let ended = telling.done.take()?.await.map_err(|defect| ApiError::internal(&defect));
    Some(match ended.and_then(told) {
        Ok(answer) => end(answer),
        Err(error) => {
            Event::default().event("error").json_data(error.into_body()).unwrap_or_default()
        }
    })
}

fn output(part: &str) -> Event {
    Event::default().event("output").json_data(json!({ "text": part })).unwrap_or_default()
}

fn end(answer: super::execute::ExecuteAnswer) -> Event {
    Event::default().event("result").json_data(answer).unwrap_or_default()
}

fn waiting(why: Option<sandpool_core::Explanation>) -> Event {
    Event::default().event("waiting").json_data(Explanation::from(why)).unwrap_or_default()
}
