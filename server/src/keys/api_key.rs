//! The key itself: shown once to whoever asked for it, and kept nowhere.

use super::hash::KeyHash;
use crate::store::KeyUnavailable;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret, SecretString};
use std::fmt;

pub(super) const PREFIX: &str = "sp_";
const RANDOM_BYTES: usize = 32;

/// 256 random bits in 43 letters of base64url.
pub(super) const RANDOM_LETTERS: usize = 43;

/// `sp_` and 256 random bits. Neither `Debug` nor `Display` shows them, and the memory is wiped
/// when the key is dropped.
pub struct ApiKey(SecretString);

impl ApiKey {
    /// A new key.
    ///
    /// # Errors
    /// [`KeyUnavailable`] when the system's random source fails.
    pub fn generate() -> Result<Self, KeyUnavailable> {
        let mut bytes = [0_u8; RANDOM_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| KeyUnavailable(error.to_string()))?;
        Ok(Self(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)).into()))
    }

    /// Reads a key that a caller presents; none if the text cannot be one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text.strip_prefix(PREFIX)?).ok()?;
        (bytes.len() == RANDOM_BYTES).then(|| Self(text.to_owned().into()))
    }

    /// What is kept of it.
    #[must_use]
    pub fn hash(&self) -> KeyHash {
        KeyHash::of(self.0.expose_secret().as_bytes())
    }

    /// The text, to be shown once to its owner.
    #[must_use]
    pub fn reveal(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sp_[redacted]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_back_and_no_two_are_alike() {
        let key = ApiKey::generate().unwrap();
        assert_eq!(key.reveal().len(), PREFIX.len() + RANDOM_LETTERS);
        assert!(ApiKey::parse(key.reveal()).unwrap().hash().is_same(&key.hash()));
        assert!(!ApiKey::generate().unwrap().hash().is_same(&key.hash()));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let key = ApiKey::generate().unwrap();
        let text = key.reveal();
        for wrong in ["", "sp_", &text[1..], &text[..text.len() - 1], &format!("{text}A")] {
            assert!(ApiKey::parse(wrong).is_none(), "{} letters", wrong.len());
        }
    }

    #[test]
    fn neither_debug_nor_display_shows_the_key() {
        let key = ApiKey::generate().unwrap();
        assert_eq!(format!("{key} {key:?} {key:#?}").matches("sp_[redacted]").count(), 3);
        assert!(!format!("{key} {key:?} {key:#?}").contains(&key.reveal()[3..]));
    }
}
