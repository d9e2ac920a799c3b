//! What is done once a batch is durable, in the order of the batches.

use super::answers::Granted;
use super::command::{Command, Refused};
use super::operations::{self, Hands};
use crate::metrics::Metrics;
use crate::store::{Committing, StoreError};
use sandpool_core::{ConversationId, Operation, Reason, TurnId};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::Instant;

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
    Appended(oneshot::Sender<Result<u64, Refused>>, u64),
    Ended(oneshot::Sender<Reason>, Reason),
    Granted(oneshot::Sender<Result<Granted, Refused>>, Granted),
}

/// A commit under way, and what follows from it.
pub(super) struct Pending {
    /// With when it was handed over.
    pub(super) commit: Option<(Committing, Instant)>,
    /// The last event that is safe then.
    pub(super) last_event: u64,
    pub(super) effects: Vec<Effect>,
}

/// Waits for commits in order and lets follow what follows. Ends with the first that fails.
pub(super) async fn release<H: Hands>(
    mut pending: mpsc::UnboundedReceiver<Pending>,
    hands: Arc<H>,
    replies: mpsc::WeakSender<Command>,
    one_is_safe: Arc<Notify>,
    in_flight: Arc<AtomicUsize>,
    safe_events: watch::Sender<u64>,
    metrics: Arc<Metrics>,
) -> Result<(), StoreError> {
    while let Some(next) = pending.recv().await {
        if let Some((commit, began)) = next.commit {
            if let Err(error) = commit.await {
                // Closed first: the actor that this wakes sees that it is over.
                drop(pending);
                one_is_safe.notify_one();
                return Err(error);
            }
            metrics.committed(began.elapsed());
            in_flight.fetch_sub(1, Ordering::AcqRel);
            one_is_safe.notify_one();
            safe_events.send_replace(next.last_event);
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
        Effect::Appended(answer, sequence) => {
            let _ = answer.send(Ok(sequence));
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
