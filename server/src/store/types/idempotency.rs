//! Idempotency records: what was answered to a request that may come again.

/// A request that begins under an idempotency key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewIdempotent {
    /// Whose.
    pub account: u32,
    /// The caller's key.
    pub key: String,
    /// SHA-256 of what was asked, so that a key used for something else is noticed.
    pub request_hash: [u8; 32],
    /// When it began.
    pub began_ms: i64,
    /// From when the key may be used anew.
    pub expires_ms: i64,
}

/// How far a request has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdempotencyStatus {
    /// It has not been answered yet.
    InProgress,
    /// It was answered.
    Finished {
        /// The HTTP status.
        status: u16,
        /// The body.
        body: Vec<u8>,
    },
}

/// What is kept of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// SHA-256 of what was asked.
    pub request_hash: [u8; 32],
    /// How far it has come.
    pub status: IdempotencyStatus,
    /// From when the key may be used anew.
    pub expires_ms: i64,
}
