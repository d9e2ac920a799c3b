//! Files, through the sandbox's toolbox.

use super::Daytona;
use super::client::{MOST_BODY_BYTES, read_body, read_json, send};
use super::execute::about_the_sandbox;
use super::probe::usable;
use super::refusal::{Effect, Refused};
use super::wire::FileInfo;
use crate::provider::{FileContent, FileEntry, ProviderError};
use reqwest::multipart::{Form, Part};
use reqwest::{Method, RequestBuilder, Response};
use sandpool_core::ProviderId;

/// All files in one call. The part that names a path must come before the part that holds its
/// content (published toolbox description v0.205.1). It writes over what is there and makes
/// folders, so doing it twice does no harm.
pub(super) async fn write(
    daytona: &Daytona,
    provider: ProviderId,
    files: &[FileContent],
) -> Result<(), ProviderError> {
    if files.is_empty() {
        return Ok(());
    }
    let mut form = Form::new();
    for (index, file) in files.iter().enumerate() {
        let content = Part::bytes(file.content.clone()).file_name(file.path.clone());
        form = form
            .text(format!("files[{index}].path"), file.path.clone())
            .part(format!("files[{index}].file"), content);
    }
    let request = daytona.toolbox(provider, Method::POST, &["files", "bulk-upload"]).await?;
    call(daytona, provider, request.multipart(form), Effect::Command, &files[0].path).await?;
    Ok(())
}

pub(super) async fn read(
    daytona: &Daytona,
    provider: ProviderId,
    path: &str,
) -> Result<Vec<u8>, ProviderError> {
    let request = daytona.toolbox(provider, Method::GET, &["files", "download"]).await?;
    let request = request.query(&[("path", path)]);
    let response = call(daytona, provider, request, Effect::None, path).await?;
    read_body(response, MOST_BODY_BYTES)
        .await
        .map_err(|detail| ProviderError::Unavailable { detail })
}

pub(super) async fn list(
    daytona: &Daytona,
    provider: ProviderId,
    path: &str,
) -> Result<Vec<FileEntry>, ProviderError> {
    let request = daytona.toolbox(provider, Method::GET, &["files"]).await?;
    let response =
        call(daytona, provider, request.query(&[("path", path)]), Effect::None, path).await?;
    let entries: Vec<FileInfo> = read_json(response, Effect::None).await?;
    let entries = entries.into_iter().map(|entry| FileEntry {
        name: entry.name,
        is_folder: entry.is_dir,
        size_bytes: entry.size,
    });
    Ok(entries.collect())
}

pub(super) async fn delete(
    daytona: &Daytona,
    provider: ProviderId,
    path: &str,
    recursive: bool,
) -> Result<(), ProviderError> {
    let request = daytona.toolbox(provider, Method::DELETE, &["files"]).await?;
    let request = request.query(&[("path", path), ("recursive", &recursive.to_string())]);
    call(daytona, provider, request, Effect::Command, path).await?;
    Ok(())
}

async fn call(
    daytona: &Daytona,
    provider: ProviderId,
    request: RequestBuilder,
    effect: Effect,
    path: &str,
) -> Result<Response, ProviderError> {
    match send(request, effect).await {
        Ok(response) => Ok(response),
        Err(refused) => Err(what_is_missing(daytona, provider, refused, path).await),
    }
}

/// A 404 may mean the file or the whole sandbox; the sandbox is asked about first.
async fn what_is_missing(
    daytona: &Daytona,
    provider: ProviderId,
    refused: Refused,
    path: &str,
) -> ProviderError {
    if !refused.is_not_found() || refused.is_about_state() {
        return about_the_sandbox(daytona, provider, refused).await;
    }
    let Ok(id) = daytona.known_text(provider) else { return refused.error };
    match usable(daytona, &id).await {
        Ok(_) => ProviderError::NoSuchFile { path: path.to_owned() },
        Err(error) => error,
    }
}
