//! Gathers what the scheduler says while one input is handled.

use super::scribe::Scribe;
use sandpool_core::{Event, Input, Observer, Operation, Provider, Rejection, Time};
use sandpool_sim::What;
use std::collections::VecDeque;

/// Hears one step: what goes in is journalled at once, what comes out is looked at afterwards.
pub(super) struct Step<'a> {
    pub(super) scribe: &'a mut Scribe,
    pub(super) events: &'a mut VecDeque<Event>,
    /// Why the input was turned down, if it was.
    pub(super) rejection: Option<Rejection>,
}

impl Observer for Step<'_> {
    fn input(&mut self, now: Time, input: &Input) {
        self.scribe.journal(now, &What::Input(input.clone()));
    }

    fn timeout(&mut self, now: Time) {
        self.scribe.journal(now, &What::Timeout);
    }

    fn event(&mut self, event: &Event) {
        self.events.push_back(*event);
    }

    fn rejection(&mut self, now: Time, rejection: &Rejection) {
        self.rejection = Some(*rejection);
        self.scribe.journal(now, &What::Rejection(*rejection));
    }
}

/// Takes the scheduler's operations; a create is carried out only when it is safe that the sandbox
/// may exist.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    pub(super) operations: Vec<Operation>,
}

impl Provider for Outbox {
    fn submit(&mut self, _: Time, operation: Operation) {
        self.operations.push(operation);
    }
}
