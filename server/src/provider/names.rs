//! Names and labels: how a sandbox at the provider is known to be ours, and which one it is.

use sandpool_core::{ConversationId, SandboxName};
use std::collections::BTreeMap;

/// Value of the label `app` on everything that sandpool makes.
pub(super) const APP: &str = "sandpool";

/// The pool's name: in front of every sandbox's name and in its labels. Two servers that share an
/// organization need two pools, or each would remove the other's sandboxes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool(String);

/// A pool's name that cannot be one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no name of a pool; use 1 to 40 letters, digits and dashes")]
pub struct PoolError(String);

impl Pool {
    /// A pool of this name: 1 to 40 letters, digits and dashes. Nothing else needs an escape in a
    /// path, and no such name can hold what Daytona refuses in names (tags, schemes, `www.`).
    ///
    /// # Errors
    /// For any other name.
    pub fn new(name: &str) -> Result<Self, PoolError> {
        let fits = (1..=40).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if fits { Ok(Self(name.to_owned())) } else { Err(PoolError(name.to_owned())) }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text form of a sandbox's name, `POOL-EPOCH-SEQUENCE`.
    #[must_use]
    pub fn write(&self, name: SandboxName) -> String {
        format!("{}-{name}", self.0)
    }

    /// The name that a text means, if it has this pool's form. Daytona renames what it deletes to
    /// `DESTROYED_<name>_<milliseconds>` (v0.190.0, sandbox.service.ts): read as the name it had.
    #[must_use]
    pub fn read(&self, text: &str) -> Option<SandboxName> {
        let text = match text.strip_prefix("DESTROYED_") {
            Some(rest) => rest.rsplit_once('_')?.0,
            None => text,
        };
        let (epoch, sequence) = text.strip_prefix(&self.0)?.strip_prefix('-')?.split_once('-')?;
        Some(SandboxName { epoch: number(epoch)?, sequence: number(sequence)? })
    }

    /// The labels by which everything of this pool is found.
    #[must_use]
    pub(super) fn selector(&self) -> BTreeMap<String, String> {
        [("app", APP), ("pool", &self.0)]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into()
    }

    /// All labels of a sandbox.
    #[must_use]
    pub(super) fn labels(
        &self,
        epoch: u32,
        class: &str,
        conversation: Option<ConversationId>,
    ) -> BTreeMap<String, String> {
        let mut labels = self.selector();
        labels.insert("epoch".to_owned(), epoch.to_string());
        labels.insert("class".to_owned(), class.to_owned());
        if let Some(conversation) = conversation {
            labels.insert("conversation".to_owned(), conversation.to_string());
        }
        labels
    }
}

/// Only the digits that [`Pool::write`] would write: `+7` and `007` name nothing.
fn number<N: std::str::FromStr + ToString>(text: &str) -> Option<N> {
    text.parse::<N>().ok().filter(|number| number.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_survives_and_another_pools_name_is_not_ours() {
        let pool = Pool::new("blue").unwrap();
        let name = SandboxName { epoch: 7, sequence: 42 };
        assert_eq!(pool.write(name), "blue-7-42");
        assert_eq!(pool.read("blue-7-42"), Some(name));
        assert_eq!(pool.read("DESTROYED_blue-7-42_1764540000000"), Some(name));
        for foreign in
            ["blue-2-7-42", "blues-7-42", "red-7-42", "blue-7", "blue-+7-42", "blue-07-42"]
        {
            assert_eq!(pool.read(foreign), None, "{foreign}");
        }
        assert_eq!(Pool::new("blue-2").unwrap().read("blue-2-7-42"), Some(name));
    }

    #[test]
    fn a_pools_name_needs_no_escape() {
        for wrong in ["", "a/b", "a b", "ä", "a_b", &"x".repeat(41)] {
            assert!(Pool::new(wrong).is_err(), "{wrong:?}");
        }
    }
}
