//! What a store keeps, in the words of the domain. Times are wall-clock milliseconds since 1970
//! (`*_ms`) except in the journal, which keeps the scheduler's own nanoseconds.

mod account;
mod conversation;
mod conversation_key;
mod event;
mod idempotency;
mod message;
mod recovery;
mod sandbox;
mod turn;

pub use account::{Account, ApiKeyRecord, NewApiKey};
pub use conversation::{Conversation, ConversationPage, NewConversation};
pub use conversation_key::{ConversationKey, KeyUnavailable};
pub use event::{EventRecord, JournalLine};
pub use idempotency::{IdempotencyRecord, IdempotencyStatus, NewIdempotent};
pub use message::{Message, MessageKind, MessageRange, Order};
pub use recovery::{OpenConversation, OpenExecute, OpenRequest, OpenTurn, Recovery};
pub use sandbox::{Intent, SandboxRef};
pub use turn::{ExecuteRecord, TurnRecord};

/// The most rows that one read gives back; a larger limit is taken as this one.
pub const MAX_PAGE: u32 = 1_000;

/// A limit that a read may be held to: 1 to [`MAX_PAGE`].
#[must_use]
pub(crate) fn page_limit(asked: u32) -> u32 {
    asked.clamp(1, MAX_PAGE)
}
