//! Events and the journal of inputs.

/// One event, as it is kept for those who read along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRecord {
    /// Counts all events, from 1 without a gap. The engine counts, the store verifies.
    pub sequence: u64,
    /// The account it belongs to; none for what concerns only the pool.
    pub account: Option<u32>,
    /// The conversation's number and the event's sequence within it, from 1 without a gap.
    pub conversation: Option<(u64, u64)>,
    /// What happened, in the vocabulary of the core's events.
    pub kind: String,
    /// When.
    pub at_ms: i64,
    /// The event itself, JSON.
    pub body: String,
}

/// One input of the scheduler, as it was given to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalLine {
    /// Counts all lines, from 1 without a gap. The engine counts, the store verifies.
    pub sequence: u64,
    /// Which instance; its times count from its own start.
    pub epoch: u32,
    /// The scheduler's time, nanoseconds.
    pub at_ns: u64,
    /// Which kind of input.
    pub kind: String,
    /// The input itself.
    pub body: Vec<u8>,
}
