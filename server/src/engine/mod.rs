//! The engine: the one task that owns the scheduler. Everything that happens becomes an input to
//! it, in one order; what it says is made durable where that matters, and then carried out.
//!
//! ```text
//! HTTP handlers ─┐                      ┌─> ledger (one commit a batch)
//! provider       ├─> commands ─> actor ─┤        │ durable
//! deadlines     ─┘   (one queue)        └─> release: operations to the provider, answers to callers
//! ```
//!
//! The actor never waits for the disk: it hands a batch to the ledger and goes on. What depends on
//! the batch is released in order as its commit is confirmed. If a commit fails, nothing after it
//! is released and the engine stops: an answer that could be lost is never given.

mod actor;
mod answers;
mod command;
mod ledger;
mod operations;
mod recovery;
mod release;
mod slots;
mod step;
#[cfg(test)]
mod tests;

pub(crate) use answers::{Grant, Granted, Unavailable};
pub(crate) use command::{Refused, Settings};
pub(crate) use ledger::{Batch, Binding, Intent, Ledger, LedgerError};
pub(crate) use operations::Hands;
pub(crate) use recovery::{Found, FoundConversation, FoundSandbox};

use crate::clock::InstanceClock;
use command::Command;
use sandpool_core::{
    AccountId, Capacity, ClassId, ConversationId, ExecuteId, ExecuteOutcome, Explanation, Reason,
    Span, TurnId, Used,
};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Commands that may wait for the actor. A full queue makes callers wait, not fail.
const COMMANDS: usize = 4_096;

/// The engine has stopped: it was told to, or what it must not lose could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the engine has stopped")]
pub(crate) struct Stopped;

/// A handle on the running engine. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    commands: mpsc::Sender<Command>,
}

impl Engine {
    /// Starts the engine with what the store has found of earlier instances.
    pub(crate) fn start<L: Ledger, H: Hands>(
        settings: Settings,
        found: Found,
        ledger: Arc<L>,
        hands: Arc<H>,
        clock: InstanceClock,
    ) -> (Self, tokio::task::JoinHandle<Result<(), LedgerError>>) {
        let (commands, inbox) = mpsc::channel(COMMANDS);
        let replies = commands.downgrade();
        let actor = actor::Actor::new(settings, found, ledger, hands, clock, inbox, replies);
        (Self { commands }, tokio::spawn(actor.run()))
    }

    async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, Stopped> {
        let (answer, answered) = oneshot::channel();
        self.commands.send(command(answer)).await.map_err(|_| Stopped)?;
        answered.await.map_err(|_| Stopped)
    }

    /// A conversation of the account exists from now on. `number` is the store's own, unique for
    /// ever.
    pub(crate) async fn open(
        &self,
        number: u64,
        account: AccountId,
    ) -> Result<ConversationId, Stopped> {
        self.ask(|answer| Command::Open { number, account, answer }).await
    }

    /// The conversation is over.
    pub(crate) async fn close(
        &self,
        conversation: ConversationId,
        cancel: bool,
    ) -> Result<Result<(), Refused>, Stopped> {
        self.ask(|answer| Command::Close { conversation, cancel, answer }).await
    }

    /// Begins a turn. Answered when it is durable.
    pub(crate) async fn begin_turn(
        &self,
        conversation: ConversationId,
        class: ClassId,
        likely_percent: Option<u8>,
    ) -> Result<Result<TurnId, Refused>, Stopped> {
        self.ask(|answer| Command::BeginTurn { conversation, class, likely_percent, answer }).await
    }

    /// Ends a turn. Answered when it is durable.
    pub(crate) async fn end_turn(
        &self,
        conversation: ConversationId,
        turn: TurnId,
        cancel: bool,
    ) -> Result<Result<(), Refused>, Stopped> {
        self.ask(|answer| Command::EndTurn { conversation, turn, cancel, answer }).await
    }

    /// Asks for the conversation's sandbox, to run something in it.
    pub(crate) async fn acquire(
        &self,
        conversation: ConversationId,
        turn: TurnId,
        patience: Option<Span>,
    ) -> Result<Result<Granted, Refused>, Stopped> {
        self.ask(|answer| Command::Acquire { conversation, turn, patience, answer }).await
    }

    /// What was granted has been used. Answered when it is durable, with how it ended in the
    /// scheduler's eyes: an outcome in doubt is decided by a probe first.
    pub(crate) async fn finish(
        &self,
        conversation: ConversationId,
        execute: ExecuteId,
        outcome: ExecuteOutcome,
        used: Used,
    ) -> Result<Reason, Stopped> {
        self.ask(|answer| Command::Finish { conversation, execute, outcome, used, answer }).await
    }

    /// The caller does not want the execute any more.
    pub(crate) async fn cancel(
        &self,
        conversation: ConversationId,
        execute: ExecuteId,
    ) -> Result<(), Stopped> {
        self.ask(|answer| Command::Cancel { conversation, execute, answer }).await
    }

    /// Why the conversation waits; `None` if it does not.
    pub(crate) async fn explain(
        &self,
        conversation: ConversationId,
    ) -> Result<Option<Explanation>, Stopped> {
        self.ask(|answer| Command::Explain { conversation, answer }).await
    }

    /// What is used, free and promised.
    pub(crate) async fn capacity(&self) -> Result<Capacity, Stopped> {
        self.ask(|answer| Command::Capacity { answer }).await
    }

    /// Stops admitting, answers everybody, and ends. Resolves when all is done.
    pub(crate) async fn drain(&self, leave_sandboxes: bool) -> Result<(), Stopped> {
        self.ask(|answer| Command::Drain { leave_sandboxes, answer }).await
    }
}
