//! `GET /work-dir` and `GET /user-home-dir`: where commands begin, as commands see it.

use super::entered::Entered;
use axum::Json;
use serde_json::{Value, json};

pub(super) async fn work_dir(entered: Entered) -> Json<Value> {
    Json(json!({ "dir": entered.workspace.directory().home() }))
}

pub(super) async fn user_home_dir(entered: Entered) -> Json<Value> {
    work_dir(entered).await
}
