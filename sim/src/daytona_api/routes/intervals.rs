//! `POST /sandbox/{key}/autostop/{minutes}` and its kind.

use crate::daytona::{ApiInterval, Call};
use crate::daytona_api::answer::answer;
use crate::daytona_api::asked::Asked;
use crate::daytona_api::real_time::Live;
use axum::extract::{Path, State};
use axum::response::Response;
use std::sync::Arc;

pub(super) async fn auto_stop(
    State(live): State<Arc<Live>>,
    Path((key, text)): Path<(String, String)>,
    asked: Asked,
) -> Response {
    let call = Call::SetInterval { key, interval: ApiInterval::AutoStop, text };
    answer(&live, asked, call).await
}

pub(super) async fn auto_archive(
    State(live): State<Arc<Live>>,
    Path((key, text)): Path<(String, String)>,
    asked: Asked,
) -> Response {
    let call = Call::SetInterval { key, interval: ApiInterval::AutoArchive, text };
    answer(&live, asked, call).await
}

pub(super) async fn auto_delete(
    State(live): State<Arc<Live>>,
    Path((key, text)): Path<(String, String)>,
    asked: Asked,
) -> Response {
    let call = Call::SetInterval { key, interval: ApiInterval::AutoDelete, text };
    answer(&live, asked, call).await
}

pub(super) async fn ttl(
    State(live): State<Arc<Live>>,
    Path((key, text)): Path<(String, String)>,
    asked: Asked,
) -> Response {
    let call = Call::SetInterval { key, interval: ApiInterval::Ttl, text };
    answer(&live, asked, call).await
}
