//! `DELETE /files`: removes a file, or a directory with all that is in it if `recursive` says so.

use super::entered::Entered;
use super::error::{DaemonError, words};
use super::request::Query;
use axum::http::StatusCode;
use std::path::Path;

pub(super) async fn delete(entered: Entered, query: Query) -> Result<StatusCode, DaemonError> {
    let path = query.path()?;
    let is_recursive = query.get("recursive") == Some("true");
    let removed = entered.with_files(move |directory| {
        let inside = directory.inside(&path);
        if inside == Path::new(".") {
            return Err(DaemonError::bad_request("the root directory cannot be deleted"));
        }
        let stat = |error| DaemonError::of_file("stat", &path, &error);
        let dir = directory.open().map_err(stat)?;
        let is_link = dir.symlink_metadata(&inside).map_err(stat)?.is_symlink();
        // A link is removed itself, wherever it leads, and whether there is anything.
        let is_dir = match dir.metadata(&inside) {
            Ok(metadata) => metadata.is_dir(),
            Err(_) if is_link => false,
            Err(error) => return Err(stat(error)),
        };
        if is_dir && !is_recursive {
            let message = "cannot delete directory without recursive flag";
            return Err(DaemonError::bad_request(message));
        }
        let removed =
            if is_dir && !is_link { dir.remove_dir_all(&inside) } else { dir.remove_file(&inside) };
        removed
            .map_err(|error| DaemonError::bad_request(format!("remove {path}: {}", words(&error))))
    });
    removed.await?;
    Ok(StatusCode::NO_CONTENT)
}
