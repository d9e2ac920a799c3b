//! `POST /sandbox/{key}/public/{true|false}`

use crate::daytona::Call;
use crate::daytona_api::answer::answer;
use crate::daytona_api::asked::Asked;
use crate::daytona_api::real_time::Live;
use axum::extract::{Path, State};
use axum::response::Response;
use std::sync::Arc;

pub(super) async fn set_public(
    State(live): State<Arc<Live>>,
    Path((key, text)): Path<(String, String)>,
    asked: Asked,
) -> Response {
    let call = Call::SetPublic { key, text };
    answer(&live, asked, call).await
}
