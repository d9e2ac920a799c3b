//! `POST /sandbox/{key}/archive`: answers at once.

use crate::daytona::Call;
use crate::daytona_api::answer::answer;
use crate::daytona_api::asked::Asked;
use crate::daytona_api::real_time::Live;
use axum::extract::{Path, State};
use axum::response::Response;
use std::sync::Arc;

pub(super) async fn archive(
    State(live): State<Arc<Live>>,
    Path(key): Path<String>,
    asked: Asked,
) -> Response {
    let call = Call::Archive { key };
    answer(&live, asked, call).await
}
