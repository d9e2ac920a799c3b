//! Version 1 of the API: one file a subject, one function a route.

pub(crate) mod admin;
pub(super) mod capacity;
pub(super) mod conversations;
pub(super) mod events;
pub(super) mod execute;
mod execute_stream;
pub(super) mod explain;
pub(super) mod files;
pub(super) mod messages;
pub(super) mod turns;

use super::error::{ApiError, ErrorCode};
use crate::service::ServiceError;
use sandpool_core::{Reason, Span, WhyRejected};

impl From<ServiceError> for ApiError {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::NoSuchConversation => Self::not_found("conversation"),
            ServiceError::Closed => {
                Self::new(ErrorCode::ConversationClosed, "the conversation is closed")
                    .hint("its history can still be read; open another one to go on")
            }
            ServiceError::NoSuchClass(name) => {
                Self::new(ErrorCode::InvalidRequest, format!("no class {name:?} is configured"))
            }
            ServiceError::Refused(refused) => refused_as(refused.0),
            ServiceError::Stopped(_) => {
                Self::new(ErrorCode::NotReady, "the server is shutting down").retry_after_seconds(1)
            }
            ServiceError::Store(error) => Self::internal(&error),
        }
    }
}

fn refused_as(why: WhyRejected) -> ApiError {
    match why {
        WhyRejected::UnknownConversation => ApiError::not_found("conversation"),
        WhyRejected::TurnOpen => ApiError::new(ErrorCode::TurnOpen, "a turn is open already")
            .hint("end it first; a conversation has one open turn at most"),
        WhyRejected::NoSuchTurn => ApiError::new(ErrorCode::NoOpenTurn, "no such open turn"),
        WhyRejected::ExecuteInProgress => ApiError::new(
            ErrorCode::ExecuteInProgress,
            "something runs in this conversation already",
        )
        .hint("wait for it, or cancel it: POST .../cancel"),
        other => ApiError::internal(&other),
    }
}

/// Does something in a task of its own: what was let go in a sandbox ends, and is kept, even if the
/// caller has gone. Dropped half-way, the conversation would stay busy for good.
async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, ApiError> {
    tokio::spawn(work).await.map_err(|defect| ApiError::internal(&defect))
}

/// An error that comes with the news that files are gone says so: they are told once.
fn with_loss(error: ApiError, files_lost: Option<Reason>) -> ApiError {
    match files_lost {
        None => error,
        Some(reason) => error.hint(format!(
            "the sandbox of this conversation is a new one ({}): files of earlier turns are gone",
            reason.name()
        )),
    }
}

/// Seconds as the API writes them.
fn seconds(span: Span) -> f64 {
    span.as_secs_f64()
}

/// A patience as the API reads it: 0 to 86,400 seconds.
fn patience(seconds: Option<f64>) -> Result<Option<Span>, ApiError> {
    match seconds {
        None => Ok(None),
        Some(seconds) if (0.0..=86_400.0).contains(&seconds) => {
            Ok(Some(Span::from_secs_f64(seconds)))
        }
        Some(seconds) => Err(ApiError::new(
            ErrorCode::InvalidRequest,
            format!("patience_seconds = {seconds} is out of range"),
        )
        .hint("from 0 to 86400")),
    }
}

/// A page's size: 1 to 1,000.
fn limit(asked: Option<u32>) -> Result<u32, ApiError> {
    match asked.unwrap_or(100) {
        limit @ 1..=1_000 => Ok(limit),
        limit => Err(ApiError::new(
            ErrorCode::InvalidRequest,
            format!("limit = {limit} is out of range"),
        )
        .hint("from 1 to 1000")),
    }
}
