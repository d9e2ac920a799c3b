//! Conversations that outlive their sandboxes: an HTTP server over sandpool's scheduler.

mod context;
mod keys;
mod provider;
mod store;

pub use context::{
    BytesOverFour, ContextRules, Selected, Selection, TokenEstimate, load_context, select_context,
};
pub use keys::{ApiKey, AuthError, KeyHash, authenticate, redact_keys};
pub use store::{
    Account, ApiKeyRecord, Batch, Committing, Conversation, ConversationKey, ConversationPage,
    EventRecord, ExecuteRecord, IdempotencyRecord, IdempotencyStatus, Intent, JournalLine,
    KeyUnavailable, MAX_PAGE, Message, MessageKind, MessageRange, NewApiKey, NewConversation,
    NewIdempotent, OpenConversation, OpenExecute, OpenRequest, OpenTurn, Order, Receipt, Recovery,
    SandboxRef, SqliteOptions, SqliteStore, Store, StoreError, TurnRecord, Write,
};
