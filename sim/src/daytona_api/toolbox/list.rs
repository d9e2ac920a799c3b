//! `GET /files`: what is in a directory, by name; with `depth`, also in those below it.

use super::entered::Entered;
use super::error::DaemonError;
use super::file_info::file_info;
use super::request::Query;
use crate::daytona_api::exec::Directory;
use axum::Json;
use cap_std::fs::Dir;
use serde_json::Value;
use std::io;
use std::path::Path;

pub(super) async fn list(entered: Entered, query: Query) -> Result<Json<Value>, DaemonError> {
    let path = query.get("path").unwrap_or(".").to_owned();
    let depth = match query.get("depth") {
        None => 1,
        Some(depth) => match depth.parse::<u32>() {
            Ok(depth) if depth >= 1 => depth,
            _ => return Err(DaemonError::bad_request("depth must be a number of at least 1")),
        },
    };
    let listed = entered.with_files(move |directory| {
        let inside = directory.inside(&path);
        let mut found = Vec::new();
        let listed = directory.open().and_then(|dir| walk(&dir, &inside, depth, &mut found));
        listed.map_err(|error| DaemonError::of_file("open", &path, &error))?;
        Ok(Value::Array(found))
    });
    Ok(Json(listed.await?))
}

fn walk(dir: &Dir, inside: &Path, depth: u32, found: &mut Vec<Value>) -> io::Result<()> {
    let entries = dir.read_dir(inside)?;
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    for name in names {
        let place = if inside == Path::new(".") { name.into() } else { inside.join(name) };
        // Gone meanwhile.
        let Ok(own) = dir.symlink_metadata(&place) else { continue };
        let is_link = own.is_symlink();
        // Of a link that leads nowhere or out, the link is what there is.
        let metadata = dir.metadata(&place).unwrap_or(own);
        found.push(file_info(&Directory::shown(&place), &metadata));
        // Links are not followed downwards: they may lead up again.
        if depth > 1 && metadata.is_dir() && !is_link {
            // What cannot be read is listed itself, without what is in it.
            let _ = walk(dir, &place, depth - 1, found);
        }
    }
    Ok(())
}
