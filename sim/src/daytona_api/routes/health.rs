//! `GET /health` and `/health/ready`

use crate::daytona::Call;
use crate::daytona_api::answer::answer;
use crate::daytona_api::asked::Asked;
use crate::daytona_api::real_time::Live;
use axum::extract::State;
use axum::response::Response;
use std::sync::Arc;

pub(super) async fn health(State(live): State<Arc<Live>>, asked: Asked) -> Response {
    let call = Call::Health;
    answer(&live, asked, call).await
}
