//! `/organizations` and their usage, for logins.

use crate::daytona::Call;
use crate::daytona_api::answer::answer;
use crate::daytona_api::asked::Asked;
use crate::daytona_api::real_time::Live;
use axum::extract::{Path, State};
use axum::response::Response;
use std::sync::Arc;

pub(super) async fn list(State(live): State<Arc<Live>>, asked: Asked) -> Response {
    let call = Call::Organizations;
    answer(&live, asked, call).await
}

pub(super) async fn usage(
    State(live): State<Arc<Live>>,
    Path(key): Path<String>,
    asked: Asked,
) -> Response {
    let call = Call::Usage { organization: key };
    answer(&live, asked, call).await
}
