//! Conversations: what outlives every sandbox.

use super::ConversationKey;

/// A conversation to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewConversation {
    /// The scheduler's number: its id's sequence. Larger than any before it, 1 or more.
    pub number: u64,
    /// Its name on the wire.
    pub key: ConversationKey,
    /// Whose it is.
    pub account: u32,
    /// When.
    pub opened_ms: i64,
}

/// A conversation as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// The scheduler's number.
    pub number: u64,
    /// Its name on the wire.
    pub key: ConversationKey,
    /// Whose it is.
    pub account: u32,
    /// When it was opened.
    pub opened_ms: i64,
    /// When it was closed, if it was.
    pub closed_ms: Option<i64>,
    /// The last message's sequence; 0 before the first.
    pub last_message: u64,
    /// The last event's sequence within the conversation; 0 before the first.
    pub last_event: u64,
    /// The last turn's number; 0 before the first.
    pub last_turn: u64,
    /// The last execute's number; 0 before the first.
    pub last_execute: u64,
    /// The analysis state that its client keeps with it, JSON; empty before it was ever set.
    pub state: String,
}

/// Some of an account's conversations, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationPage {
    /// The conversations.
    pub conversations: Vec<Conversation>,
    /// Where the next page begins; none when this is the last one.
    pub next: Option<ConversationKey>,
}
