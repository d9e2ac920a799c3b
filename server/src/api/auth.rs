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
    looked_up: RwLock<LookedUp>,
}

#[derive(Debug, Default)]
struct LookedUp {
    accounts: BTreeMap<[u8; 32], u32>,
    /// How often all were forgotten: a look-up that began before must not be remembered.
    forgotten: u64,
}

/// More keys than this are looked up each time.
const MOST_KNOWN: usize = 10_000;

impl Known {
    /// The account of a key, or which look-up has to be made for it.
    fn account(&self, hash: &KeyHash) -> Result<u32, u64> {
        let looked_up = self.looked_up.read().unwrap_or_else(PoisonError::into_inner);
        looked_up.accounts.get(hash.as_bytes()).copied().ok_or(looked_up.forgotten)
    }

    fn remember(&self, hash: &KeyHash, account: u32, look_up: u64) {
        let mut looked_up = self.looked_up.write().unwrap_or_else(PoisonError::into_inner);
        if looked_up.forgotten == look_up && looked_up.accounts.len() < MOST_KNOWN {
            looked_up.accounts.insert(*hash.as_bytes(), account);
        }
    }

    /// A key was revoked: all are looked up anew.
    pub(crate) fn forget(&self) {
        let mut looked_up = self.looked_up.write().unwrap_or_else(PoisonError::into_inner);
        looked_up.accounts.clear();
        looked_up.forgotten += 1;
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
        let look_up = match app.known.account(&hash) {
            Ok(account) => return Ok(Self(account)),
            Err(look_up) => look_up,
        };
        match authenticate(app.service.store().as_ref(), presented).await {
            Ok(account) => {
                app.known.remember(&hash, account, look_up);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_up_that_a_revocation_overtook_is_not_remembered() {
        let (known, hash) = (Known::default(), KeyHash::of(b"key"));
        let before = known.account(&hash).unwrap_err();
        known.forget();
        known.remember(&hash, 7, before);
        let now = known.account(&hash).expect_err("it may be the key that was revoked");
        known.remember(&hash, 7, now);
        assert_eq!(known.account(&hash), Ok(7));
    }
}
