//! `/v1/admin/accounts`: accounts and their keys.

use super::super::super::app::App;
use super::super::super::auth::Operator;
use super::super::super::error::{ApiError, ErrorBody, ErrorCode};
use super::super::super::extract::{At, Json};
use crate::keys::ApiKey;
use crate::store::{Account, Batch, NewApiKey, StoreError, Write};
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
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
pub(crate) struct AccountShown {
    /// Its number.
    number: u32,
    /// Its name.
    name: String,
    /// When it was added, milliseconds since 1970.
    added_ms: i64,
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

/// Add an account
#[utoipa::path(
    post,
    path = "/v1/admin/accounts",
    tag = "admin",
    request_body = NewAccount,
    responses(
        (status = 201, description = "added", body = AccountShown),
        (status = 400, description = "the request makes no sense, or the name is taken", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 403, description = "not the operator's key", body = ErrorBody)
    )
)]
pub(crate) async fn add_account(
    State(app): State<App>,
    _: Operator,
    Json(body): Json<NewAccount>,
) -> Result<(StatusCode, axum::Json<AccountShown>), ApiError> {
    let fits = (1..=100).contains(&body.name.len())
        && body.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if !fits {
        return Err(ApiError::new(
            ErrorCode::InvalidRequest,
            "an account's name is 1 to 100 letters, digits, dashes and underscores",
        ));
    }
    let store = app.service.store();
    let exists = || {
        ApiError::new(
            ErrorCode::InvalidRequest,
            format!("an account {:?} exists already", body.name),
        )
    };
    for _ in 0..MOST_RACES {
        let accounts = store.accounts().await.map_err(|error| ApiError::internal(&error))?;
        if accounts.iter().any(|account| account.name == body.name) {
            return Err(exists());
        }
        let number = accounts.last().map_or(0, |last| last.number + 1);
        let added_ms = crate::clock::wall_clock_ms();
        let account = Account { number, name: body.name.clone(), added_ms };
        match store.commit(Batch::new(vec![Write::AddAccount(account)])).await {
            Ok(_) => {
                let added = AccountShown { number, name: body.name, added_ms };
                return Ok((StatusCode::CREATED, axum::Json(added)));
            }
            // Somebody else was given the number meanwhile, or the name.
            Err(StoreError::Exists { .. }) => {}
            Err(error) => return Err(ApiError::internal(&error)),
        }
    }
    Err(ApiError::new(ErrorCode::Overloaded, "too many accounts are added at once")
        .retry_after_seconds(1))
}

/// So often a number may be taken by somebody else before it is given up.
const MOST_RACES: u32 = 100;

/// Every account
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Accounts {
    /// In the order of their numbers; 0 is the operator's.
    items: Vec<AccountShown>,
}

/// List accounts
#[utoipa::path(
    get,
    path = "/v1/admin/accounts",
    tag = "admin",
    responses(
        (status = 200, description = "all of them", body = Accounts),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 403, description = "not the operator's key", body = ErrorBody)
    )
)]
pub(crate) async fn list_accounts(
    State(app): State<App>,
    _: Operator,
) -> Result<axum::Json<Accounts>, ApiError> {
    let accounts = app.service.store().accounts().await;
    let accounts = accounts.map_err(|error| ApiError::internal(&error))?.into_iter();
    let items = accounts
        .map(|it| AccountShown { number: it.number, name: it.name, added_ms: it.added_ms })
        .collect();
    Ok(axum::Json(Accounts { items }))
}

/// A key, without the key.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyShown {
    /// Its name in lists and logs.
    id: String,
    /// What its owner calls it.
    label: String,
    /// When it was made, milliseconds since 1970.
    added_ms: i64,
    /// Since when it opens nothing any more; null if it does.
    revoked_ms: Option<i64>,
}

/// The keys of an account.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Keys {
    /// In the order of their ids.
    items: Vec<KeyShown>,
}

/// List the keys of an account
#[utoipa::path(
    get,
    path = "/v1/admin/accounts/{account}/keys",
    tag = "admin",
    params(("account" = u32, Path, description = "its number")),
    responses(
        (status = 200, description = "all of them, revoked ones too", body = Keys),
        (status = 400, description = "the request makes no sense", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 403, description = "not the operator's key", body = ErrorBody)
    )
)]
pub(crate) async fn list_keys(
    State(app): State<App>,
    _: Operator,
    At(path): At<AccountPath>,
) -> Result<axum::Json<Keys>, ApiError> {
    let keys = app.service.store().keys(path.account).await;
    let keys = keys.map_err(|error| ApiError::internal(&error))?.into_iter();
    let items = keys.map(|it| KeyShown {
        id: it.id,
        label: it.label,
        added_ms: it.added_ms,
        revoked_ms: it.revoked_ms,
    });
    Ok(axum::Json(Keys { items: items.collect() }))
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
