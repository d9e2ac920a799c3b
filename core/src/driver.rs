//! The pump between the scheduler, its clock, its provider and whoever wants to know.

use crate::clock::Clock;
use crate::event::Event;
use crate::input::Input;
use crate::output::{Output, Rejection};
use crate::provider::{Operation, Provider};
use crate::scheduler::{Deadline, Scheduler};
use crate::time::Time;

/// Hears what goes in and what comes out: journals, metrics, answers to callers. Every method does
/// nothing unless it is written.
pub trait Observer {
    /// This input is about to be handled.
    fn input(&mut self, now: Time, input: &Input) {
        let _ = (now, input);
    }
    /// The deadlines up to `now` are about to be handled.
    fn timeout(&mut self, now: Time) {
        let _ = now;
    }
    /// This happened.
    fn event(&mut self, event: &Event) {
        let _ = event;
    }
    /// This is about to be asked of the provider.
    fn operation(&mut self, now: Time, operation: &Operation) {
        let _ = (now, operation);
    }
    /// The last input made no sense.
    fn rejection(&mut self, now: Time, rejection: &Rejection) {
        let _ = (now, rejection);
    }
}

/// An observer that looks away.
impl Observer for () {}

/// A scheduler with its clock and its provider. The simulator and the server run the same one.
#[derive(Clone, Debug)]
pub struct Driver<C, P> {
    scheduler: Scheduler,
    clock: C,
    provider: P,
}

impl<C: Clock, P: Provider> Driver<C, P> {
    /// Puts the three together.
    pub fn new(scheduler: Scheduler, clock: C, provider: P) -> Self {
        Self { scheduler, clock, provider }
    }

    /// Handles one input at the clock's present instant and passes on everything that follows.
    #[inline]
    pub fn input(&mut self, input: Input, observer: &mut impl Observer) {
        let now = self.clock.now();
        observer.input(now, &input);
        self.scheduler.handle(now, input);
        self.pump(now, observer);
    }

    /// Handles the deadlines that are due. Cheap when none is.
    #[inline]
    pub fn timeout(&mut self, observer: &mut impl Observer) {
        let now = self.clock.now();
        if self.scheduler.next_deadline().is_some_and(|deadline| deadline.at <= now) {
            observer.timeout(now);
            self.scheduler.handle_timeout(now);
            self.pump(now, observer);
        }
    }

    /// When to call [`Driver::timeout`], unless an input comes first.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Deadline> {
        self.scheduler.next_deadline()
    }

    /// The scheduler, to look at.
    #[must_use]
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> &C {
        &self.clock
    }

    /// The clock, to set it.
    pub fn clock_mut(&mut self) -> &mut C {
        &mut self.clock
    }

    /// The provider.
    #[must_use]
    pub fn provider(&self) -> &P {
        &self.provider
    }

    /// The provider, to poll it for replies.
    pub fn provider_mut(&mut self) -> &mut P {
        &mut self.provider
    }

    /// Takes the three apart again: a crash keeps the provider and the clock, not the scheduler.
    pub fn into_parts(self) -> (Scheduler, C, P) {
        (self.scheduler, self.clock, self.provider)
    }

    #[inline]
    fn pump(&mut self, now: Time, observer: &mut impl Observer) {
        while let Some(output) = self.scheduler.poll_ref() {
            match output {
                Output::Event(event) => observer.event(event),
                Output::Operation(operation) => {
                    observer.operation(now, operation);
                    self.provider.submit(now, *operation);
                }
                Output::Rejected(rejection) => observer.rejection(now, rejection),
            }
        }
    }
}
