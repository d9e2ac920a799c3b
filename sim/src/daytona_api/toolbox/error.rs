//! Errors as the daemon writes them (published toolbox specification v0.205.1, `ErrorResponse`).

use axum::body::Body;
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::io;

/// A refusal by the daemon. The body is written by the gate, which knows the time and the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DaemonError {
    pub(super) status: StatusCode,
    pub(super) code: &'static str,
    pub(super) message: String,
}

impl DaemonError {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", message)
    }

    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "NOT_FOUND", message)
    }

    pub(super) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "CONFLICT", message)
    }

    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_SERVER_ERROR", message)
    }

    /// The time limit of a command has passed.
    pub(super) fn timed_out() -> Self {
        let code = "PROCESS_EXECUTION_TIMEOUT";
        Self::new(StatusCode::REQUEST_TIMEOUT, code, "command execution timeout")
    }

    /// What the file system says of a path.
    pub(super) fn of_file(verb: &str, path: &str, error: &io::Error) -> Self {
        let message = format!("{verb} {path}: {}", words(error));
        match error.kind() {
            io::ErrorKind::NotFound => Self::new(StatusCode::NOT_FOUND, "FILE_NOT_FOUND", message),
            io::ErrorKind::PermissionDenied => {
                Self::new(StatusCode::FORBIDDEN, "FILE_ACCESS_DENIED", message)
            }
            _ => Self::bad_request(message),
        }
    }

    /// As JSON; `path` is that of the daemon, without the sandbox's id.
    pub(super) fn body(&self, method: &Method, path: &str, timestamp: &str) -> String {
        json!({
            "statusCode": self.status.as_u16(),
            "source": "DAYTONA_DAEMON",
            "code": self.code,
            "message": self.message,
            "timestamp": timestamp,
            "path": path,
            "method": method.as_str(),
        })
        .to_string()
    }

    /// As an answer.
    pub(super) fn response(&self, method: &Method, path: &str, timestamp: &str) -> Response {
        let kind = [(header::CONTENT_TYPE, "application/json; charset=utf-8")];
        (self.status, kind, self.body(method, path, timestamp)).into_response()
    }
}

impl IntoResponse for DaemonError {
    /// An answer that the gate replaces by the real one.
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.status;
        response.extensions_mut().insert(self);
        response
    }
}

/// The words that the daemon's language has for the most frequent errors.
pub(super) fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::NotADirectory => "not a directory".to_owned(),
        io::ErrorKind::IsADirectory => "is a directory".to_owned(),
        io::ErrorKind::AlreadyExists => "file exists".to_owned(),
        _ => error.to_string(),
    }
}
