//! A conversation's name on the wire, which nobody can guess.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::fmt;
use thiserror::Error;

const PREFIX: &str = "conv_";
const RANDOM_BYTES: usize = 16;

/// `conv_` and 128 random bits in 22 letters. Knowing one is no permission: every read asks for
/// the account as well.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConversationKey(String);

/// The system has no random numbers to give.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the system gave no random numbers: {0}")]
pub struct KeyUnavailable(pub(crate) String);

impl ConversationKey {
    /// A new one.
    ///
    /// # Errors
    /// [`KeyUnavailable`] when the system's random source fails.
    pub fn generate() -> Result<Self, KeyUnavailable> {
        let mut bytes = [0_u8; RANDOM_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| KeyUnavailable(error.to_string()))?;
        Ok(Self::from_bytes(bytes))
    }

    /// The one with these 128 bits, for tests and replays.
    #[must_use]
    pub fn from_bytes(bytes: [u8; RANDOM_BYTES]) -> Self {
        Self(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// Reads one; none if the text cannot be one, which a caller answers like "not found".
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text.strip_prefix(PREFIX)?).ok()?;
        Some(Self::from_bytes(bytes.try_into().ok()?))
    }

    /// The text on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ConversationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_back_and_no_two_are_alike() {
        let first = ConversationKey::generate().unwrap();
        assert_eq!(ConversationKey::parse(first.as_str()), Some(first.clone()));
        assert_eq!(first.as_str().len(), PREFIX.len() + 22);
        assert_ne!(first, ConversationKey::generate().unwrap());
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for text in
            ["", "conv_", "conv_AAAA", "c_AAAAAAAAAAAAAAAAAAAAAA", "conv_!AAAAAAAAAAAAAAAAAAAAA"]
        {
            assert_eq!(ConversationKey::parse(text), None, "{text}");
        }
    }
}
