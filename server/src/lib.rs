//! Conversations that outlive their sandboxes: an HTTP server over sandpool's scheduler.

mod clock;
mod config;
mod context;
mod engine;
mod keys;
mod provider;
mod service;
mod store;

pub use config::{
    DaytonaSettings, HistorySettings, HttpSettings, Settings, SettingsError, StoreSettings,
};
pub use context::{
    BytesOverFour, ContextRules, Selected, Selection, TokenEstimate, select_context,
};
pub use keys::{ApiKey, AuthError, KeyHash, authenticate, redact_keys};
pub use store::{
    Account, ApiKeyRecord, Batch, Committing, Conversation, ConversationKey, ConversationPage,
    EventRecord, ExecuteRecord, IdempotencyRecord, IdempotencyStatus, Intent, JournalLine,
    KeyUnavailable, MAX_PAGE, Message, MessageKind, MessageRange, NewApiKey, NewConversation,
    NewIdempotent, OpenConversation, OpenExecute, OpenRequest, OpenTurn, Order, Receipt, Recovery,
    SandboxRef, SqliteOptions, SqliteStore, Store, StoreError, TurnRecord, Write,
};
pub use provider::{
    Alive, CommandOutcome, CommandRequest, Daytona, DaytonaOptions, FileContent, FileEntry,
    FileSource, Found, IdTable, OptionsError, Origin, Pool, PoolError, PrepareFile, PrepareSteps,
    ProviderError, Relabelling, SandboxProvider, SandboxTemplate, Scripted, Simulated, Target,
    carry_out,
};
