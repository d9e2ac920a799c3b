//! `/v1/conversations/{conversation}/files`.

use super::super::app::App;
use super::super::auth::Account;
use super::super::error::{ApiError, ErrorBody, ErrorCode};
use super::super::extract::{InConversation, Params};
use super::{patience, seconds, to_its_end, with_loss};
use crate::provider::FileContent;
use crate::service::{InSandbox, Missing};
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Which file.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileParams {
    /// Its path; relative paths start in the sandbox's working directory.
    path: String,
    /// How long to wait for a sandbox, seconds (0 to 86,400); as configured if it is left out.
    patience_seconds: Option<f64>,
    /// For a folder that is deleted: with everything in it.
    #[serde(default)]
    recursive: bool,
}

/// Why nothing was done: there was no sandbox. A normal result, that an agent can read.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NoSandbox {
    /// Why.
    reason: String,
    /// When asking again makes sense, seconds; null if that cannot be told.
    retry_after_seconds: Option<f64>,
    /// Why the files of earlier turns are gone; null if they are not, or it was told before.
    files_lost: Option<String>,
}

/// What was done.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(crate) enum FileAnswer {
    /// It was done.
    Done {
        /// Why the files of earlier turns are gone; null if they are not, or it was told before.
        files_lost: Option<String>,
    },
    /// There was no sandbox, or nobody knows what came of it.
    Unavailable(NoSandbox),
}

/// A folder's entries.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(crate) enum ListAnswer {
    /// Here they are.
    Done {
        /// The entries.
        items: Vec<Entry>,
        /// Why the files of earlier turns are gone; null if they are not, or it was told before.
        files_lost: Option<String>,
    },
    /// There was no sandbox, or nobody knows what came of it.
    Unavailable(NoSandbox),
}

/// One entry of a folder.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Entry {
    /// Its name.
    name: String,
    /// Whether it is a folder.
    is_folder: bool,
    /// Bytes.
    size_bytes: u64,
}

/// The value and what was lost, or why there is none.
enum Seen<T> {
    Value(T, Option<String>),
    None(NoSandbox),
}

fn seen<T>(done: InSandbox<T>) -> Result<Seen<T>, ApiError> {
    let files_lost = done.files_lost;
    let lost = || files_lost.map(|reason| reason.name().to_owned());
    let none = |reason: &str, retry_after_seconds| {
        let files_lost = lost();
        Ok(Seen::None(NoSandbox { reason: reason.to_owned(), retry_after_seconds, files_lost }))
    };
    match done.result {
        Ok(value) => Ok(Seen::Value(value, lost())),
        Err(Missing::Unavailable { reason, retry_after }) => {
            none(reason.name(), retry_after.map(seconds))
        }
        Err(Missing::Died) => none("died", None),
        Err(Missing::Unknown { detail }) => {
            tracing::warn!(%detail, "nobody knows what came of a call to a file");
            none("unreachable", None)
        }
        Err(Missing::CutOff { reason }) => none(reason.name(), None),
        Err(Missing::Rejected { detail }) => {
            let text = format!("the provider rejects the request: {detail}");
            Err(with_loss(ApiError::new(ErrorCode::InvalidRequest, text), files_lost))
        }
        Err(Missing::NoSuchFile { path }) => {
            let text = format!("no such file: {path}");
            Err(with_loss(ApiError::new(ErrorCode::NotFound, text), files_lost))
        }
    }
}

/// Read a file
#[utoipa::path(
    get,
    path = "/v1/conversations/{conversation}/files",
    tag = "files",
    params(("conversation" = String, Path, description = "its name"), FileParams),
    responses(
        (status = 200, description = "its bytes, or (as JSON) why there is no sandbox",
         content((Vec<u8> = "application/octet-stream"), (FileAnswer = "application/json"))),
        (status = 400, description = "the request makes no sense", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 404, description = "no such conversation or file", body = ErrorBody),
        (status = 409, description = "something runs already, or the conversation is closed", body = ErrorBody)
    )
)]
pub(crate) async fn read(
    State(app): State<App>,
    Account(account): Account,
    InConversation(key): InConversation,
    Params(params): Params<FileParams>,
) -> Result<Response, ApiError> {
    let patience = patience(params.patience_seconds)?;
    let work = async move { app.service.read_file(account, &key, &params.path, patience).await };
    let outcome = to_its_end(work).await??;
    Ok(match seen(outcome)? {
        Seen::Value(bytes, lost) => {
            let mut response = bytes.into_response();
            if let Some(value) = lost.and_then(|lost| lost.parse().ok()) {
                response.headers_mut().insert("x-sandpool-files-lost", value);
            }
            response
        }
        Seen::None(none) => axum::Json(FileAnswer::Unavailable(none)).into_response(),
    })
}

/// Write a file; the body is its content
#[utoipa::path(
    put,
    path = "/v1/conversations/{conversation}/files",
    tag = "files",
    params(("conversation" = String, Path, description = "its name"), FileParams),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses(
        (status = 200, description = "what was done", body = FileAnswer),
        (status = 400, description = "the request makes no sense", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 404, description = "no such conversation", body = ErrorBody),
        (status = 409, description = "something runs already, or the conversation is closed", body = ErrorBody),
        (status = 413, description = "the body is too large", body = ErrorBody)
    )
)]
pub(crate) async fn write(
    State(app): State<App>,
    Account(account): Account,
    InConversation(key): InConversation,
    Params(params): Params<FileParams>,
    body: Bytes,
) -> Result<axum::Json<FileAnswer>, ApiError> {
    let patience = patience(params.patience_seconds)?;
    let file = FileContent { path: params.path, content: body.to_vec() };
    let work = async move { app.service.write_file(account, &key, file, patience).await };
    let outcome = to_its_end(work).await??;
    Ok(axum::Json(done(seen(outcome)?)))
}

/// Delete a file or a folder
#[utoipa::path(
    delete,
    path = "/v1/conversations/{conversation}/files",
    tag = "files",
    params(("conversation" = String, Path, description = "its name"), FileParams),
    responses(
        (status = 200, description = "what was done", body = FileAnswer),
        (status = 400, description = "the request makes no sense", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 404, description = "no such conversation or file", body = ErrorBody),
        (status = 409, description = "something runs already, or the conversation is closed", body = ErrorBody)
    )
)]
pub(crate) async fn delete(
    State(app): State<App>,
    Account(account): Account,
    InConversation(key): InConversation,
    Params(params): Params<FileParams>,
) -> Result<axum::Json<FileAnswer>, ApiError> {
    let patience = patience(params.patience_seconds)?;
    let work = async move {
        let FileParams { path, recursive, .. } = params;
        app.service.delete_file(account, &key, &path, recursive, patience).await
    };
    let outcome = to_its_end(work).await??;
    Ok(axum::Json(done(seen(outcome)?)))
}

fn done(seen: Seen<()>) -> FileAnswer {
    match seen {
        Seen::Value((), files_lost) => FileAnswer::Done { files_lost },
        Seen::None(none) => FileAnswer::Unavailable(none),
    }
}

/// List a folder
#[utoipa::path(
    get,
    path = "/v1/conversations/{conversation}/files/list",
    tag = "files",
    params(("conversation" = String, Path, description = "its name"), FileParams),
    responses(
        (status = 200, description = "its entries", body = ListAnswer),
        (status = 400, description = "the request makes no sense", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 404, description = "no such conversation or folder", body = ErrorBody),
        (status = 409, description = "something runs already, or the conversation is closed", body = ErrorBody)
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    Account(account): Account,
    InConversation(key): InConversation,
    Params(params): Params<FileParams>,
) -> Result<axum::Json<ListAnswer>, ApiError> {
    let patience = patience(params.patience_seconds)?;
    let work = async move { app.service.list_files(account, &key, &params.path, patience).await };
    let outcome = to_its_end(work).await??;
    Ok(axum::Json(match seen(outcome)? {
        Seen::Value(entries, files_lost) => {
            let items = entries.into_iter().map(|entry| Entry {
                name: entry.name,
                is_folder: entry.is_folder,
                size_bytes: entry.size_bytes,
            });
            ListAnswer::Done { items: items.collect(), files_lost }
        }
        Seen::None(none) => ListAnswer::Unavailable(none),
    }))
}
