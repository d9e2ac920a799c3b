//! The engine: the one task that owns the scheduler. Everything that happens becomes an input to
//! it, in one order; what it says is made durable where that matters, and then carried out.
//!
//! ```text
//! HTTP handlers ─┐                      ┌─> store (one commit a batch)
//! provider       ├─> commands ─> actor ─┤        │ safe
//! deadlines     ─┘   (one queue)        └─> release: operations to the provider, answers to callers
//! ```
//!
//! The actor never waits for the disk: it hands a batch to the store and goes on. What depends on
//! the batch is released in order as its commit is confirmed. If a commit fails, nothing after it
//! is released and the engine stops: an answer that could be lost is never given.

mod actor;
mod answers;
mod command;
mod hands;
mod operations;
mod release;
mod scribe;
mod slots;
mod status;
mod step;
#[cfg(test)]
mod tests;

pub(crate) use answers::{Answered, Grant, Granted};
pub(crate) use command::Refused;
pub(crate) use hands::ProviderHands;
pub(crate) use operations::Hands;
pub(crate) use status::PoolStatus;

use crate::clock::InstanceClock;
use crate::metrics::Fold;
use crate::store::{Batch, Committing, ConversationKey, MessageKind, Recovery, StoreError};
use command::Command;
use sandpool_core::{
    AccountId, Capacity, ClassId, Config, ConversationId, ExecuteId, ExecuteOutcome, Explanation,
    Reason, Span, TurnId, Used,
};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot, watch};

/// Commands that may wait for the actor. A full queue makes callers wait, not fail.
const COMMANDS: usize = 4_096;

/// The engine has stopped: it was told to, or what it must not lose could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the engine has stopped")]
pub(crate) struct Stopped;

/// Hands a batch to the store, in order: all of a store that the engine needs once it runs.
pub(crate) type Commit = Box<dyn Fn(Batch) -> Committing + Send + Sync>;

/// An engine that runs.
pub(crate) struct Started {
    pub(crate) engine: Engine,
    /// The conversations that were open.
    pub(crate) open: Vec<(ConversationKey, AccountId, ConversationId)>,
    /// Ends when every handle is gone, or with what could not be written.
    pub(crate) running: tokio::task::JoinHandle<Result<(), StoreError>>,
}

/// A handle on the running engine. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    commands: mpsc::Sender<Command>,
    safe_events: watch::Receiver<u64>,
}

impl Engine {
    /// Starts the engine with what the store has of earlier instances. Gives the open
    /// conversations under the scheduler's ids.
    pub(crate) fn start<H: Hands>(
        config: Config,
        recovery: &Recovery,
        commit: Commit,
        hands: Arc<H>,
        clock: InstanceClock,
        fold: Fold,
    ) -> Started {
        let (commands, inbox) = mpsc::channel(COMMANDS);
        let replies = commands.downgrade();
        let (told, safe_events) = watch::channel(recovery.last_event);
        let (actor, open) =
            actor::Actor::new(config, recovery, commit, hands, clock, fold, inbox, replies, told);
        let engine = Self { commands, safe_events };
        Started { engine, open, running: tokio::spawn(actor.run()) }
    }

    async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, Stopped> {
        let (answer, answered) = oneshot::channel();
        self.commands.send(command(answer)).await.map_err(|_| Stopped)?;
        answered.await.map_err(|_| Stopped)
    }

    /// A conversation of the account exists from now on. Answered when it is safe.
    pub(crate) async fn open(
        &self,
        key: ConversationKey,
        account: AccountId,
    ) -> Result<ConversationId, Stopped> {
        self.ask(|answer| Command::Open { key, account, answer }).await
    }

    /// Adds a message and gives its sequence. Answered when it is safe.
    pub(crate) async fn append(
        &self,
        conversation: ConversationId,
        turn: TurnId,
        kind: MessageKind,
        call: Option<String>,
        text: String,
    ) -> Result<Result<u64, Refused>, Stopped> {
        self.ask(|answer| Command::Append { conversation, turn, kind, call, text, answer }).await
    }

    /// The conversation is over.
    pub(crate) async fn close(
        &self,
        conversation: ConversationId,
        cancel: bool,
    ) -> Result<Result<(), Refused>, Stopped> {
        self.ask(|answer| Command::Close { conversation, cancel, answer }).await
    }

    /// Begins a turn. Answered when it is safe.
    pub(crate) async fn begin_turn(
        &self,
        conversation: ConversationId,
        class: ClassId,
        likely_percent: Option<u8>,
    ) -> Result<Result<TurnId, Refused>, Stopped> {
        self.ask(|answer| Command::BeginTurn { conversation, class, likely_percent, answer }).await
    }

    /// Ends a turn.
    pub(crate) async fn end_turn(
        &self,
        conversation: ConversationId,
        turn: TurnId,
        cancel: bool,
        answered: Answered,
    ) -> Result<Result<(), Refused>, Stopped> {
        self.ask(|answer| Command::EndTurn { conversation, turn, cancel, answered, answer }).await
    }

    /// Asks for the conversation's sandbox, to run something in it: in a turn, or in the one that is
    /// open.
    pub(crate) async fn acquire(
        &self,
        conversation: ConversationId,
        turn: Option<TurnId>,
        patience: Option<Span>,
    ) -> Result<Result<Granted, Refused>, Stopped> {
        self.ask(|answer| Command::Acquire { conversation, turn, patience, answer }).await
    }

    /// What was granted has been used; `result` (JSON) is kept with it. Answered with how it ended
    /// in the scheduler's eyes: an outcome in doubt is decided by a probe first.
    pub(crate) async fn finish(
        &self,
        conversation: ConversationId,
        execute: ExecuteId,
        outcome: ExecuteOutcome,
        used: Used,
        result: String,
        answered: Answered,
    ) -> Result<Reason, Stopped> {
        self.ask(|answer| Command::Finish {
            conversation,
            execute,
            outcome,
            used,
            result,
            answered,
            answer,
        })
        .await
    }

    /// The caller does not want what is under way in the conversation any more. Whoever waits or
    /// is at it is told; nothing happens if nothing is under way.
    pub(crate) async fn cancel(&self, conversation: ConversationId) -> Result<(), Stopped> {
        self.ask(|answer| Command::Cancel { conversation, answer }).await
    }

    /// Comes true when everything before it is safe: what an earlier instance left open, for one.
    pub(crate) async fn safe(&self) -> Result<(), Stopped> {
        self.ask(|answer| Command::Safe { answer }).await
    }

    /// Why the conversation waits; `None` if it does not.
    pub(crate) async fn explain(
        &self,
        conversation: ConversationId,
    ) -> Result<Option<Explanation>, Stopped> {
        self.ask(|answer| Command::Explain { conversation, answer }).await
    }

    /// The last event's sequence that is safe; changes when there is a new one.
    pub(crate) fn safe_events(&self) -> watch::Receiver<u64> {
        self.safe_events.clone()
    }

    /// Whether the engine has ended.
    pub(crate) fn is_stopped(&self) -> bool {
        self.commands.is_closed()
    }

    /// Brings the metrics up to now: they are exact when this has been answered.
    pub(crate) async fn settle(&self) -> Result<(), Stopped> {
        self.ask(|answer| Command::Settle { answer }).await
    }

    /// What is used, free and promised.
    pub(crate) async fn capacity(&self) -> Result<Capacity, Stopped> {
        self.ask(|answer| Command::Capacity { answer }).await
    }

    /// Who holds what, and which of these open conversations wait.
    pub(crate) async fn status(&self, open: Vec<ConversationId>) -> Result<PoolStatus, Stopped> {
        self.ask(|answer| Command::Status { open, answer }).await
    }

    /// Compares with the provider's inventory now.
    pub(crate) async fn reconcile(&self) -> Result<(), Stopped> {
        self.ask(|answer| Command::Reconcile { answer }).await
    }

    /// Stops admitting, answers everybody, and ends. Resolves when all is done.
    pub(crate) async fn drain(&self, leave_sandboxes: bool) -> Result<(), Stopped> {
        self.ask(|answer| Command::Drain { leave_sandboxes, answer }).await
    }
}
