//! `POST /files/bulk-download`: several files as the parts of a form, or what is wrong with them.
//!
//! A form that ends early is a download that failed half-way.

use super::Toolbox;
use super::download::open_file;
use super::entered::Entered;
use super::error::DaemonError;
use super::request::JsonBody;
use axum::body::Body as HttpBody;
use axum::extract::State;
use axum::http::{Method, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, copy};
use tokio_util::io::ReaderStream;

const BOUNDARY: &str = "DAYTONA-FILE-BOUNDARY";

/// So much of an answer lies ready before its reader takes it, bytes.
const AHEAD: usize = 64 * 1024;

#[derive(Deserialize)]
pub(super) struct Body {
    #[serde(default)]
    paths: Vec<String>,
}

pub(super) async fn bulk_download(
    State(toolbox): State<Arc<Toolbox>>,
    entered: Entered,
    JsonBody(body): JsonBody<Body>,
) -> Result<Response, DaemonError> {
    if body.paths.is_empty() {
        let message = r#"request body must be {"paths": [ ... ]} and non-empty"#;
        return Err(DaemonError::bad_request(message));
    }
    let (to, from) = tokio::io::duplex(AHEAD);
    tokio::spawn(async move {
        // Nobody reads any more, or a file shrank while it was read: the form ends early.
        let _ = write_form(&toolbox, &entered, &body.paths, to).await;
    });
    let kind = [(header::CONTENT_TYPE, format!("multipart/form-data; boundary={BOUNDARY}"))];
    Ok((kind, HttpBody::from_stream(ReaderStream::new(from))).into_response())
}

async fn write_form(
    toolbox: &Toolbox,
    entered: &Entered,
    paths: &[String],
    mut to: DuplexStream,
) -> io::Result<()> {
    for path in paths {
        match open_file(entered, path).await {
            Ok((file, length)) => {
                let kind = "application/octet-stream";
                to.write_all(part_head("file", path, kind, length).as_bytes()).await?;
                // A file that grows meanwhile must not spoil the length that was told.
                let copied = copy(&mut file.take(length), &mut to).await?;
                if copied < length {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            Err(error) => {
                let timestamp = toolbox.control_plane.timestamp();
                let body = error.body(&Method::POST, path, &timestamp);
                let head = part_head("error", path, "application/json", body.len() as u64);
                to.write_all((head + &body).as_bytes()).await?;
            }
        }
        to.write_all(b"\r\n").await?;
    }
    to.write_all(format!("--{BOUNDARY}--\r\n").as_bytes()).await?;
    to.shutdown().await
}

fn part_head(name: &str, path: &str, kind: &str, length: u64) -> String {
    // As browsers do it: the three characters that would end the name are percent-encoded.
    let path = path.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
    format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{path}\"\r\n\
         Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
    )
}
