//! Conversations: open, look at, list, close, and what was said in them.

use super::{Service, ServiceError};
use crate::context::{BytesOverFour, Selection, load_context};
use crate::store::{
    Batch, Conversation, ConversationKey, ConversationPage, EventRecord, Message, MessageKind,
    MessageRange, StoreError, Write,
};
use sandpool_core::{AccountId, ConversationId, Id, TurnId};

impl Service {
    /// Opens a conversation. `state` (JSON) is the caller's own.
    pub(crate) async fn open(
        &self,
        account: u32,
        state: Option<String>,
    ) -> Result<Conversation, ServiceError> {
        let key = ConversationKey::generate().map_err(|error| {
            ServiceError::Store(StoreError::Invalid { what: error.to_string() })
        })?;
        let id = self.engine.open(key.clone(), AccountId(account)).await?;
        if let Some(state) = state {
            self.write_state(id, state).await?;
        }
        self.directory.add(account, key.clone(), id);
        Ok(self.store.conversation(account, &key).await?)
    }

    pub(crate) async fn conversation(
        &self,
        account: u32,
        key: &ConversationKey,
    ) -> Result<Conversation, ServiceError> {
        Ok(self.store.conversation(account, key).await?)
    }

    pub(crate) async fn conversations(
        &self,
        account: u32,
        after: Option<&ConversationKey>,
        limit: u32,
    ) -> Result<ConversationPage, ServiceError> {
        Ok(self.store.conversations(account, after, limit).await?)
    }

    /// Keeps the caller's own state in place of what was there.
    pub(crate) async fn set_state(
        &self,
        account: u32,
        key: &ConversationKey,
        state: String,
    ) -> Result<Conversation, ServiceError> {
        let id = self.open_one(account, key).await?;
        self.write_state(id, state).await?;
        Ok(self.store.conversation(account, key).await?)
    }

    async fn write_state(&self, id: ConversationId, state: String) -> Result<(), ServiceError> {
        let write = Write::SetConversationState { conversation: id.sequence(), state };
        self.store.commit(Batch::new(vec![write])).await?;
        Ok(())
    }

    /// Closes a conversation. Its history stays; its sandbox goes.
    pub(crate) async fn close(
        &self,
        account: u32,
        key: &ConversationKey,
        cancel: bool,
    ) -> Result<Conversation, ServiceError> {
        let id = self.open_one(account, key).await?;
        self.engine.close(id, cancel).await??;
        self.directory.remove(key);
        Ok(self.store.conversation(account, key).await?)
    }

    /// Adds a message and gives its sequence.
    pub(crate) async fn append(
        &self,
        account: u32,
        key: &ConversationKey,
        turn: u32,
        kind: MessageKind,
        call: Option<String>,
        text: String,
    ) -> Result<u64, ServiceError> {
        let id = self.open_one(account, key).await?;
        Ok(self.engine.append(id, TurnId(turn), kind, call, text).await??)
    }

    pub(crate) async fn messages(
        &self,
        account: u32,
        key: &ConversationKey,
        range: MessageRange,
    ) -> Result<Vec<Message>, ServiceError> {
        Ok(self.store.messages(account, key, range).await?)
    }

    /// What of the history goes to a model within a budget.
    pub(crate) async fn context(
        &self,
        account: u32,
        key: &ConversationKey,
        budget_tokens: u64,
    ) -> Result<Selection, ServiceError> {
        let (store, rules) = (self.store.as_ref(), self.context_rules);
        Ok(load_context(store, account, key, budget_tokens, rules, &BytesOverFour).await?)
    }

    pub(crate) async fn events(
        &self,
        account: u32,
        key: &ConversationKey,
        after: u64,
        limit: u32,
    ) -> Result<Vec<EventRecord>, ServiceError> {
        Ok(self.store.conversation_events(account, key, after, limit).await?)
    }

    /// Cancels what is under way in the conversation.
    pub(crate) async fn cancel(
        &self,
        account: u32,
        key: &ConversationKey,
    ) -> Result<(), ServiceError> {
        let id = self.open_one(account, key).await?;
        Ok(self.engine.cancel(id).await?)
    }

    /// The scheduler's id of an open conversation of the account.
    pub(super) async fn open_one(
        &self,
        account: u32,
        key: &ConversationKey,
    ) -> Result<ConversationId, ServiceError> {
        if let Some(id) = self.directory.find(account, key) {
            return Ok(id);
        }
        // It may be closed, which its owner may know.
        self.store.conversation(account, key).await?;
        Err(ServiceError::Closed)
    }
}
