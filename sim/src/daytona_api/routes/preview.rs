//! `GET /sandbox/{key}/ports/{port}/preview-url` and `/signed-preview-url`

use crate::daytona::Call;
use crate::daytona_api::answer::answer;
use crate::daytona_api::asked::Asked;
use crate::daytona_api::real_time::Live;
use axum::extract::{Path, State};
use axum::response::Response;
use std::sync::Arc;

pub(super) async fn preview_url(
    State(live): State<Arc<Live>>,
    Path((key, text)): Path<(String, String)>,
    asked: Asked,
) -> Response {
    let call = Call::PreviewUrl { key, port: text };
    answer(&live, asked, call).await
}

pub(super) async fn signed_preview_url(
    State(live): State<Arc<Live>>,
    Path((key, text)): Path<(String, String)>,
    asked: Asked,
) -> Response {
    let call = Call::SignedPreviewUrl { key, port: text, query: asked.query.clone() };
    answer(&live, asked, call).await
}
