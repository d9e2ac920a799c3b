//! Ids as the API shows them: random to look at, fixed by the seed.

use crate::random::{Purpose, StreamFamily};
use sandpool_core::ProviderId;
use std::collections::BTreeMap;
use std::fmt;

/// A version 4 UUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Uuid(u128);

impl Uuid {
    fn from_bits(bits: u128) -> Self {
        let version = 0x4_u128 << 76;
        let variant = 0x8_u128 << 60;
        let cleared = bits & !(0xf_u128 << 76) & !(0xc_u128 << 60);
        Self(cleared | version | variant)
    }

    /// Reads the usual form, in either case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let dashes = [8, 13, 18, 23];
        let shaped = text.len() == 36
            && text.bytes().enumerate().all(|(place, byte)| {
                if dashes.contains(&place) { byte == b'-' } else { byte.is_ascii_hexdigit() }
            });
        if !shaped {
            return None;
        }
        u128::from_str_radix(&text.replace('-', ""), 16).ok().map(Self)
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = format!("{:032x}", self.0);
        let (a, b, c) = (&hex[..8], &hex[8..12], &hex[12..16]);
        write!(f, "{a}-{b}-{c}-{}-{}", &hex[16..20], &hex[20..])
    }
}

/// Makes ids, and remembers whose they are.
#[derive(Clone, Debug)]
pub(super) struct Identities {
    family: StreamFamily,
    made: u64,
    sandboxes: BTreeMap<Uuid, ProviderId>,
}

impl Identities {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            family: StreamFamily::new(seed, 0, Purpose::Identity),
            made: 0,
            sandboxes: BTreeMap::new(),
        }
    }

    /// A new id for anything.
    pub(super) fn next(&mut self) -> Uuid {
        self.made += 1;
        let mut stream = self.family.entity(self.made);
        Uuid::from_bits(u128::from(stream.bits()) << 64 | u128::from(stream.bits()))
    }

    /// A secret of 64 hexadecimal digits.
    pub(super) fn secret(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        format!("{:032x}{:032x}", a.0, b.0)
    }

    /// A new id for a sandbox.
    pub(super) fn of_sandbox(&mut self, sandbox: ProviderId) -> Uuid {
        let id = self.next();
        self.sandboxes.insert(id, sandbox);
        id
    }

    pub(super) fn sandbox(&self, id: Uuid) -> Option<ProviderId> {
        self.sandboxes.get(&id).copied()
    }

    pub(super) fn forget(&mut self, id: Uuid) {
        self.sandboxes.remove(&id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_looks_like_one_and_reads_back() {
        let mut identities = Identities::new(3);
        let id = identities.of_sandbox(ProviderId(7));
        let text = id.to_string();
        assert_eq!(text.len(), 36);
        assert_eq!(&text[14..15], "4");
        assert!(matches!(&text[19..20], "8" | "9" | "a" | "b"), "{text}");
        assert_eq!(Uuid::parse(&text.to_uppercase()), Some(id));
        assert_eq!(identities.sandbox(id), Some(ProviderId(7)));
        assert_ne!(identities.next(), id);
        assert_eq!(Uuid::parse("not-an-id"), None);
    }
}
