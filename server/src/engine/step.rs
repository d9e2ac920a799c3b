//! Gathers what the scheduler says while a batch of inputs is handled.

use super::ledger::{Batch, Intent};
use sandpool_core::{Event, Input, Observer, Operation, Provider, Rejection, Time};
use sandpool_sim::{Line, What};

/// What one batch has caused so far.
#[derive(Debug, Default)]
pub(super) struct Step {
    pub(super) batch: Batch,
    /// Where the events begin that nobody has looked at yet.
    pub(super) looked_at: usize,
    /// Why the last input was turned down, if it was.
    pub(super) rejection: Option<Rejection>,
}

impl Observer for Step {
    fn input(&mut self, now: Time, input: &Input) {
        self.rejection = None;
        self.batch.journal.push(Line { at: now, what: What::Input(input.clone()) });
    }

    fn timeout(&mut self, now: Time) {
        self.batch.journal.push(Line { at: now, what: What::Timeout });
    }

    fn event(&mut self, event: &Event) {
        self.batch.events.push(*event);
    }

    fn operation(&mut self, _: Time, operation: &Operation) {
        self.batch.intents.extend(Intent::of(operation));
    }

    fn rejection(&mut self, now: Time, rejection: &Rejection) {
        self.rejection = Some(*rejection);
        self.batch.journal.push(Line { at: now, what: What::Rejection(*rejection) });
    }
}

/// Takes the scheduler's operations; they are carried out when their batch is durable.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    pub(super) operations: Vec<Operation>,
}

impl Provider for Outbox {
    fn submit(&mut self, _: Time, operation: Operation) {
        self.operations.push(operation);
    }
}
