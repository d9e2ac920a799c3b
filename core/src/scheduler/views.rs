//! What can be seen from outside without changing anything.

use super::Scheduler;
use super::state::ClaimState;
use crate::event::Reason;
use crate::id::{AccountId, ClaimId, ClassId, ConversationId, ProviderId, SandboxId, TurnId};
use crate::lifecycle::SandboxState;
use crate::provider::SandboxName;
use crate::resources::Resources;
use crate::time::{Span, Time};

/// The provider ledger at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// The limit in force.
    pub limit: Resources,
    /// Whether it is lower than the configured one, because the provider said full.
    pub is_lowered: bool,
    /// Held by sandboxes that may exist.
    pub used: Resources,
    /// Promised to admitted claims that no warm or starting sandbox will serve.
    pub unstarted: Resources,
    /// Limit without the two: what an admission may count on. Negative after discoveries.
    pub free: Resources,
    /// That part of `used` that is on its way back.
    pub incoming: Resources,
    /// Blocked claims that wait.
    pub blocked: usize,
    /// Speculative claims that wait.
    pub speculative: usize,
    /// Sandboxes that may exist.
    pub sandboxes: usize,
    /// Start permits in use.
    pub starting: i64,
    /// Accounts that hold more than their share.
    pub borrowers: usize,
    /// Idle sandboxes outside a turn, and those of them that may be reclaimed now.
    pub idle: (usize, usize),
    /// Open conversations.
    pub conversations: usize,
}

/// One class at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassView {
    /// Ready and bound to nobody.
    pub warm: usize,
    /// How many are wanted.
    pub warm_target: i64,
    /// Starting for nobody in particular.
    pub spare_starts: usize,
    /// Admitted claims without a sandbox.
    pub admitted: usize,
    /// Those of them that no start under way will serve.
    pub unstarted: usize,
    /// Failed starts in a row.
    pub failures: u32,
    /// No start before this instant.
    pub not_before: Time,
    /// Whether the circuit breaker is open.
    pub is_breaker_open: bool,
    /// How long a start takes of late.
    pub start_average: Span,
}

/// One account at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountView {
    /// Admitted claims and leases.
    pub held: i64,
    /// Their memory, MB.
    pub held_memory_mb: i64,
    /// Whether that is more than its share.
    pub is_borrowing: bool,
    /// Waiting claims.
    pub waiting: u32,
}

/// One conversation at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConversationView {
    /// Whose it is.
    pub account: AccountId,
    /// The open turn.
    pub turn: Option<TurnId>,
    /// Its claim, and whether that is blocked.
    pub claim: Option<(ClaimId, bool)>,
    /// Its sandbox.
    pub sandbox: Option<SandboxId>,
    /// How it lost a used sandbox, if it was not told yet: it is with its next execute.
    pub files_lost: Option<Reason>,
}

/// One sandbox at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SandboxView {
    /// Its id.
    pub id: SandboxId,
    /// Its name at the provider.
    pub name: SandboxName,
    /// The provider's own id, once known.
    pub provider: Option<ProviderId>,
    /// Its class.
    pub class: ClassId,
    /// Where it is in its life.
    pub state: SandboxState,
    /// Whose it is.
    pub conversation: Option<ConversationId>,
    /// Whether deleting it has been reported as stuck.
    pub is_stuck: bool,
    /// Whether it was ever used.
    pub is_used: bool,
}

impl Scheduler {
    /// The provider ledger.
    #[must_use]
    pub fn capacity(&self) -> Capacity {
        Capacity {
            limit: self.ledger.limit(),
            is_lowered: self.ledger.is_lowered(),
            used: self.ledger.used,
            unstarted: self.ledger.unstarted,
            free: self.ledger.free(),
            incoming: self.ledger.incoming,
            blocked: self.queue.blocked() + self.swaps.len(),
            speculative: self.queue.len() - self.queue.blocked(),
            sandboxes: self.sandboxes.len(),
            starting: self.starting,
            borrowers: self.borrowers,
            idle: (self.idle_sandboxes(), self.reclaimable_sandboxes()),
            conversations: self.open_conversations,
        }
    }

    /// One class; `None` if there is no such class.
    #[must_use]
    pub fn class_view(&self, class: ClassId) -> Option<ClassView> {
        let entry = self.classes.get(class.0 as usize)?;
        Some(ClassView {
            warm: entry.warm.len(),
            warm_target: self.warm_target(class),
            spare_starts: entry.spare_starts.len(),
            admitted: entry.admitted.len(),
            unstarted: entry.unstarted.len(),
            failures: entry.failures,
            not_before: entry.not_before,
            is_breaker_open: entry.breaker_trips > 0,
            start_average: entry.start_average,
        })
    }

    /// One account; `None` if it never had a conversation.
    #[must_use]
    pub fn account_view(&self, account: AccountId) -> Option<AccountView> {
        let entry = self.accounts.get(account.0 as usize)?;
        Some(AccountView {
            held: entry.held,
            held_memory_mb: entry.held_memory_mb,
            is_borrowing: entry.borrowing,
            waiting: entry.waiting,
        })
    }

    /// One conversation; `None` if it is not open.
    #[must_use]
    pub fn conversation(&self, id: ConversationId) -> Option<ConversationView> {
        let conversation = self.conversation_ref(id)?;
        Some(ConversationView {
            account: conversation.account,
            turn: conversation.turn.map(|turn| turn.id),
            claim: conversation.claim.map(|claim| (claim, self.claims[claim].blocked)),
            sandbox: conversation.sandbox,
            files_lost: conversation.lost,
        })
    }

    /// One sandbox; `None` once it is confirmed gone.
    #[must_use]
    pub fn sandbox(&self, id: SandboxId) -> Option<SandboxView> {
        let sandbox = self.sandboxes.get(id)?;
        Some(SandboxView {
            id,
            name: sandbox.name,
            provider: sandbox.provider,
            class: sandbox.class,
            state: sandbox.state,
            conversation: sandbox.conversation,
            is_stuck: sandbox.stuck,
            is_used: sandbox.used,
        })
    }

    /// Every sandbox that may exist.
    pub fn sandboxes(&self) -> impl Iterator<Item = SandboxView> + '_ {
        self.sandboxes.iter().filter_map(|(id, _)| self.sandbox(id))
    }

    /// How much is remembered that grows with what is under way: timers (stale ones included),
    /// provider calls, claims. For memory checks.
    #[must_use]
    pub fn pending(&self) -> (usize, usize, usize) {
        (self.timers.len(), self.operations.len(), self.claims.len())
    }

    /// Whether a claim holds capacity already.
    #[must_use]
    pub fn is_admitted(&self, claim: ClaimId) -> bool {
        self.claims.get(claim).is_some_and(|claim| claim.state != ClaimState::Waiting)
    }
}
