//! `/v1/admin`: accounts, keys and shutdown, for the operator only.

use super::super::app::App;
use super::super::auth::Operator;
use super::super::error::{ApiError, ErrorBody, ErrorCode};
use super::super::extract::{At, Json};
use crate::keys::ApiKey;
use crate::service::ServiceError;
use crate::store::{Account, Batch, NewApiKey, StoreError, Write};
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use std::sync::atomic::Ordering;
use utoipa::ToSchema;

/// An account to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewAccount {
    /// Its name: 1 to 100 letters, digits, dashes and underscores.
    name: String,
}

/// An account.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AccountAdded {
    /// Its number.
    number: u32,
    /// Its name.
    name: String,
}

/// A key to add.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewKey {
    /// What its owner calls it.
    #[serde(default)]
    label: String,
}

/// A new key, shown this once: only its hash is kept.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyAdded {
    /// Its name in lists and logs.
    id: String,
    /// The key itself.
    key: String,
}

/// How to shut down.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DrainBody {
    /// Leave the conversations' sandboxes to be adopted by the next instance.
    #[serde(default)]
    leave_sandboxes: bool,
}

/// Stop admitting, answer everybody, and let everything go. Answers when nothing is left
#[utoipa::path(
    post,
    path = "/v1/admin/drain",
    tag = "admin",
    request_body = DrainBody,
    responses(
        (status = 204, description = "drained"),
        (status = 400, description = "the request makes no sense", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 403, description = "not the operator's key", body = ErrorBody)
    )
)]
pub(crate) async fn drain(
    State(app): State<App>,
    _: Operator,
    Json(body): Json<DrainBody>,
) -> Result<StatusCode, ApiError> {
    app.is_draining.store(true, Ordering::Release);
    app.service.engine().drain(body.leave_sandboxes).await.map_err(ServiceError::from)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Add an account
#[utoipa::path(
    post,
    path = "/v1/admin/accounts",
    tag = "admin",
    request_body = NewAccount,
    responses(
        (status = 201, description = "added", body = AccountAdded),
        (status = 400, description = "the request makes no sense, or the name is taken", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 403, description = "not the operator's key", body = ErrorBody)
    )
)]
pub(crate) async fn add_account(
    State(app): State<App>,
    _: Operator,
    Json(body): Json<NewAccount>,
) -> Result<(StatusCode, axum::Json<AccountAdded>), ApiError> {
    let fits = (1..=100).contains(&body.name.len())
        && body.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if !fits {
        return Err(ApiError::new(
            ErrorCode::InvalidRequest,
            "an account's name is 1 to 100 letters, digits, dashes and underscores",
        ));
    }
    let store = app.service.store();
    let recovery = store.recovery().await.map_err(|error| ApiError::internal(&error))?;
    let number = u32::try_from(recovery.accounts.len()).unwrap_or(u32::MAX);
    let added_ms = crate::clock::wall_clock_ms();
    let account = Account { number, name: body.name.clone(), added_ms };
    match store.commit(Batch::new(vec![Write::AddAccount(account)])).await {
        Ok(_) => Ok((StatusCode::CREATED, axum::Json(AccountAdded { number, name: body.name }))),
        Err(StoreError::Exists { .. }) => Err(ApiError::new(
            ErrorCode::InvalidRequest,
            format!("an account {:?} exists already", body.name),
        )),
        Err(error) => Err(ApiError::internal(&error)),
    }
}

/// An account in a path.
#[derive(Debug, Deserialize)]
pub(crate) struct AccountPath {
    account: u32,
}

/// Add a key of an account
#[utoipa::path(
    post,
    path = "/v1/admin/accounts/{account}/keys",
    tag = "admin",
    params(("account" = u32, Path, description = "its number")),
    request_body = NewKey,
    responses(
        (status = 201, description = "added; the key is shown this once", body = KeyAdded),
        (status = 400, description = "the request makes no sense", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 403, description = "not the operator's key", body = ErrorBody),
        (status = 404, description = "no such account", body = ErrorBody)
    )
)]
pub(crate) async fn add_key(
    State(app): State<App>,
    _: Operator,
    At(path): At<AccountPath>,
    Json(body): Json<NewKey>,
) -> Result<(StatusCode, axum::Json<KeyAdded>), ApiError> {
    let key = ApiKey::generate().map_err(|error| ApiError::internal(&error))?;
    let id = new_key_id(&key);
    let write = Write::AddKey(NewApiKey {
        id: id.clone(),
        account: path.account,
        hash: key.hash(),
        label: body.label,
        added_ms: crate::clock::wall_clock_ms(),
    });
    match app.service.store().commit(Batch::new(vec![write])).await {
        Ok(_) => {
            let key = key.reveal().to_owned();
            Ok((StatusCode::CREATED, axum::Json(KeyAdded { id, key })))
        }
        Err(StoreError::NotFound | StoreError::Conflict { .. }) => {
            Err(ApiError::not_found("account"))
        }
        Err(error) => Err(ApiError::internal(&error)),
    }
}

/// A key's name: part of its hash, which tells nothing of the key.
pub(crate) fn new_key_id(key: &ApiKey) -> String {
    let hash = key.hash();
    let text: String = hash.as_bytes()[..6].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("key_{text}")
}

/// A key in a path.
#[derive(Debug, Deserialize)]
pub(crate) struct KeyPath {
    account: u32,
    key: String,
}

/// Revoke a key: from now on it opens nothing
#[utoipa::path(
    delete,
    path = "/v1/admin/accounts/{account}/keys/{key}",
    tag = "admin",
    params(
        ("account" = u32, Path, description = "its number"),
        ("key" = String, Path, description = "the key's id")
    ),
    responses(
        (status = 204, description = "revoked"),
        (status = 400, description = "the request makes no sense", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 403, description = "not the operator's key", body = ErrorBody),
        (status = 404, description = "no such key", body = ErrorBody)
    )
)]
pub(crate) async fn revoke_key(
    State(app): State<App>,
    _: Operator,
    At(path): At<KeyPath>,
) -> Result<StatusCode, ApiError> {
    let at_ms = crate::clock::wall_clock_ms();
    let write = Write::RevokeKey { account: path.account, id: path.key, at_ms };
    let revoked = app.service.store().commit(Batch::new(vec![write])).await;
    app.known.forget();
    match revoked {
        Ok(_) => Ok(StatusCode::NO_CONTENT),
        Err(StoreError::NotFound) => Err(ApiError::not_found("key")),
        Err(error) => Err(ApiError::internal(&error)),
    }
}
