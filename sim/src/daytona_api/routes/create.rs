//! `POST /sandbox`: answers when the sandbox has started, or after 30 seconds, and shows it as it was
//! at first.

use crate::daytona::Call;
use crate::daytona_api::answer::answer;
use crate::daytona_api::asked::{Asked, Body};
use crate::daytona_api::real_time::Live;
use axum::extract::State;
use axum::response::Response;
use std::sync::Arc;

pub(super) async fn create(
    State(live): State<Arc<Live>>,
    asked: Asked,
    Body(body): Body,
) -> Response {
    let call = Call::Create { body };
    answer(&live, asked, call).await
}
