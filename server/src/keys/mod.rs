//! API keys: how they are made, recognised and kept out of sight.

mod api_key;
mod authenticate;
mod hash;
mod redact;

pub use api_key::ApiKey;
pub use authenticate::{AuthError, authenticate};
pub use hash::KeyHash;
pub use redact::redact_keys;
