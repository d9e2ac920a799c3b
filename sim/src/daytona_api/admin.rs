//! `POST /admin/control`: faults and the like, while it runs. Not part of Daytona's API.
//!
//! The body is one command as [`Account::control`](crate::Account::control) has them; the answer
//! is `{"ok": true, ..}` or `{"ok": false, "error": ..}`. It wants the account's own key.

use super::answer::json;
use super::asked::{Asked, Body};
use super::real_time::Live;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json as object;
use std::sync::Arc;

pub(super) async fn control(
    State(live): State<Arc<Live>>,
    asked: Asked,
    Body(command): Body,
) -> Response {
    let secret = asked.authorization.as_deref().and_then(|value| value.strip_prefix("Bearer "));
    let done = live.with(|account, now| {
        let may = secret == Some(account.settings().api_key.as_str());
        may.then(|| account.control(now, &command))
    });
    match done {
        None => {
            let body = object!({ "ok": false, "error": "wants the account's own key" });
            json(StatusCode::UNAUTHORIZED, Some(body))
        }
        Some(Ok(answer)) => json(StatusCode::OK, Some(answer)),
        Some(Err(error)) => {
            let body = object!({ "ok": false, "error": error.to_string() });
            json(StatusCode::BAD_REQUEST, Some(body))
        }
    }
}
