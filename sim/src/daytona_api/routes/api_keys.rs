//! `/api-keys`: the one in use, list, create, delete.

use crate::daytona::Call;
use crate::daytona_api::answer::answer;
use crate::daytona_api::asked::{Asked, Body};
use crate::daytona_api::real_time::Live;
use axum::extract::{Path, State};
use axum::response::Response;
use std::sync::Arc;

pub(super) async fn current(State(live): State<Arc<Live>>, asked: Asked) -> Response {
    let call = Call::CurrentKey;
    answer(&live, asked, call).await
}

pub(super) async fn list(State(live): State<Arc<Live>>, asked: Asked) -> Response {
    let call = Call::Keys;
    answer(&live, asked, call).await
}

pub(super) async fn create(
    State(live): State<Arc<Live>>,
    asked: Asked,
    Body(body): Body,
) -> Response {
    let call = Call::CreateKey { body };
    answer(&live, asked, call).await
}

pub(super) async fn delete(
    State(live): State<Arc<Live>>,
    Path(key): Path<String>,
    asked: Asked,
) -> Response {
    let call = Call::DeleteKey { name: key };
    answer(&live, asked, call).await
}
