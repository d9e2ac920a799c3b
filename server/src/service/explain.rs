//! Why a conversation waits, and why it waited, was refused or lost its files before.

use super::{Service, ServiceError};
use crate::store::ConversationKey;
use sandpool_core::{Event, EventKind, Explanation, Reason, Span};

/// Events that are looked through, from the last one back.
const LAST_EVENTS: u64 = 500;

/// What is told of them at most.
const MOST_TOLD: usize = 20;

/// A conversation's past and present, as far as its sandboxes go.
#[derive(Clone, Debug)]
pub(crate) struct Explained {
    /// Why it waits; none if it does not.
    pub(crate) now: Option<Explanation>,
    /// What happened, oldest first.
    pub(crate) before: Vec<Happened>,
}

/// One thing that happened to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Happened {
    pub(crate) at_ms: i64,
    pub(crate) turn: u32,
    pub(crate) what: What,
    pub(crate) reason: Reason,
    /// How long was waited, where somebody was.
    pub(crate) waited: Span,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// An execute waited for its sandbox, and got it.
    Waited,
    /// An execute got no sandbox.
    Refused,
    /// Its sandbox, with the files in it, was taken or ended.
    LostSandbox,
    /// It was told that its files are gone, and has a new sandbox.
    ToldOfLoss,
    /// The server was restarted under a turn or an execute.
    CutOff,
}

impl Service {
    /// Also of a closed conversation: it waits for nothing.
    pub(crate) async fn explain(
        &self,
        account: u32,
        key: &ConversationKey,
    ) -> Result<Explained, ServiceError> {
        let conversation = self.store.conversation(account, key).await?;
        let now = match self.directory.find(account, key) {
            Some(id) => self.engine.explain(id).await?,
            None => None,
        };
        let after = conversation.last_event.saturating_sub(LAST_EVENTS);
        let records =
            self.store.conversation_events(account, key, after, LAST_EVENTS as u32).await?;
        let mut before: Vec<Happened> = records
            .iter()
            .filter_map(|record| {
                let event: Event = serde_json::from_str(&record.body).ok()?;
                happened(&event, record.at_ms)
            })
            .collect();
        before.drain(..before.len().saturating_sub(MOST_TOLD));
        Ok(Explained { now, before })
    }
}

fn happened(event: &Event, at_ms: i64) -> Option<Happened> {
    let what = match event.kind {
        EventKind::SandboxBusy if event.span > Span::ZERO => What::Waited,
        EventKind::SandboxUnavailable => What::Refused,
        EventKind::SandboxDied => What::LostSandbox,
        // One that died is destroyed as well, which is no news.
        EventKind::SandboxDestroying if event.reason != Reason::Died => What::LostSandbox,
        EventKind::SandboxReplaced => What::ToldOfLoss,
        EventKind::ExecuteEnded | EventKind::TurnEnded if event.reason == Reason::Recovery => {
            What::CutOff
        }
        _ => return None,
    };
    let waited = match what {
        What::Waited | What::Refused => event.span,
        _ => Span::ZERO,
    };
    Some(Happened { at_ms, turn: event.turn.0, what, reason: event.reason, waited })
}

impl Happened {
    /// A sentence for people.
    pub(crate) fn text(&self) -> String {
        let (reason, seconds) = (self.reason.name(), self.waited.as_secs_f64());
        match self.what {
            What::Waited => format!("an execute waited {seconds:.1} s for its sandbox"),
            What::Refused => {
                let why = match self.reason {
                    Reason::Full => "all sandboxes are in use, and its patience ended",
                    Reason::CouldNotStart => "no sandbox could be started in time",
                    Reason::NeverFits => "its class can never fit the limits",
                    Reason::QueueTooLong => "too many wait already",
                    Reason::ShuttingDown => "the server was shutting down",
                    Reason::Cancelled => "it was cancelled",
                    _ => reason,
                };
                format!("an execute got no sandbox after {seconds:.1} s: {why}")
            }
            What::LostSandbox => {
                let why = match self.reason {
                    Reason::IdleTimeout => "it idled for too long",
                    Reason::Reclaimed => "it idled, and somebody else needed its place",
                    Reason::Died => "it died at the provider",
                    Reason::Recovery => "the server was restarted, and does not adopt sandboxes",
                    Reason::Swapped => "a turn wanted another class",
                    Reason::ShuttingDown => "the server was shut down",
                    Reason::ConversationClosed => "the conversation was closed",
                    _ => reason,
                };
                format!("its sandbox and the files in it went: {why}")
            }
            What::ToldOfLoss => {
                format!("it has a new sandbox and was told that its files are gone ({reason})")
            }
            What::CutOff => "the server was restarted in the middle of it".to_owned(),
        }
    }
}
