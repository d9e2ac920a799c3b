//! Turns: a user's request, from its beginning to its answer.

use super::{Service, ServiceError};
use crate::engine::Answered;
use crate::store::{ConversationKey, TurnRecord};
use sandpool_core::TurnId;

impl Service {
    /// Begins a turn; acquiring a sandbox begins in the background where the policy says so.
    pub(crate) async fn begin_turn(
        &self,
        account: u32,
        key: &ConversationKey,
        class: Option<&str>,
        likely_percent: Option<u8>,
    ) -> Result<TurnRecord, ServiceError> {
        let class = self.class(class)?;
        let id = self.open_one(account, key).await?;
        let turn = self.engine.begin_turn(id, class, likely_percent).await??;
        Ok(self.store.turn(account, key, u64::from(turn.0)).await?)
    }

    /// Ends a turn.
    pub(crate) async fn end_turn(
        &self,
        account: u32,
        key: &ConversationKey,
        turn: u32,
        cancel: bool,
    ) -> Result<TurnRecord, ServiceError> {
        let id = self.open_one(account, key).await?;
        self.engine.end_turn(id, TurnId(turn), cancel, Answered::WhenSafe).await??;
        Ok(self.store.turn(account, key, u64::from(turn)).await?)
    }
}
