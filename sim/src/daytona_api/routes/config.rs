//! `GET /config`: what everybody may know.

use crate::daytona::Call;
use crate::daytona_api::answer::answer;
use crate::daytona_api::asked::Asked;
use crate::daytona_api::real_time::Live;
use axum::extract::State;
use axum::response::Response;
use std::sync::Arc;

pub(super) async fn config(State(live): State<Arc<Live>>, asked: Asked) -> Response {
    let call = Call::Config;
    answer(&live, asked, call).await
}
