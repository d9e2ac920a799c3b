//! Who asks: an API key names an account. Account 0 is the operator's: only its keys open
//! `/v1/admin`, and it has no conversations of its own that matter to anybody else.

use super::app::App;
use super::error::{ApiError, ErrorCode};
use crate::keys::{ApiKey, AuthError, KeyHash, authenticate};
use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// The operator's account.
pub(crate) const OPERATOR: u32 = 0;

/// Whoever asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Account(pub(crate) u32);

/// The operator asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operator;

/// Keys that were looked up before, by their hashes. Forgotten whenever a key is revoked.
#[derive(Debug, Default)]
pub(crate) struct Known {
    accounts: RwLock<BTreeMap<[u8; 32], u32>>,
}

/// More keys than this are looked up each time.
const MOST_KNOWN: usize = 10_000;

impl Known {
    fn account(&self, hash: &KeyHash) -> Option<u32> {
        self.accounts.read().unwrap_or_else(PoisonError::into_inner).get(hash.as_bytes()).copied()
    }

    fn remember(&self, hash: &KeyHash, account: u32) {
        let mut accounts = self.accounts.write().unwrap_or_else(PoisonError::into_inner);
        if accounts.len() < MOST_KNOWN {
            accounts.insert(*hash.as_bytes(), account);
        }
    }

    /// A key was revoked: all are looked up anew.
    pub(crate) fn forget(&self) {
        self.accounts.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl FromRequestParts<App> for Account {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let presented = parts
            .headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.strip_prefix("Bearer "))
            .ok_or_else(unauthorized)?;
        let hash = ApiKey::parse(presented).ok_or_else(unauthorized)?.hash();
        if let Some(account) = app.known.account(&hash) {
            return Ok(Self(account));
        }
        match authenticate(app.service.store().as_ref(), presented).await {
            Ok(account) => {
                app.known.remember(&hash, account);
                Ok(Self(account))
            }
            Err(AuthError::Invalid) => Err(unauthorized()),
            Err(AuthError::Store(error)) => Err(ApiError::internal(&error)),
        }
    }
}

impl FromRequestParts<App> for Operator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        match Account::from_request_parts(parts, app).await? {
            Account(OPERATOR) => Ok(Self),
            Account(_) => {
                Err(ApiError::new(ErrorCode::Forbidden, "this key is not the operator's"))
            }
        }
    }
}

fn unauthorized() -> ApiError {
    ApiError::new(ErrorCode::Unauthorized, "the API key is missing or opens nothing")
        .hint("send it as `Authorization: Bearer sp_...`")
}
