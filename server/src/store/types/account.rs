//! Accounts and their API keys.

use crate::keys::KeyHash;

/// Who a quota share belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The scheduler's number, dense from 0.
    pub number: u32,
    /// Its name in configuration and API; unique.
    pub name: String,
    /// When it was added.
    pub added_ms: i64,
}

/// An API key to keep. The key itself is never kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewApiKey {
    /// Its name in lists and logs; unique, not secret.
    pub id: String,
    /// Whose it is.
    pub account: u32,
    /// The hash of the key.
    pub hash: KeyHash,
    /// What its owner calls it.
    pub label: String,
    /// When it was made.
    pub added_ms: i64,
}

/// What is known of a kept API key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKeyRecord {
    /// Its name in lists and logs.
    pub id: String,
    /// Whose it is.
    pub account: u32,
    /// What its owner calls it.
    pub label: String,
    /// When it was made.
    pub added_ms: i64,
    /// Since when it opens nothing any more.
    pub revoked_ms: Option<i64>,
}
