//! `GET /files/download`: one file as it is.

use super::entered::Entered;
use super::error::DaemonError;
use super::request::Query;
use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use std::path::Path;
use tokio::fs::File;
use tokio::io::AsyncReadExt;
use tokio_util::io::ReaderStream;

pub(super) async fn download(entered: Entered, query: Query) -> Result<Response, DaemonError> {
    let path = query.path()?;
    let (file, length) = open_file(&entered, &path).await?;
    let name = Path::new(&path).file_name().unwrap_or_default().to_string_lossy();
    // A name that is no header value is the client's to give.
    let disposition = format!("attachment; filename={}", name.escape_default());
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_LENGTH, length.to_string()),
        (header::CONTENT_DISPOSITION, disposition),
        (header::CACHE_CONTROL, "must-revalidate".to_owned()),
    ];
    Ok((headers, Body::from_stream(ReaderStream::new(file.take(length)))).into_response())
}

/// Opens a file of the sandbox for reading; with it comes its length, bytes.
pub(super) async fn open_file(entered: &Entered, path: &str) -> Result<(File, u64), DaemonError> {
    let path = path.to_owned();
    let opened = entered.with_files(move |directory| {
        let inside = directory.inside(&path);
        let told = |error| DaemonError::of_file("open", &path, &error);
        // Looked at first: opening a named pipe would wait for somebody to write to it.
        let metadata = directory.metadata(&inside).map_err(told)?;
        if !metadata.is_file() {
            return Err(DaemonError::bad_request("path must be a file"));
        }
        let file = directory.open().and_then(|dir| dir.open(&inside)).map_err(told)?;
        Ok((file.into_std(), metadata.len()))
    });
    let (file, length) = opened.await?;
    Ok((File::from_std(file), length))
}
