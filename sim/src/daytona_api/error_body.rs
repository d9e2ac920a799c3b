//! The body of every refusal (Daytona v0.190.0, all-exceptions.filter.ts).

use axum::http::StatusCode;
use serde_json::{Value, json};

/// `path` is the whole path with its query; `instant` the time of the answer in ISO 8601.
pub(super) fn error_body(status: StatusCode, message: &str, path: &str, instant: &str) -> Value {
    json!({
        "path": path,
        "timestamp": instant,
        "statusCode": status.as_u16(),
        "error": reason(status),
        "message": message,
    })
}

/// The body of a request whose JSON is malformed, which has no path and no time (v0.190.0,
/// body-parser-error.module.ts).
pub(super) fn malformed_body() -> Value {
    json!({ "message": "Invalid JSON in request body", "error": "Bad Request", "statusCode": 400 })
}

fn reason(status: StatusCode) -> &'static str {
    status.canonical_reason().unwrap_or("Error")
}

/// What a load balancer answers when it cannot reach the service.
pub(super) const BAD_GATEWAY_HTML: &str = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n\
    <body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n";
