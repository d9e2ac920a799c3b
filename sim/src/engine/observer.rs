//! Hears everything the scheduler says: feeds the measures, keeps the journal if one is wanted,
//! and notes what clients have to react to.

use crate::measure::{Balance, Measures};
use sandpool_core::{
    ConversationId, Event, EventKind, ExecuteId, Input, Observer, Operation, Reason, Rejection,
    SandboxId, Time,
};
use serde::{Deserialize, Serialize};

/// Something that a client reacts to, after the scheduler's step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    /// The execute may run in this sandbox.
    Go(SandboxId),
    /// The execute was refused.
    Refused,
    /// The execute is over.
    Ended,
    /// The turn was ended by its time-out.
    TurnOver,
    /// The conversation's sandbox changed: what the store remembers is out of date.
    Rebound(Option<SandboxId>),
}

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// When.
    pub at: Time,
    /// What.
    #[serde(flatten)]
    pub what: What,
}

/// What a line of the journal holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// An instance of the scheduler begins, with this number; what came before it is history.
    Instance(u32),
    /// The scheduler was told this.
    Input(Input),
    /// The scheduler's deadlines up to now were handled.
    Timeout,
    /// The scheduler asked this of the provider.
    Operation(Operation),
    /// The scheduler said this.
    Event(Event),
    /// The scheduler turned its last input down.
    Rejection(Rejection),
    /// Our server crashed.
    Crash,
}

/// Everything that went into the scheduler and came out of it, in order.
pub type Journal = Vec<Line>;

#[derive(Debug)]
pub(super) struct Watch {
    pub(super) measures: Measures,
    pub(super) balance: Balance,
    pub(super) journal: Option<Journal>,
    pub(super) answers: Vec<(ConversationId, Answer)>,
    /// Whether changes of binding are to be told, for the store that survives a crash.
    pub(super) store: bool,
    /// Inputs that the scheduler turned down. A client never sends a senseless one, except that a
    /// turn may have timed out under it.
    pub(super) rejections: u64,
    /// The conversation and the execute of the last of them.
    pub(super) turned_down: Option<(ConversationId, ExecuteId)>,
}

impl Watch {
    pub(super) fn note(&mut self, at: Time, what: What) {
        if let Some(journal) = &mut self.journal {
            journal.push(Line { at, what });
        }
    }
}

impl Observer for Watch {
    #[inline]
    fn input(&mut self, now: Time, input: &Input) {
        if self.journal.is_some() {
            self.note(now, What::Input(input.clone()));
        }
    }

    #[inline]
    fn timeout(&mut self, now: Time) {
        self.note(now, What::Timeout);
    }

    #[inline]
    fn event(&mut self, event: &Event) {
        self.measures.fold(event);
        if self.journal.is_some() {
            self.note(event.at, What::Event(*event));
        }
        let Some(conversation) = event.conversation else { return };
        match event.kind {
            EventKind::SandboxBusy => {
                let sandbox = event.sandbox.expect("busy names a sandbox");
                self.balance.answered(event.at, true, event.span);
                self.answers.push((conversation, Answer::Go(sandbox)));
            }
            EventKind::SandboxUnavailable => {
                self.balance.answered(event.at, false, event.span);
                self.answers.push((conversation, Answer::Refused));
            }
            EventKind::ExecuteEnded => self.answers.push((conversation, Answer::Ended)),
            EventKind::TurnEnded if event.reason == Reason::TurnTimeout => {
                self.answers.push((conversation, Answer::TurnOver));
            }
            EventKind::SandboxAssigned if self.store => {
                self.answers.push((conversation, Answer::Rebound(event.sandbox)));
            }
            EventKind::SandboxReleased | EventKind::SandboxDestroying | EventKind::SandboxDied
                if self.store =>
            {
                self.answers.push((conversation, Answer::Rebound(None)));
            }
            _ => {}
        }
    }

    #[inline]
    fn operation(&mut self, now: Time, operation: &Operation) {
        if self.journal.is_some() {
            self.note(now, What::Operation(*operation));
        }
    }

    fn rejection(&mut self, now: Time, rejection: &Rejection) {
        self.rejections += 1;
        self.turned_down =
            rejection.conversation.map(|conversation| (conversation, rejection.execute));
        self.note(now, What::Rejection(*rejection));
    }
}
