//! What is done once a batch is durable, in the order of the batches.

use super::answers::Granted;
use super::command::{Command, Refused};
use super::ledger::LedgerError;
use super::operations::{self, Hands};
use sandpool_core::{ConversationId, Operation, Reason, TurnId};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Something that follows from a batch.
#[derive(Debug)]
pub(super) enum Effect {
    /// Ask this of the provider.
    Operation(Operation),
    /// An answer to a caller; a caller who has gone does not hear it.
    Opened(oneshot::Sender<ConversationId>, ConversationId),
    Began(oneshot::Sender<Result<TurnId, Refused>>, TurnId),
    Done(oneshot::Sender<Result<(), Refused>>),
    Heard(oneshot::Sender<()>),
    Ended(oneshot::Sender<Reason>, Reason),
    Granted(oneshot::Sender<Result<Granted, Refused>>, Granted),
}

/// A commit under way, if there was anything to commit, and what follows from it.
pub(super) struct Pending {
    pub(super) commit: Option<Pin<Box<dyn Future<Output = Result<(), LedgerError>> + Send>>>,
    pub(super) effects: Vec<Effect>,
}

/// Waits for commits in order and lets follow what follows. Ends with the first that fails.
pub(super) async fn release<H: Hands>(
    mut pending: mpsc::UnboundedReceiver<Pending>,
    hands: Arc<H>,
    replies: mpsc::WeakSender<Command>,
) -> Result<(), LedgerError> {
    while let Some(next) = pending.recv().await {
        if let Some(commit) = next.commit {
            commit.await?;
        }
        for effect in next.effects {
            carry_out(effect, &hands, &replies);
        }
    }
    Ok(())
}

pub(super) fn carry_out<H: Hands>(
    effect: Effect,
    hands: &Arc<H>,
    replies: &mpsc::WeakSender<Command>,
) {
    // A caller that does not wait any more needs no answer.
    match effect {
        Effect::Operation(operation) => {
            operations::begin(operation, Arc::clone(hands), replies.clone());
        }
        Effect::Opened(answer, id) => {
            let _ = answer.send(id);
        }
        Effect::Began(answer, turn) => {
            let _ = answer.send(Ok(turn));
        }
        Effect::Done(answer) => {
            let _ = answer.send(Ok(()));
        }
        Effect::Heard(answer) => {
            let _ = answer.send(());
        }
        Effect::Ended(answer, reason) => {
            let _ = answer.send(reason);
        }
        Effect::Granted(answer, granted) => {
            let _ = answer.send(Ok(granted));
        }
    }
}
