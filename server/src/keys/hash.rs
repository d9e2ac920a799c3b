//! What is kept of a key.

use sha2::{Digest, Sha256};
use std::fmt;
use subtle::ConstantTimeEq;

/// SHA-256 of an API key. A slow hash would add nothing: 256 random bits cannot be searched.
///
/// There is no `==` that leaks where two differ: `PartialEq` is the constant-time comparison.
#[derive(Clone, Copy, Eq)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// Of a key's text.
    #[must_use]
    pub fn of(key: &[u8]) -> Self {
        Self(Sha256::digest(key).into())
    }

    /// One that was kept.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// To be kept.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Whether both are of one key, in a time that does not depend on where they differ.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl PartialEq for KeyHash {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other)
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash([redacted])")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_changed_bit_anywhere_makes_another_hash() {
        let hash = KeyHash::of(b"sp_example");
        for at in 0..32 {
            let mut bytes = *hash.as_bytes();
            bytes[at] ^= 1;
            assert!(!hash.is_same(&KeyHash::from_bytes(bytes)), "byte {at}");
        }
        assert!(hash.is_same(&KeyHash::from_bytes(*hash.as_bytes())));
        assert_eq!(format!("{hash:?}"), "KeyHash([redacted])");
    }
}
