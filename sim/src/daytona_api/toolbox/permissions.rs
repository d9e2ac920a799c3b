//! `POST /files/permissions`: sets the mode of a file. Owner and group are always the same here and
//! only accepted.

use super::entered::Entered;
use super::error::DaemonError;
use super::folder::mode_of;
use super::request::Query;
use axum::http::StatusCode;
use cap_std::fs::{Permissions, PermissionsExt};

pub(super) async fn permissions(entered: Entered, query: Query) -> Result<StatusCode, DaemonError> {
    let path = query.path()?;
    let mode = query.get("mode").map(mode_of).transpose()?;
    let done = entered.with_files(move |directory| {
        let inside = directory.inside(&path);
        let told = |error| DaemonError::of_file("chmod", &path, &error);
        let dir = directory.open().map_err(told)?;
        match mode {
            Some(mode) => dir.set_permissions(&inside, Permissions::from_mode(mode)).map_err(told),
            None => dir.metadata(&inside).map(|_| ()).map_err(told),
        }
    });
    done.await?;
    Ok(StatusCode::OK)
}
