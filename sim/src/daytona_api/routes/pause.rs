//! `POST /sandbox/{key}/pause` and `/fork`: what containers cannot do.

use crate::daytona::Call;
use crate::daytona_api::answer::answer;
use crate::daytona_api::asked::Asked;
use crate::daytona_api::real_time::Live;
use axum::extract::{Path, State};
use axum::response::Response;
use std::sync::Arc;

pub(super) async fn pause(
    State(live): State<Arc<Live>>,
    Path(key): Path<String>,
    asked: Asked,
) -> Response {
    let call = Call::Pause { key };
    answer(&live, asked, call).await
}

pub(super) async fn fork(
    State(live): State<Arc<Live>>,
    Path(key): Path<String>,
    asked: Asked,
) -> Response {
    let call = Call::Fork { key };
    answer(&live, asked, call).await
}
