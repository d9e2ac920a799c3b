//! What a server has promised: everything that it answered, as its callers heard it.

use serde_json::Value;
use std::collections::BTreeMap;

/// One conversation, as its only caller knows it.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Its id; empty until the answer to its opening was heard.
    pub(super) id: String,
    /// The idempotency key under which it was opened.
    pub(super) opening: String,
    /// Messages that were answered, by sequence.
    pub(super) messages: BTreeMap<u64, String>,
    /// A message whose answer was never heard: it may be there or not.
    pub(super) maybe_message: Option<String>,
    /// Idempotency key of the message that may be there.
    pub(super) maybe_key: Option<String>,
    /// The number in the caller's own metadata, and one that may have taken its place.
    pub(super) metadata: Option<u64>,
    pub(super) maybe_metadata: Option<u64>,
    /// Turns whose beginning was answered.
    pub(super) turns_begun: Vec<u64>,
    /// The turn that is open, as far as its caller knows.
    pub(super) open_turn: Option<u64>,
    /// Events that were shown: the kind by sequence.
    pub(super) events: BTreeMap<u64, String>,
    /// What the file in its sandbox holds, and the last message before it was written.
    pub(super) file: Option<(String, u64)>,
    /// Whether its end was asked for, and whether that was answered.
    pub(super) closing: bool,
    pub(super) is_closed: bool,
    /// The last execute under an idempotency key that was answered: key, body and answer.
    pub(super) keyed_execute: Option<(String, Value, Value)>,
}

impl Known {
    /// Where it is in the API.
    pub(super) fn path(&self) -> String {
        format!("/v1/conversations/{}", self.id)
    }

    pub(super) fn is_open(&self) -> bool {
        !self.id.is_empty() && !self.closing && !self.is_closed
    }
}

/// Counts of what was done and heard, over all rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Answers that were heard.
    pub(crate) answers: u64,
    /// Requests that a kill left without one.
    pub(crate) unanswered: u64,
    /// Executes, by outcome.
    pub(crate) completed: u64,
    pub(crate) unavailable: u64,
    pub(crate) sandbox_died: u64,
    /// Messages and events that were compared after a restart.
    pub(crate) compared: u64,
    /// Faults that were asked of the provider.
    pub(crate) faults: u64,
    /// Files that were read back intact, and those whose loss was told.
    pub(crate) files_intact: u64,
    pub(crate) files_lost: u64,
}

impl Counts {
    pub(super) fn add(&mut self, other: &Self) {
        self.answers += other.answers;
        self.unanswered += other.unanswered;
        self.completed += other.completed;
        self.unavailable += other.unavailable;
        self.sandbox_died += other.sandbox_died;
        self.compared += other.compared;
        self.faults += other.faults;
        self.files_intact += other.files_intact;
        self.files_lost += other.files_lost;
    }
}
