//! `POST /files/bulk-upload`: a form with `files[i].path` and `files[i].file` for each file.
//!
//! A path must come before its file. What works is written even if something else does not, and
//! the answer names both. (Daytona v0.190.0, fs/upload_files.go.)

use super::entered::Entered;
use super::write_file::{Source, write_file};
use axum::Json;
use axum::extract::multipart::{Multipart, MultipartRejection};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(super) async fn bulk_upload(
    entered: Entered,
    form: Result<Multipart, MultipartRejection>,
) -> Response {
    let Ok(mut form) = form else {
        let answer = json!({ "errors": ["invalid multipart form"] });
        return (StatusCode::BAD_REQUEST, Json(answer)).into_response();
    };
    let mut paths: BTreeMap<String, String> = BTreeMap::new();
    let mut files: Vec<Value> = Vec::new();
    let mut errors: Vec<String> = Vec::new();
    loop {
        let part = match form.next_field().await {
            Ok(Some(part)) => part,
            Ok(None) => break,
            Err(error) => {
                errors.push(format!("reading part: {}", error.body_text()));
                break;
            }
        };
        let name = part.name().unwrap_or_default().to_owned();
        if let Some(index) = index_of(&name, ".path") {
            match part.text().await {
                Ok(path) if path.trim().is_empty() => {
                    errors.push(format!("path[{index}]: empty path"));
                }
                Ok(path) => {
                    paths.insert(index.to_owned(), path.trim().to_owned());
                }
                Err(error) => errors.push(format!("path[{index}]: {}", error.body_text())),
            }
        } else if let Some(index) = index_of(&name, ".file") {
            let Some(path) = paths.get(index) else {
                errors.push(format!("file[{index}]: missing .path metadata"));
                continue;
            };
            match write_file(&entered, path, Source::Part(part)).await {
                Ok(bytes) => files.push(json!({ "path": path, "bytes": bytes })),
                Err(reason) => errors.push(format!("{path}: {reason}")),
            }
        }
    }
    if errors.is_empty() {
        return Json(json!({ "files": files })).into_response();
    }
    let answer = json!({ "errors": errors, "files": files });
    (StatusCode::BAD_REQUEST, Json(answer)).into_response()
}

/// The `i` of `files[i]` and an ending.
fn index_of<'a>(name: &'a str, ending: &str) -> Option<&'a str> {
    let start = name.strip_suffix(ending)?;
    let start = start.strip_prefix("files[").unwrap_or(start);
    Some(start.strip_suffix(']').unwrap_or(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_apart_by_their_names() {
        assert_eq!(index_of("files[0].path", ".path"), Some("0"));
        assert_eq!(index_of("files[12].file", ".file"), Some("12"));
        assert_eq!(index_of("files[0].path", ".file"), None);
    }
}
