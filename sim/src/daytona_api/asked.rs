//! What every route reads of a request: who asks, and the body with the real server's quirks.

use super::answer::{malformed, unknown_route};
use super::real_time::Live;
use axum::body::to_bytes;
use axum::extract::{ConnectInfo, FromRequest, FromRequestParts, OriginalUri, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use axum::response::Response;
use serde_json::Value;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

/// Largest body that is read, bytes: the real server's parser takes no more.
const BODY_MOST: usize = 100 * 1024;

/// Who asks, and for what path.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) method: Method,
    /// With its query, as it came.
    pub(super) path: String,
    pub(super) address: String,
    pub(super) authorization: Option<String>,
    pub(super) organization: Option<String>,
    /// The query's pairs in their order, decoded.
    pub(super) query: Vec<(String, String)>,
}

impl Asked {
    fn of(parts: &Parts) -> Self {
        let original = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |uri| &uri.0);
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let text = |headers: &HeaderMap, name: &str| {
            headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let query = original.query().unwrap_or_default();
        Self {
            method: parts.method.clone(),
            path: original.to_string(),
            address: peer.map_or_else(String::new, |peer| peer.0.ip().to_string()),
            authorization: text(&parts.headers, header::AUTHORIZATION.as_str()),
            organization: text(&parts.headers, "x-daytona-organization-id"),
            query: form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
        }
    }

    /// The first value of a query parameter.
    pub(super) fn query_one(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Asked {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(parts))
    }
}

/// The body of a request: `null` when there is none, or when it is not said to be JSON.
#[derive(Clone, Debug)]
pub(super) struct Body(pub(super) Value);

impl FromRequest<Arc<Live>> for Body {
    type Rejection = Response;

    async fn from_request(request: Request, live: &Arc<Live>) -> Result<Self, Response> {
        let (parts, body) = request.into_parts();
        let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let is_json = kind.is_some_and(|kind| kind.starts_with("application/json"));
        let Ok(bytes) = to_bytes(body, BODY_MOST).await else {
            return Err(unknown_route(live, &Asked::of(&parts)));
        };
        if !is_json || bytes.is_empty() {
            return Ok(Self(Value::Null));
        }
        match serde_json::from_slice(&bytes) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => Ok(Self(value)),
            _ => Err(malformed()),
        }
    }
}
