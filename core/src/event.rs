//! The event vocabulary, declared once. Metrics, costs, reports and `explain` are folds over it.

use crate::id::{AccountId, ClaimId, ClassId, ConversationId, ExecuteId, SandboxId, TurnId};
use crate::input::Used;
use crate::lifecycle::SandboxState;
use crate::time::{Span, Time};
use serde::{Deserialize, Serialize};

/// Version of the vocabulary: raised when a kind, a reason or a field changes its meaning.
pub const EVENT_VERSION: u32 = 1;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// Every word.
            pub const ALL: &[$name] = &[$($name::$variant),+];

            /// The word in journals and tables.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }
    };
}

words! {
    /// What happened.
    EventKind {
        /// A conversation was opened.
        ConversationOpened = "conversation_opened",
        /// A conversation was closed.
        ConversationClosed = "conversation_closed",
        /// A turn began.
        TurnBegan = "turn_began",
        /// A turn ended; the reason tells by whom.
        TurnEnded = "turn_ended",
        /// A claim was made.
        SandboxRequested = "sandbox_requested",
        /// An execute waits for the claim from now on.
        ClaimBlocked = "claim_blocked",
        /// The claim may take capacity. `span`: how long it had waited since it was made.
        ClaimAdmitted = "claim_admitted",
        /// The claim lost its admission to a blocked one, or the provider was full; it waits again.
        ClaimRevoked = "claim_revoked",
        /// The claim ended without need of an answer.
        ClaimWithdrawn = "claim_withdrawn",
        /// A blocked claim, and the execute behind it, was refused. `span`: how long it was blocked.
        SandboxUnavailable = "sandbox_unavailable",
        /// A start began; the claim, if any, is the one that caused it.
        SandboxStarting = "sandbox_starting",
        /// Created at the provider. `span`: since the start began.
        SandboxCreated = "sandbox_created",
        /// Ready, bound to nobody. `span`: since the start began.
        SandboxReady = "sandbox_ready",
        /// Bound to a conversation. `span`: since the claim was blocked (zero if it was not).
        SandboxAssigned = "sandbox_assigned",
        /// Given back unused, warm again.
        SandboxReleased = "sandbox_released",
        /// An execute may go ahead. `span`: how long it had waited (the exposed wait).
        SandboxBusy = "sandbox_busy",
        /// An execute ended. `span`: how long it ran; `used`: what it used.
        ExecuteEnded = "execute_ended",
        /// The sandbox has no command running.
        SandboxIdle = "sandbox_idle",
        /// An idle sandbox was taken from its conversation for another claim.
        SandboxReclaimed = "sandbox_reclaimed",
        /// A sandbox turned out dead; its conversation, if any, lost it.
        SandboxDied = "sandbox_died",
        /// A conversation has a new sandbox after it lost a used one; the reason tells how.
        SandboxReplaced = "sandbox_replaced",
        /// A create's answer is missing: the sandbox may exist.
        SandboxLimbo = "sandbox_limbo",
        /// A start is not wanted any more; the sandbox goes as soon as it can.
        SandboxDoomed = "sandbox_doomed",
        /// A start failed; the reason tells how. `span`: since the start began.
        SandboxFailed = "sandbox_failed",
        /// Deleting has begun; the reason tells why.
        SandboxDestroying = "sandbox_destroying",
        /// Deleting has been tried in vain for long; it is tried on.
        SandboxStuck = "sandbox_stuck",
        /// Confirmed gone; its capacity is back. `span`: since deleting began.
        SandboxDeleted = "sandbox_deleted",
        /// An earlier instance's or a lost sandbox was taken over.
        SandboxAdopted = "sandbox_adopted",
        /// A sandbox labelled ours that nobody owns was seen.
        OrphanFound = "orphan_found",
        /// An orphan is confirmed gone.
        OrphanRemoved = "orphan_removed",
        /// Our ledger and the provider disagree.
        DriftDetected = "drift_detected",
        /// The effective limit was lowered because the provider said full.
        LimitLowered = "limit_lowered",
        /// The effective limit is the configured one again.
        LimitRestored = "limit_restored",
        /// A class's circuit breaker opened. `span`: for how long.
        BreakerOpened = "breaker_opened",
        /// A class's circuit breaker closed.
        BreakerClosed = "breaker_closed",
        /// The provider's inventory was compared with the ledger.
        Reconciled = "reconciled",
        /// New settings are in force.
        Reconfigured = "reconfigured",
        /// Recovery after a restart is complete.
        RecoveryEnded = "recovery_ended",
        /// A shutdown began.
        DrainBegan = "drain_began",
        /// The shutdown is complete.
        Drained = "drained",
        /// A reply came for an operation that nobody waits for any more.
        LateReply = "late_reply",
        /// A state change that the life-cycle table does not have: a bug, reported and survived.
        IllegalTransition = "illegal_transition",
    }
}

words! {
    /// Why it happened.
    Reason {
        /// Nothing to add.
        None = "none",
        /// The caller asked for it.
        Requested = "requested",
        /// The turn ended.
        TurnEnded = "turn_ended",
        /// The turn was without activity for too long.
        TurnTimeout = "turn_timeout",
        /// The conversation was closed.
        ConversationClosed = "conversation_closed",
        /// The caller cancelled.
        Cancelled = "cancelled",
        /// All sandboxes are in use and patience ended.
        Full = "full",
        /// It could not be started in time or in the attempts allowed.
        CouldNotStart = "could_not_start",
        /// It can never fit the limits.
        NeverFits = "never_fits",
        /// Too many claims wait.
        QueueTooLong = "queue_too_long",
        /// The server is shutting down.
        ShuttingDown = "shutting_down",
        /// A speculative claim asked ahead of need.
        Speculative = "speculative",
        /// An execute needs it now.
        Blocked = "blocked",
        /// For the warm pool.
        Warm = "warm",
        /// Served by a sandbox that was ready.
        WarmHit = "warm_hit",
        /// Served by a sandbox that had to be started.
        ColdStart = "cold_start",
        /// Idle for too long.
        IdleTimeout = "idle_timeout",
        /// Taken for a blocked claim.
        Reclaimed = "reclaimed",
        /// Evicted from the warm pool for a blocked claim.
        Evicted = "evicted",
        /// Taken from a speculative claim for a blocked one.
        Revoked = "revoked",
        /// More warm sandboxes than the target for too long.
        WarmSurplus = "warm_surplus",
        /// Warm for too long.
        WarmAge = "warm_age",
        /// The turn wants another class.
        Swapped = "swapped",
        /// It died.
        Died = "died",
        /// A start took too long.
        StartTimeout = "start_timeout",
        /// The provider said: full.
        ProviderFull = "provider_full",
        /// The provider said: too many requests.
        RateLimited = "rate_limited",
        /// The provider refused the request for good.
        Rejected = "rejected",
        /// The name was taken.
        NameExists = "name_exists",
        /// The provider tried and failed.
        Errored = "errored",
        /// The provider could not be reached.
        Unavailable = "unavailable",
        /// An answer was lost.
        AnswerLost = "answer_lost",
        /// Preparing failed.
        PrepareFailed = "prepare_failed",
        /// Looked for and not there, long enough after the create.
        Absent = "absent",
        /// Left by an earlier instance.
        Recovery = "recovery",
        /// Labelled ours, owned by nobody.
        Orphan = "orphan",
        /// The provider lists what the ledger does not have.
        UnknownAtProvider = "unknown_at_provider",
        /// The ledger has what the provider does not list.
        MissingAtProvider = "missing_at_provider",
        /// The execute completed.
        Completed = "completed",
        /// The execute was stopped at its time limit.
        TimedOut = "timed_out",
        /// The sandbox could not be reached; it may live.
        Unreachable = "unreachable",
        /// The sandbox lives after all.
        Alive = "alive",
    }
}

words! {
    /// Who did it.
    Actor {
        /// The caller.
        Caller = "caller",
        /// The scheduler, by a rule.
        Scheduler = "scheduler",
        /// A deadline.
        Timer = "timer",
        /// The provider.
        Provider = "provider",
        /// The operator.
        Operator = "operator",
    }
}

/// One thing that happened. A flat record, so that a fold needs no knowledge of the kind to keep
/// times by state, by conversation or by account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Counts up from 1 without a gap.
    pub sequence: u64,
    /// When.
    pub at: Time,
    /// What.
    pub kind: EventKind,
    /// Why.
    pub reason: Reason,
    /// By whom.
    pub actor: Actor,
    /// The sandbox's state after the event; meaningful when `sandbox` is set.
    pub state: SandboxState,
    /// The class; meaningful when `claim` or `sandbox` is set.
    pub class: ClassId,
    /// The account, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub account: Option<AccountId>,
    /// The conversation, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub conversation: Option<ConversationId>,
    /// The turn; 0 where there is none.
    pub turn: TurnId,
    /// The execute; 0 where there is none.
    pub execute: ExecuteId,
    /// The claim, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub claim: Option<ClaimId>,
    /// The sandbox, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sandbox: Option<SandboxId>,
    /// A length of time; which one is said with the kind.
    pub span: Span,
    /// What an execute used.
    pub used: Used,
}
