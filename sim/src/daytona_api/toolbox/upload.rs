//! `POST /files/upload-v2`: one file, as the part `file` of a form or as the body itself.

use super::entered::Entered;
use super::error::DaemonError;
use super::request::Query;
use super::write_file::{Source, write_file};
use axum::Json;
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::header;
use serde_json::{Value, json};
use std::path::Path;

pub(super) async fn upload(
    entered: Entered,
    query: Query,
    request: Request,
) -> Result<Json<Value>, DaemonError> {
    let path = query.path()?;
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if kind.is_some_and(|kind| kind.starts_with("multipart/form-data")) {
        let form = Multipart::from_request(request, &()).await;
        let mut form = form.map_err(|error| DaemonError::bad_request(error.body_text()))?;
        loop {
            let part = form.next_field().await;
            let part = part.map_err(|error| DaemonError::bad_request(error.body_text()))?;
            let Some(part) = part else {
                return Err(DaemonError::bad_request("file is required"));
            };
            if part.name() == Some("file") {
                write(&entered, &path, Source::Part(part)).await?;
                break;
            }
        }
    } else {
        write(&entered, &path, Source::Raw(request.into_body())).await?;
    }
    let name = Path::new(&path).file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(Json(json!({ "name": name, "path": path, "type": "file" })))
}

async fn write(entered: &Entered, path: &str, from: Source<'_>) -> Result<(), DaemonError> {
    let written = write_file(entered, path, from).await;
    written.map(|_| ()).map_err(|reason| DaemonError::bad_request(format!("{path}: {reason}")))
}
