//! The scheduler that shares a limited quota of code-execution sandboxes among conversations.
//!
//! It is deterministic: the same configuration and the same inputs at the same times give the same
//! outputs, byte for byte. It reads no clock, does no I/O, starts no threads and draws no random
//! numbers.

mod clock;
mod config;
mod driver;
mod event;
mod id;
mod input;
mod lifecycle;
mod output;
mod policy;
mod provider;
mod resources;
mod scheduler;
mod time;

pub use clock::Clock;
pub use config::{Class, Config, Conflict, KEYS, Key, KeyKind, Recovery, Value};
pub use driver::{Driver, Observer};
pub use event::{Actor, EVENT_VERSION, Event, EventKind, Reason};
pub use id::{
    AccountId, Arena, ClaimId, ClassId, ConversationId, ExecuteId, Id, MAX_ACCOUNTS, MAX_LIVE,
    OpId, ProviderId, SandboxId, TurnId,
};
pub use input::{ExecuteOutcome, Input, Used};
pub use lifecycle::{EDGES, SandboxState, is_legal};
pub use output::{Output, Rejection, WhyRejected};
pub use policy::{IdlePolicy, QueuePolicy, ReclaimPolicy, StartPolicy, WarmPolicy};
pub use provider::{
    Failure, FoundState, Inventory, InventoryItem, Operation, Provider, Reply, SandboxName, Verb,
};
pub use resources::{Dimension, Resources};
pub use scheduler::{
    AccountView, Capacity, ClassView, ConversationView, Deadline, Due, Explanation, SandboxView,
    Scheduler, WaitReason,
};
pub use time::{Span, Time};
