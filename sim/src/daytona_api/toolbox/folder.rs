//! `POST /files/folder`: makes a directory and those above it.

use super::entered::Entered;
use super::error::{DaemonError, words};
use super::request::Query;
use axum::http::StatusCode;

pub(super) async fn folder(entered: Entered, query: Query) -> Result<StatusCode, DaemonError> {
    let path = query.path()?;
    let mode = mode_of(query.get("mode").unwrap_or("755"))?;
    let made = entered.with_files(move |directory| {
        let made = directory.create_dir_all(&directory.inside(&path), mode);
        made.map_err(|error| DaemonError::bad_request(format!("mkdir {path}: {}", words(&error))))
    });
    made.await?;
    Ok(StatusCode::CREATED)
}

/// Permissions in octal digits.
pub(super) fn mode_of(text: &str) -> Result<u32, DaemonError> {
    let mode = u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o7777);
    mode.ok_or_else(|| DaemonError::bad_request("invalid mode format"))
}
