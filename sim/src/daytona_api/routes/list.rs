//! `GET /sandbox`: pages by cursor. `GET /sandbox/paginated`: the old list by page numbers.

use crate::daytona::Call;
use crate::daytona_api::answer::answer;
use crate::daytona_api::asked::Asked;
use crate::daytona_api::real_time::Live;
use axum::extract::State;
use axum::response::Response;
use std::sync::Arc;

pub(super) async fn list(State(live): State<Arc<Live>>, asked: Asked) -> Response {
    let call = Call::List { query: asked.query.clone() };
    answer(&live, asked, call).await
}

pub(super) async fn list_paginated(State(live): State<Arc<Live>>, asked: Asked) -> Response {
    let call = Call::ListPaginated { query: asked.query.clone() };
    answer(&live, asked, call).await
}
