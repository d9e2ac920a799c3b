//! `PUT /sandbox/{key}/labels`: replaces them all.

use crate::daytona::Call;
use crate::daytona_api::answer::answer;
use crate::daytona_api::asked::{Asked, Body};
use crate::daytona_api::real_time::Live;
use axum::extract::{Path, State};
use axum::response::Response;
use std::sync::Arc;

pub(super) async fn set_labels(
    State(live): State<Arc<Live>>,
    Path(key): Path<String>,
    asked: Asked,
    Body(body): Body,
) -> Response {
    let call = Call::SetLabels { key, body };
    answer(&live, asked, call).await
}
