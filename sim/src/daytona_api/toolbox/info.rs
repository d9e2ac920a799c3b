//! `GET /files/info`: what is known of a file, symbolic links followed.

use super::entered::Entered;
use super::error::DaemonError;
use super::file_info::file_info;
use super::request::Query;
use crate::daytona_api::exec::Directory;
use axum::Json;
use serde_json::Value;

pub(super) async fn info(entered: Entered, query: Query) -> Result<Json<Value>, DaemonError> {
    let path = query.path()?;
    let told = entered.with_files(move |directory| {
        let inside = directory.inside(&path);
        let metadata = directory.metadata(&inside);
        let metadata = metadata.map_err(|error| DaemonError::of_file("stat", &path, &error))?;
        Ok(file_info(&Directory::shown(&inside), &metadata))
    });
    Ok(Json(told.await?))
}
