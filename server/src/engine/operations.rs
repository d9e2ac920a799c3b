//! The scheduler's operations as calls to the provider: one task each, one reply each.

use super::command::Command;
use sandpool_core::{Operation, ProviderId, Reply};
use std::future::Future;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Carries an operation out. It never retries anything that creates: the scheduler does.
pub(crate) trait Hands: Send + Sync + 'static {
    /// The provider's own text for a sandbox, if it was ever learned.
    fn text_of(&self, provider: ProviderId) -> Option<String>;

    /// The number of a provider's text, the same one for ever within this instance.
    fn number_of(&self, text: &str) -> ProviderId;

    /// Does what the operation says, and gives the provider's answer.
    fn carry_out(&self, operation: Operation) -> impl Future<Output = Reply> + Send;
}

/// Begins an operation; its reply comes back as a command. If the engine has ended meanwhile, the
/// next instance learns from the provider what came of it.
pub(super) fn begin<H: Hands>(
    operation: Operation,
    hands: Arc<H>,
    replies: mpsc::WeakSender<Command>,
) {
    tokio::spawn(async move {
        let reply = hands.carry_out(operation).await;
        if let Some(replies) = replies.upgrade() {
            // An engine that has ended has nobody to tell.
            drop(replies.send(Command::Reply { op: operation.op, reply }).await);
        }
    });
}
