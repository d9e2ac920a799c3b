//! Turns: a user's request, from its beginning to its answer.

use super::{Service, ServiceError};
use crate::engine::Answered;
use crate::store::{ConversationKey, TurnRecord};
use sandpool_core::{ConversationId, TurnId};

/// A turn that something runs in.
#[derive(Clone, Copy, Debug)]
pub(super) struct InTurn {
    pub(super) turn: TurnId,
    /// Whether it was opened only for this, and ends with it.
    pub(super) is_own: bool,
}

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

    /// The open turn, or one of its own for what runs outside of turns.
    pub(super) async fn turn_for(
        &self,
        id: ConversationId,
        named: Option<u32>,
        class: Option<&str>,
    ) -> Result<InTurn, ServiceError> {
        if let Some(turn) = named {
            return Ok(InTurn { turn: TurnId(turn), is_own: false });
        }
        let open = self.engine.view(id).await?.and_then(|view| view.turn);
        if let Some(turn) = open {
            return Ok(InTurn { turn, is_own: false });
        }
        let turn = self.engine.begin_turn(id, self.class(class)?, Some(100)).await??;
        Ok(InTurn { turn, is_own: true })
    }

    pub(super) async fn leave(&self, id: ConversationId, turn: InTurn) -> Result<(), ServiceError> {
        if turn.is_own {
            // It may have timed out or been closed meanwhile: then it has ended already.
            let _ = self.engine.end_turn(id, turn.turn, true, Answered::AtOnce).await?;
        }
        Ok(())
    }
}
