//! `POST /files/move`: moves a file or a directory to where nothing is yet.

use super::entered::Entered;
use super::error::{DaemonError, words};
use super::request::Query;
use axum::http::StatusCode;
use std::path::Path;

pub(super) async fn move_file(entered: Entered, query: Query) -> Result<StatusCode, DaemonError> {
    let (Some(source), Some(destination)) = (query.get("source"), query.get("destination")) else {
        return Err(DaemonError::bad_request("source and destination paths are required"));
    };
    let (source, destination) = (source.to_owned(), destination.to_owned());
    let moved = entered.with_files(move |directory| {
        let (from, to) = (directory.inside(&source), directory.inside(&destination));
        let of = |path: &str, error| DaemonError::of_file("stat", path, &error);
        let dir = directory.open().map_err(|error| of(&source, error))?;
        dir.metadata(&from).map_err(|error| of(&source, error))?;
        let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        dir.metadata(parent).map_err(|error| of(&destination, error))?;
        if dir.metadata(&to).is_ok() {
            return Err(DaemonError::conflict("destination already exists"));
        }
        dir.rename(&from, &dir, &to).map_err(|error| {
            DaemonError::bad_request(format!("failed to move file: {}", words(&error)))
        })
    });
    moved.await?;
    Ok(StatusCode::OK)
}
