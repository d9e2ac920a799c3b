//! Answers: what the account says, as HTTP.

use super::asked::Asked;
use super::connection::cut;
use super::error_body::{BAD_GATEWAY_HTML, error_body, malformed_body};
use super::real_time::Live;
use crate::daytona::{ApiOutcome, Call, Caller};
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sandpool_core::Span;
use serde_json::Value;
use std::sync::Arc;

/// In every answer.
const VERSION_HEADER: &str = "x-daytona-api-version";
const VERSION: &str = "0.190.0";

/// Puts a call to the account and answers it, when it is time.
pub(super) async fn answer(live: &Arc<Live>, asked: Asked, call: Call) -> Response {
    let caller = Caller {
        address: &asked.address,
        authorization: asked.authorization.as_deref(),
        organization: asked.organization.as_deref(),
    };
    let (reply, latency) = live.with(|account, now| {
        let reply = account.handle(now, &caller, call);
        let latency = account.cloud().call_latency(account.changes(), 1);
        (reply, latency)
    });
    let outcome = match reply.outcome {
        ApiOutcome::Wait(ticket) => live.wait(&ticket).await,
        outcome => {
            if latency > Span::ZERO {
                tokio::time::sleep(live.on_the_wall(latency)).await;
            }
            outcome
        }
    };
    if !reply.heard {
        return cut();
    }
    let mut response = match outcome {
        ApiOutcome::Answer { status, body } => json(status_of(status), body),
        ApiOutcome::Error { status, message } => refusal(live, &asked, status_of(status), &message),
        ApiOutcome::BadGateway => bad_gateway(),
        ApiOutcome::Silence | ApiOutcome::Wait(_) => return cut(),
    };
    for (name, value) in reply.headers {
        let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>())
        else {
            continue;
        };
        response.headers_mut().insert(name, value);
    }
    response
}

/// A refusal with the usual body.
pub(super) fn refusal(
    live: &Arc<Live>,
    asked: &Asked,
    status: StatusCode,
    message: &str,
) -> Response {
    let instant = live.with(|account, now| account.instant_text(now));
    json(status, Some(error_body(status, message, &asked.path, &instant)))
}

/// What is not served answers like this, a method that a route does not have included.
pub(super) fn unknown_route(live: &Arc<Live>, asked: &Asked) -> Response {
    let message = format!("Cannot {} {}", asked.method, asked.path);
    refusal(live, asked, StatusCode::NOT_FOUND, &message)
}

/// The body was said to be JSON and is not.
pub(super) fn malformed() -> Response {
    json(StatusCode::BAD_REQUEST, Some(malformed_body()))
}

/// Something in front of the service answers, in HTML.
pub(super) fn bad_gateway() -> Response {
    let kind = [(header::CONTENT_TYPE, "text/html")];
    (StatusCode::BAD_GATEWAY, kind, BAD_GATEWAY_HTML).into_response()
}

/// A JSON answer with the usual headers.
pub(super) fn json(status: StatusCode, body: Option<Value>) -> Response {
    let Some(body) = body else {
        let version = [(VERSION_HEADER, VERSION)];
        return (status, version, Body::empty()).into_response();
    };
    let text = body.to_string();
    let tag = format!("W/\"{:x}-{:016x}\"", text.len(), fingerprint(&text));
    let headers = [
        (VERSION_HEADER, VERSION.to_owned()),
        (header::CONTENT_TYPE.as_str(), "application/json; charset=utf-8".to_owned()),
        (header::ETAG.as_str(), tag),
    ];
    (status, headers, text).into_response()
}

fn status_of(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// A short fingerprint of a text (64-bit FNV-1a).
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
