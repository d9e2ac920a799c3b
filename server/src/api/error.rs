//! The one shape of every error: what is wrong, in words for people and in a code for programs.
//!
//! A full pool is no error: it is a normal answer of an execute. Errors are for requests that make
//! no sense, are not allowed, or come while the server cannot work.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a program can go by. New codes may be added; none changes its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ErrorCode {
    /// The request is malformed; the message says where.
    InvalidRequest,
    /// No key, or one that opens nothing.
    Unauthorized,
    /// The key is not allowed to do this.
    Forbidden,
    /// No such thing, or not one of this account's.
    NotFound,
    /// The path exists, the method does not.
    MethodNotAllowed,
    /// A turn is open already.
    TurnOpen,
    /// No such open turn.
    NoOpenTurn,
    /// Something runs in this conversation already; its executes run one after another.
    ExecuteInProgress,
    /// The conversation is closed.
    ConversationClosed,
    /// The idempotency key was used for another request.
    IdempotencyKeyReused,
    /// The first request with this idempotency key is still being worked on.
    IdempotencyInProgress,
    /// The body is larger than allowed.
    BodyTooLarge,
    /// The body's type is not one that this route reads.
    UnsupportedMediaType,
    /// More requests than the server takes on at once.
    Overloaded,
    /// The server is shutting down or has not recovered yet.
    NotReady,
    /// The provider does not answer.
    ProviderUnavailable,
    /// A defect of the server; the request's id finds it in the logs.
    Internal,
}

impl ErrorCode {
    /// The status that goes with it: 4xx where the caller can do something about it, else 5xx.
    #[must_use]
    pub(crate) const fn status(self) -> StatusCode {
        match self {
            Self::InvalidRequest => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::TurnOpen
            | Self::NoOpenTurn
            | Self::ExecuteInProgress
            | Self::ConversationClosed
            | Self::IdempotencyInProgress => StatusCode::CONFLICT,
            Self::IdempotencyKeyReused => StatusCode::UNPROCESSABLE_ENTITY,
            Self::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Overloaded | Self::NotReady | Self::ProviderUnavailable => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// The body of an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct ErrorBody {
    /// For programs.
    pub(crate) code: ErrorCode,
    /// For people: what is wrong.
    pub(crate) message: String,
    /// For people: what to do about it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) hint: Option<String>,
}

/// An error on its way out.
#[derive(Clone, Debug)]
pub(crate) struct ApiError {
    body: ErrorBody,
    retry_after_seconds: Option<u64>,
}

impl ApiError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            body: ErrorBody { code, message: message.into(), hint: None },
            retry_after_seconds: None,
        }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.body.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub(crate) fn retry_after_seconds(mut self, seconds: u64) -> Self {
        self.retry_after_seconds = Some(seconds);
        self
    }

    /// What is told where there is no status to go with it.
    pub(crate) fn into_body(self) -> ErrorBody {
        self.body
    }

    /// The same answer for what does not exist and for what belongs to somebody else.
    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(ErrorCode::NotFound, format!("no such {what}"))
    }

    /// A defect. What it was goes to the log and not to the caller.
    pub(crate) fn internal(error: &dyn std::fmt::Display) -> Self {
        tracing::error!(%error, "a request failed by a defect");
        Self::new(ErrorCode::Internal, "the server could not do this")
            .hint("the request's id (header x-request-id) finds the reason in the server's log")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.body.code.status(), Json(self.body)).into_response();
        if let Some(seconds) = self.retry_after_seconds {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_carries_code_message_and_hint_and_no_more() {
        let error = ApiError::new(ErrorCode::TurnOpen, "turn 3 is open").hint("end it first");
        let json = serde_json::to_value(&error.body).unwrap();
        assert_eq!(
            json,
            serde_json::json!({
                "code": "turn_open", "message": "turn 3 is open", "hint": "end it first"
            })
        );
        assert_eq!(error.into_response().status(), StatusCode::CONFLICT);
    }

    #[test]
    fn retry_after_is_a_header_in_seconds() {
        let response =
            ApiError::new(ErrorCode::Overloaded, "busy").retry_after_seconds(2).into_response();
        assert_eq!(response.headers()["retry-after"], "2");
    }
}
