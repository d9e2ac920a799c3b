//! What a call is answered with.

use sandpool_core::{ProviderId, Time};
use serde_json::Value;

/// The answer to a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// What came of it.
    pub outcome: Outcome,
    /// Headers beyond the usual ones: those of the rate limits.
    pub headers: Vec<(String, String)>,
    /// Whether the answer arrives. A call may be carried out without anybody hearing of it.
    pub heard: bool,
}

impl Reply {
    pub(super) fn unheaded(outcome: Outcome) -> Self {
        Self { outcome, headers: Vec::new(), heard: true }
    }
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It was carried out.
    Answer {
        /// The HTTP status, 2xx.
        status: u16,
        /// The JSON body, if there is one.
        body: Option<Value>,
    },
    /// It was refused.
    Error {
        /// The HTTP status, 4xx or 5xx.
        status: u16,
        /// The text of the body's `message`.
        message: String,
    },
    /// The answer comes later: ask [`Account::redeem`](super::Account::redeem) at every change and
    /// at [`Ticket::until`].
    Wait(Ticket),
    /// Something in front of the service answers, in HTML.
    BadGateway,
    /// Nobody answers.
    Silence,
}

/// What somebody who waits has to wait for.
#[derive(Clone, Debug, PartialEq)]
pub struct Ticket {
    /// The sandbox that is to start.
    pub sandbox: ProviderId,
    /// The answer comes by then at the latest.
    pub until: Time,
    pub(super) key: String,
    pub(super) view: Option<Value>,
}

impl Outcome {
    pub(super) fn ok(body: Value) -> Self {
        Outcome::Answer { status: 200, body: Some(body) }
    }

    pub(super) fn error(status: u16, message: String) -> Self {
        Outcome::Error { status, message }
    }

    pub(super) fn not_found(key: &str) -> Self {
        Self::error(404, format!("Sandbox with ID or name {key} not found"))
    }
}

/// A refusal on its way to becoming an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// With a status and a text.
    Because { status: u16, message: String },
    /// Too many requests; the header says which limiter and for how many seconds.
    Throttled { header: String, seconds: u64 },
}

impl Refused {
    pub(super) fn because(status: u16, message: impl Into<String>) -> Self {
        Refused::Because { status, message: message.into() }
    }

    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self::because(400, message)
    }

    pub(super) fn not_found(key: &str) -> Self {
        Self::because(404, format!("Sandbox with ID or name {key} not found"))
    }

    /// What the real server answers to what it did not foresee.
    pub(super) fn unexpected() -> Self {
        Self::because(500, "An unexpected error occurred.")
    }

    pub(super) fn status(&self) -> u16 {
        match self {
            Refused::Because { status, .. } => *status,
            Refused::Throttled { .. } => 429,
        }
    }

    pub(super) fn into_outcome(self, headers: &mut Vec<(String, String)>) -> Outcome {
        match self {
            Refused::Because { status, message } => Outcome::error(status, message),
            Refused::Throttled { header, seconds } => {
                // A refusal by one limiter shows none of the others' headers.
                headers.clear();
                headers.push((header, seconds.to_string()));
                Outcome::error(429, "ThrottlerException: Too Many Requests".to_owned())
            }
        }
    }
}
