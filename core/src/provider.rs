//! The seam to whoever rents out sandboxes: what is asked, what comes back.

use crate::id::{ClassId, ConversationId, OpId, ProviderId, SandboxId};
use crate::resources::Dimension;
use crate::time::{Span, Time};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Carries out operations. Replies come back later as [`crate::Input::Reply`].
///
/// An adapter answers each operation at most once, in any order, or never: a lost answer is the
/// scheduler's business. It must not retry anything that creates.
pub trait Provider {
    /// Begins `operation`; must not block.
    fn submit(&mut self, now: Time, operation: Operation);
}

/// A sandbox's unique name: the handle by which it is found when a create's answer is lost. The
/// adapter writes it as text, with the pool's name in front (`pool-epoch-sequence`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SandboxName {
    /// Counts the instances of this pool's scheduler; durable, never reused.
    pub epoch: u32,
    /// Counts the sandboxes of one instance; never reused.
    pub sequence: u64,
}

impl fmt::Display for SandboxName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.epoch, self.sequence)
    }
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// Create a sandbox of the class under the name, with the pool's labels. Answered by
    /// [`Reply::Created`] once it is started and reachable.
    Create,
    /// Run the class's prepare steps. Answered by [`Reply::Prepared`].
    Prepare,
    /// Delete the sandbox, by provider id or else by name. Answered by [`Reply::Destroyed`] only
    /// when the provider has confirmed that it is gone (not found counts).
    Destroy,
    /// Ask whether the sandbox lives and answers. Answered by [`Reply::Alive`] or [`Reply::Gone`].
    Probe,
    /// Look one sandbox up by name. Answered by [`Reply::Found`] or [`Reply::Absent`].
    Find,
    /// List everything labelled with this pool. Answered by [`Reply::Inventory`].
    FindAll,
    /// Tell the provider that the sandbox is in use. Answered by [`Reply::Alive`] or
    /// [`Reply::Gone`].
    KeepAlive,
    /// Write this instance's epoch and the conversation into the labels. Answered by
    /// [`Reply::Relabelled`].
    Relabel,
}

impl Verb {
    /// Every verb.
    pub const ALL: [Verb; 8] = [
        Verb::Create,
        Verb::Prepare,
        Verb::Destroy,
        Verb::Probe,
        Verb::Find,
        Verb::FindAll,
        Verb::KeepAlive,
        Verb::Relabel,
    ];

    /// The name in files and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Verb::Create => "create",
            Verb::Prepare => "prepare",
            Verb::Destroy => "destroy",
            Verb::Probe => "probe",
            Verb::Find => "find",
            Verb::FindAll => "find_all",
            Verb::KeepAlive => "keep_alive",
            Verb::Relabel => "relabel",
        }
    }
}

/// One thing asked of the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// Names this operation in its reply.
    pub op: OpId,
    /// What to do.
    pub verb: Verb,
    /// The sandbox, unless the verb is [`Verb::FindAll`].
    pub sandbox: Option<SandboxId>,
    /// The sandbox's name; for [`Verb::FindAll`] only its epoch means something.
    pub name: SandboxName,
    /// The provider's own id, once known.
    pub provider: Option<ProviderId>,
    /// The class.
    pub class: ClassId,
    /// For [`Verb::Relabel`]: whose sandbox it is.
    pub conversation: Option<ConversationId>,
}

/// What the provider answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// Created, started and reachable.
    Created {
        /// The provider's own id.
        provider: ProviderId,
    },
    /// The prepare steps are done.
    Prepared,
    /// Confirmed gone.
    Destroyed,
    /// It lives and answers.
    Alive {
        /// Whether no command runs in it.
        quiet: bool,
    },
    /// For certain not there any more, or for certain unusable.
    Gone,
    /// A sandbox of this name exists and bears this pool's labels.
    Found {
        /// The provider's own id.
        provider: ProviderId,
        /// Its state there.
        state: FoundState,
    },
    /// No sandbox of this name exists now (one may still appear while a create is under way).
    Absent,
    /// Everything labelled with this pool.
    Inventory(Inventory),
    /// The labels are written.
    Relabelled,
    /// It did not work.
    Failed(Failure),
}

/// State of a sandbox that was found, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundState {
    /// Still on its way up.
    Starting,
    /// Started.
    Running,
    /// Stopped, archived: not usable, but still holding resources.
    Stopped,
    /// Failed; still holding its name.
    Errored,
    /// On its way out.
    Destroying,
}

/// Why an operation failed. The adapter's whole knowledge of codes and texts ends here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The provider's quota is exhausted; nothing was created.
    Full {
        /// In which dimension, where the answer says so.
        dimension: Option<Dimension>,
    },
    /// Too many requests; nothing was done.
    RateLimited {
        /// When to ask again.
        retry_after: Span,
    },
    /// The request itself is wrong and will stay so (unknown template, bad credentials).
    Rejected,
    /// The name is taken.
    NameExists,
    /// It was tried and failed; a leftover may hold the name and resources.
    Errored,
    /// For certain not carried out: refused, unreachable, overloaded.
    Unavailable,
    /// Nobody knows whether it was carried out.
    Lost,
    /// The sandbox is changing state; ask again.
    Conflict,
}

impl Failure {
    /// The name in files and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Failure::Full { .. } => "full",
            Failure::RateLimited { .. } => "rate_limited",
            Failure::Rejected => "rejected",
            Failure::NameExists => "name_exists",
            Failure::Errored => "errored",
            Failure::Unavailable => "unavailable",
            Failure::Lost => "lost",
            Failure::Conflict => "conflict",
        }
    }
}

/// What the provider says exists under this pool's label. Never trusted alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventory {
    /// Whether every page was read. An incomplete list proves no absence.
    pub complete: bool,
    /// What was listed, in any order.
    pub items: Vec<InventoryItem>,
}

/// One listed sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InventoryItem {
    /// The provider's own id.
    pub provider: ProviderId,
    /// The name, as far as it has this pool's form.
    pub name: Option<SandboxName>,
    /// Its class, where labels or size tell; the default class otherwise.
    pub class: ClassId,
    /// Its state there.
    pub state: FoundState,
}
