//! `POST /sandbox/{key}/recover`: answers when the sandbox has started, or after 30 seconds; with
//! `skipStart` at once.

use crate::daytona::Call;
use crate::daytona_api::answer::answer;
use crate::daytona_api::asked::Asked;
use crate::daytona_api::real_time::Live;
use axum::extract::{Path, State};
use axum::response::Response;
use std::sync::Arc;

pub(super) async fn recover(
    State(live): State<Arc<Live>>,
    Path(key): Path<String>,
    asked: Asked,
) -> Response {
    let skip_start = asked.query_one("skipStart") == Some("true");
    answer(&live, asked, Call::Recover { key, skip_start }).await
}
