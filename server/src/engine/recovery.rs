//! What an instance begins with: what the store has of the ones before it.

use sandpool_core::{AccountId, ClassId, ExecuteId, ProviderId, SandboxName, TurnId};

/// Everything that the store has found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// Open conversations, in any order.
    pub(crate) conversations: Vec<FoundConversation>,
}

/// An open conversation.
#[derive(Clone, Debug)]
pub(crate) struct FoundConversation {
    /// The store's own number.
    pub(crate) number: u64,
    /// Whose it is.
    pub(crate) account: AccountId,
    /// Its last turn's number; 0 if it had none. It is over: turns do not survive a restart.
    pub(crate) last_turn: TurnId,
    /// Its last execute's number; 0 if it had none.
    pub(crate) last_execute: ExecuteId,
    /// The sandbox that it had.
    pub(crate) sandbox: Option<FoundSandbox>,
}

/// A sandbox that an earlier instance bound to a conversation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundSandbox {
    /// Its name.
    pub(crate) name: SandboxName,
    /// Its class; a class that is not configured any more makes it an orphan.
    pub(crate) class: ClassId,
    /// The provider's own id, if it was learned.
    pub(crate) provider: Option<ProviderId>,
    /// Whether a turn was open when the instance ended: a command may still run in it.
    pub(crate) turn_was_open: bool,
}
