//! What the scheduler remembers of each account, conversation, claim, sandbox and class.

use super::small_set::SmallSet;
use crate::event::Reason;
use crate::id::{
    AccountId, ClaimId, ClassId, ConversationId, ExecuteId, OpId, ProviderId, SandboxId, TurnId,
};
use crate::lifecycle::SandboxState;
use crate::policy::warm::DemandHistory;
use crate::provider::{SandboxName, Verb};
use crate::resources::Resources;
use crate::time::{Span, Time};

/// An account's side of the ledger, and what can be taken from it.
#[derive(Clone, Debug, Default)]
pub(super) struct Account {
    /// Admitted claims and leases.
    pub held: i64,
    /// Their memory, MB.
    pub held_memory_mb: i64,
    /// Whether it holds more than its share.
    pub borrowing: bool,
    /// Waiting claims.
    pub waiting: u32,
    /// Speculative claims that hold something, by order of admission.
    pub revocable: SmallSet<(u64, ClaimId)>,
    /// Idle sandboxes outside a turn, by last use.
    pub idle: SmallSet<(Time, SandboxId)>,
}

/// A conversation that is open.
#[derive(Clone, Debug)]
pub(super) struct Conversation {
    pub id: ConversationId,
    pub account: AccountId,
    pub claim: Option<ClaimId>,
    pub sandbox: Option<SandboxId>,
    pub turn: Option<Turn>,
    pub last_turn: TurnId,
    pub last_execute: ExecuteId,
    /// How its last used sandbox was lost, until it has another.
    pub lost: Option<Reason>,
    /// Turns begun, and those of them that ran code.
    pub turns: u32,
    pub turns_with_code: u32,
    /// When its turn's timer is set for.
    pub turn_timer_at: Time,
}

/// The open turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub id: TurnId,
    pub class: ClassId,
    pub execute: Option<Execute>,
    pub last_activity: Time,
    pub ran_code: bool,
}

/// The execute under way; at most one a turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Execute {
    pub id: ExecuteId,
    pub state: ExecuteState,
    /// When it was asked for.
    pub asked_at: Time,
    /// When it was let go.
    pub began_at: Time,
    /// How long it waits for capacity, by the settings in force as it was asked for.
    pub patience: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExecuteState {
    /// Behind a blocked claim.
    Waiting,
    /// Behind a probe of the conversation's own sandbox.
    AwaitingProbe,
    /// Let go.
    Running,
    /// It lost its connection; a probe will tell.
    Unresolved,
}

/// One conversation's request for a sandbox.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub conversation: ConversationId,
    pub account: AccountId,
    pub class: ClassId,
    pub state: ClaimState,
    /// Whether an execute waits for it.
    pub blocked: bool,
    /// A swap: the memory, MB, of the sandbox of another class that the conversation holds or gave
    /// up for it.
    pub swap: Option<i64>,
    /// Refuse with this reason unless it is served in the step in which it blocks.
    pub cannot_wait: Option<Reason>,
    pub requested_at: Time,
    pub blocked_at: Time,
    /// When patience ends; [`Time::MAX`] for never or not blocked.
    pub patience_at: Time,
    /// Place in the order of arrival (of its level: speculative or blocked).
    pub order: u64,
    /// Place in the order of admission; 0 before.
    pub admission: u64,
    /// When an admitted claim gives up on its start.
    pub start_deadline: Time,
    /// Failed starts on its behalf.
    pub attempts: i64,
    /// Times that younger claims were admitted before it.
    pub overtakes: i64,
    /// The start that it counts on.
    pub start: Option<SandboxId>,
    /// A start on its behalf whose existence is unknown.
    pub limbo: Option<SandboxId>,
    /// Neighbours in its waiting line.
    pub previous: Option<ClaimId>,
    pub next: Option<ClaimId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClaimState {
    /// In the queue.
    Waiting,
    /// May take capacity; has no sandbox yet.
    Admitted,
    /// Holds an unused sandbox (speculative only: a blocked claim ends when it is served).
    Bound,
}

/// A sandbox that may exist.
#[derive(Clone, Debug)]
pub(super) struct Sandbox {
    pub name: SandboxName,
    pub provider: Option<ProviderId>,
    pub class: ClassId,
    pub state: SandboxState,
    pub conversation: Option<ConversationId>,
    /// The claim that counts on this start.
    pub cause: Option<ClaimId>,
    /// Whether anything was written or run in it.
    pub used: bool,
    /// Whether it is to be destroyed as soon as that is possible.
    pub doomed: bool,
    /// Whether nobody of this instance ever owned it.
    pub orphan: bool,
    /// Whether deleting it has been reported as stuck.
    pub stuck: bool,
    /// Whether a command of an earlier instance may still run in it.
    pub unresolved: bool,
    /// Executes it ran.
    pub executes: u32,
    /// When its start began.
    pub started_at: Time,
    /// When the start has taken too long.
    pub start_deadline: Time,
    /// When it became ready.
    pub ready_at: Time,
    /// When it was last used: the end of the last turn that ran something in it.
    pub last_use: Time,
    /// Since when it idles outside a turn (its last use); [`Time::MAX`] when it is not.
    pub idle_since: Time,
    /// Whether it is in the set of reclaimable ones, and under which key.
    pub reclaim_key: Option<(u64, u64)>,
    /// When limbo or destroying began.
    pub since: Time,
    /// Tries of the operation under way (destroy, find, probe).
    pub tries: u32,
    /// The operation under way that decides its fate.
    pub op: Option<OpId>,
    /// The keep-alive under way.
    pub keep_alive_op: Option<OpId>,
    pub keep_alive_at: Time,
    pub retry_at: Time,
    pub warm_age_at: Time,
    /// Complete inventories in a row that missed it.
    pub missed: u32,
}

/// A provider call without an answer yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingOperation {
    pub verb: Verb,
    pub sandbox: Option<SandboxId>,
    pub submitted_at: Time,
    pub deadline: Time,
}

/// Supply, demand and health of one class.
#[derive(Clone, Debug)]
pub(super) struct ClassState {
    pub resources: Resources,
    pub prepares: bool,
    /// Ready sandboxes bound to nobody, oldest first.
    pub warm: SmallSet<SandboxId>,
    /// Starts that no claim counts on.
    pub spare_starts: SmallSet<SandboxId>,
    /// Admitted claims without a sandbox, in the order in which they are served.
    pub admitted: SmallSet<Service>,
    /// Those of them that no start under way will serve, in the same order.
    pub unstarted: SmallSet<Service>,
    /// Of the sandboxes, ready or starting, that no claim counts on: how many blocked waiters will
    /// take. Nothing speculative is admitted on the strength of those.
    pub pledged_surplus: i64,
    /// Since when there are more warm ones than wanted; [`Time::MAX`] when there are not.
    pub surplus_since: Time,
    /// Failed starts in a row.
    pub failures: u32,
    /// No start before this.
    pub not_before: Time,
    /// How often the breaker has opened in a row; 0 when it is closed.
    pub breaker_trips: u32,
    /// While the breaker is open: the trial start under way.
    pub trial: Option<SandboxId>,
    /// How long a start takes of late.
    pub start_average: Span,
    /// Claims over time.
    pub history: DemandHistory,
}

/// Order of service: blocked before speculative, then by admission.
pub(super) type Service = (bool, u64, ClaimId);

impl Claim {
    pub(super) fn service(&self, id: ClaimId) -> Service {
        (!self.blocked, self.admission, id)
    }
}
