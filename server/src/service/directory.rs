//! The open conversations: from their names on the wire to the scheduler's ids.

use crate::store::ConversationKey;
use sandpool_core::{AccountId, ConversationId};
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// The open conversations. One account never finds another's.
#[derive(Debug)]
pub(super) struct Directory {
    open: RwLock<BTreeMap<ConversationKey, (AccountId, ConversationId)>>,
}

impl Directory {
    pub(super) fn new(
        open: impl IntoIterator<Item = (ConversationKey, AccountId, ConversationId)>,
    ) -> Self {
        let open = open.into_iter().map(|(key, account, id)| (key, (account, id))).collect();
        Self { open: RwLock::new(open) }
    }

    pub(super) fn find(&self, account: u32, key: &ConversationKey) -> Option<ConversationId> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.get(key).filter(|(owner, _)| owner.0 == account).map(|&(_, id)| id)
    }

    /// All of them.
    pub(super) fn all(&self) -> BTreeMap<ConversationId, ConversationKey> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.iter().map(|(key, &(_, id))| (id, key.clone())).collect()
    }

    pub(super) fn add(&self, account: u32, key: ConversationKey, id: ConversationId) {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        open.insert(key, (AccountId(account), id));
    }

    pub(super) fn remove(&self, key: &ConversationKey) {
        self.open.write().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sandpool_core::Id;

    #[test]
    fn an_account_finds_its_own_and_nobody_elses() {
        let key = ConversationKey::from_bytes([1; 16]);
        let id = ConversationId::new(1, 0);
        let directory = Directory::new([(key.clone(), AccountId(2), id)]);
        assert_eq!(directory.find(2, &key), Some(id));
        assert_eq!(directory.find(3, &key), None);
        directory.remove(&key);
        assert_eq!(directory.find(2, &key), None);
    }
}
