//! What the engine needs of a store: one atomic, durable commit a batch.

use sandpool_core::{ClassId, ConversationId, Event, Operation, ProviderId, SandboxName, Verb};
use sandpool_sim::Line;
use std::future::Future;

/// A commit failed: nothing of its batch, and nothing after it, may be told to anybody.
#[derive(Clone, Debug, thiserror::Error)]
#[error("what must not be lost could not be written: {0}")]
pub(crate) struct LedgerError(pub(crate) String);

/// Everything that one batch of inputs has caused. Durable as a whole or not at all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    /// What went in and came out, in order: enough to rebuild the scheduler.
    pub(crate) journal: Vec<Line>,
    /// What happened, for callers to read.
    pub(crate) events: Vec<Event>,
    /// Sandboxes that may exist from now on.
    pub(crate) intents: Vec<Intent>,
    /// Sandboxes that are confirmed gone.
    pub(crate) settled: Vec<Intent>,
    /// Changes of which sandbox belongs to which conversation, in order.
    pub(crate) bindings: Vec<(ConversationId, Option<Binding>)>,
}

/// The sandbox of a conversation, as the next instance needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Binding {
    /// Its name.
    pub(crate) name: SandboxName,
    /// Its class.
    pub(crate) class: ClassId,
    /// The provider's own id, by the number that this instance gave it.
    pub(crate) provider: Option<ProviderId>,
}

/// A sandbox that may exist at the provider from now on: decided on, and not confirmed gone. What
/// a list does not show yet is looked for by this name after a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Intent {
    /// Its name.
    pub(crate) name: SandboxName,
    /// Its class.
    pub(crate) class: ClassId,
}

impl Intent {
    /// The intent of an operation; `None` for one that cannot make a sandbox.
    pub(super) fn of(operation: &Operation) -> Option<Self> {
        (operation.verb == Verb::Create)
            .then_some(Self { name: operation.name, class: operation.class })
    }
}

impl Batch {
    pub(super) fn is_empty(&self) -> bool {
        self.journal.is_empty()
            && self.events.is_empty()
            && self.intents.is_empty()
            && self.settled.is_empty()
            && self.bindings.is_empty()
    }

    /// Whether something that follows from the batch may only happen when it is durable. The rest
    /// may be written later: it is only told, and told again by the next commit.
    pub(super) fn must_be_durable(&self) -> bool {
        !self.intents.is_empty() || !self.bindings.is_empty()
    }
}

/// Makes batches durable, in the order in which they are handed over.
pub(crate) trait Ledger: Send + Sync + 'static {
    /// Hands a batch over; the future resolves when it is durable.
    fn commit(
        &self,
        batch: Batch,
    ) -> impl Future<Output = Result<(), LedgerError>> + Send + 'static;
}
