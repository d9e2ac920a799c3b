//! Reading requests as the daemon does.

use super::error::DaemonError;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use bytes::Bytes;
use serde::de::DeserializeOwned;
use std::convert::Infallible;

/// A JSON body, whatever its content type says.
pub(super) struct JsonBody<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = DaemonError;

    async fn from_request(request: Request, state: &S) -> Result<Self, DaemonError> {
        let invalid = |reason: String| {
            let message = format!("invalid request body: {reason}");
            DaemonError::new(StatusCode::BAD_REQUEST, "INVALID_REQUEST_BODY", message)
        };
        let body = Bytes::from_request(request, state)
            .await
            .map_err(|error| invalid(error.body_text()))?;
        serde_json::from_slice(&body).map(Self).map_err(|error| invalid(error.to_string()))
    }
}

/// The pairs of the query, decoded.
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// The first value of a parameter, unless it is empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(key, _)| key == name)?;
        Some(found.1.as_str()).filter(|value| !value.is_empty())
    }

    /// The value of a parameter that must be there.
    pub(super) fn path(&self) -> Result<String, DaemonError> {
        let path = self.get("path").map(str::to_owned);
        path.ok_or_else(|| DaemonError::bad_request("path is required"))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Query {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let query = parts.uri.query().unwrap_or_default();
        Ok(Self(form_urlencoded::parse(query.as_bytes()).into_owned().collect()))
    }
}
