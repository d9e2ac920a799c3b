//! `GET /version`: the version of the daemon whose behaviour this is.

use axum::Json;
use serde_json::{Value, json};

pub(super) async fn version() -> Json<Value> {
    Json(json!({ "version": "0.190.0" }))
}
