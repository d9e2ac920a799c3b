//! What has been said and not been taken yet, in order. Everything is written where it stays until
//! it is taken: an event is a hundred bytes, and a step says several, so that copies would count.

use crate::event::{Actor, Event, EventKind, Reason};
use crate::id::{ClassId, ExecuteId, TurnId};
use crate::input::Used;
use crate::lifecycle::SandboxState;
use crate::output::{Output, Rejection};
use crate::provider::Operation;
use crate::time::{Span, Time};

/// Outputs in the order in which they were said.
#[derive(Clone, Debug, Default)]
pub(super) struct Outputs {
    said: Vec<Output>,
    taken: usize,
    /// Events ever said.
    events: u64,
}

impl Outputs {
    /// Says that something happened. Gives the event, whose particulars are still blank.
    #[inline]
    pub(super) fn event(
        &mut self,
        at: Time,
        kind: EventKind,
        reason: Reason,
        actor: Actor,
    ) -> &mut Event {
        self.events += 1;
        self.said.push(Output::Event(Event {
            sequence: self.events,
            at,
            kind,
            reason,
            actor,
            state: SandboxState::New,
            class: ClassId(0),
            account: None,
            conversation: None,
            turn: TurnId(0),
            execute: ExecuteId(0),
            claim: None,
            sandbox: None,
            span: Span::ZERO,
            used: Used::default(),
        }));
        match self.said.last_mut() {
            Some(Output::Event(event)) => event,
            _ => unreachable!("an event was said last"),
        }
    }

    /// Asks something of the provider.
    #[inline]
    pub(super) fn operation(&mut self, operation: Operation) {
        self.said.push(Output::Operation(operation));
    }

    /// Turns the input down.
    pub(super) fn rejection(&mut self, rejection: Rejection) {
        self.said.push(Output::Rejected(rejection));
    }

    /// The next one that has not been taken.
    #[inline]
    pub(super) fn take(&mut self) -> Option<&Output> {
        if self.is_empty() {
            self.said.clear();
            self.taken = 0;
            return None;
        }
        self.taken += 1;
        self.said.get(self.taken - 1)
    }

    /// Whether everything has been taken.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.taken == self.said.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_come_in_order_once_and_events_are_numbered_without_a_gap() {
        let mut outputs = Outputs::default();
        for round in 0..3_u64 {
            outputs.event(Time::ZERO, EventKind::TurnBegan, Reason::None, Actor::Caller).turn =
                TurnId(7);
            outputs.event(Time::ZERO, EventKind::TurnEnded, Reason::None, Actor::Caller);
            let mut taken = Vec::new();
            while let Some(output) = outputs.take() {
                let Output::Event(event) = output else { panic!("not an event") };
                taken.push((event.sequence, event.turn));
            }
            assert_eq!(taken, [(2 * round + 1, TurnId(7)), (2 * round + 2, TurnId(0))]);
            assert!(outputs.is_empty() && outputs.said.is_empty());
        }
    }
}
