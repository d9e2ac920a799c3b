//! Which account a presented key belongs to.

use super::ApiKey;
use crate::store::{Store, StoreError};
use thiserror::Error;

/// Why a caller is not let in.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AuthError {
    /// The text is no key, or an unknown or revoked one; which of these is not told.
    #[error("the API key is not valid")]
    Invalid,
    /// The store could not be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The account of a presented key.
///
/// # Errors
/// [`AuthError::Invalid`] if it opens nothing, [`AuthError::Store`] if that cannot be told.
pub async fn authenticate(store: &dyn Store, presented: &str) -> Result<u32, AuthError> {
    let key = ApiKey::parse(presented).ok_or(AuthError::Invalid)?;
    match store.key_by_hash(key.hash()).await? {
        Some(record) if record.revoked_ms.is_none() => Ok(record.account),
        _ => Err(AuthError::Invalid),
    }
}
