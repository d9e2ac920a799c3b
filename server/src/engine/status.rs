//! Who holds what, who waits, and what is wrong, at one instant.

use super::actor::Actor;
use super::operations::Hands;
use sandpool_core::{
    AccountId, Capacity, ClassView, ConversationId, Explanation, SandboxView, TurnId,
};

/// The whole pool at one instant.
#[derive(Clone, Debug)]
pub(crate) struct PoolStatus {
    /// Whether what earlier instances left is still being looked for.
    pub(crate) is_recovering: bool,
    pub(crate) capacity: Capacity,
    pub(crate) classes: Vec<(String, ClassView)>,
    pub(crate) sandboxes: Vec<SandboxStatus>,
    pub(crate) waiting: Vec<WaitingStatus>,
}

/// One sandbox that may exist.
#[derive(Clone, Debug)]
pub(crate) struct SandboxStatus {
    pub(crate) view: SandboxView,
    /// The provider's own id.
    pub(crate) provider_id: Option<String>,
    pub(crate) account: Option<AccountId>,
    /// How long it has been in its state, as far as this instance has seen it.
    pub(crate) since_seconds: Option<f64>,
}

/// One conversation that waits for a sandbox.
#[derive(Clone, Debug)]
pub(crate) struct WaitingStatus {
    pub(crate) conversation: ConversationId,
    pub(crate) account: AccountId,
    pub(crate) turn: Option<TurnId>,
    /// Whether an execute waits for it.
    pub(crate) is_blocked: bool,
    pub(crate) why: Explanation,
}

impl<H: Hands> Actor<H> {
    /// `open` are the open conversations.
    pub(super) fn status(&self, open: &[ConversationId]) -> PoolStatus {
        let scheduler = self.scheduler();
        let classes = scheduler.config().classes.iter().enumerate().filter_map(|(index, class)| {
            let id = sandpool_core::ClassId(u16::try_from(index).ok()?);
            Some((class.name.clone(), scheduler.class_view(id)?))
        });
        let sandboxes = scheduler.sandboxes().map(|view| {
            let of = |id| Some(scheduler.conversation(id)?.account);
            SandboxStatus {
                view,
                provider_id: self.provider_text(view.provider),
                account: view.conversation.and_then(of),
                since_seconds: self.seconds_in_state(view.id),
            }
        });
        let waiting = open.iter().filter_map(|&conversation| {
            let view = scheduler.conversation(conversation)?;
            let (claim, is_blocked) = view.claim?;
            Some(WaitingStatus {
                conversation,
                account: view.account,
                turn: view.turn,
                is_blocked,
                why: scheduler.explain(claim)?,
            })
        });
        PoolStatus {
            is_recovering: scheduler.is_recovering(),
            capacity: scheduler.capacity(),
            classes: classes.collect(),
            sandboxes: sandboxes.collect(),
            waiting: waiting.collect(),
        }
    }
}
