//! Messages of a conversation.

/// Who or what a message is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageKind {
    /// Instructions to the model.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// The model calls a tool; [`Message::call`] names the call.
    ToolCall,
    /// What the tool answered; [`Message::call`] names the call.
    ToolResult,
    /// What happened to the sandbox that the model must know: files lost, sandbox replaced.
    Notice,
}

impl MessageKind {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::System, Self::User, Self::Assistant, Self::ToolCall, Self::ToolResult, Self::Notice];

    /// The word in tables and on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::ToolCall => "tool_call",
            Self::ToolResult => "tool_result",
            Self::Notice => "notice",
        }
    }

    /// The kind of that word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Counts the conversation's messages, from 1 without a gap. The engine counts, the store
    /// verifies.
    pub sequence: u64,
    /// The turn it belongs to; 0 outside of turns.
    pub turn: u64,
    /// From whom.
    pub kind: MessageKind,
    /// The tool call that a call or a result belongs to.
    pub call: Option<String>,
    /// When.
    pub at_ms: i64,
    /// What it says.
    pub text: String,
}

/// Which end a read begins at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// From the first message on.
    OldestFirst,
    /// From the last message back.
    NewestFirst,
}

/// Some of a conversation's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageRange {
    /// From which end.
    pub order: Order,
    /// The last sequence already seen in this order; none to begin.
    pub after: Option<u64>,
    /// How many, 1 to [`super::MAX_PAGE`].
    pub limit: u32,
}
