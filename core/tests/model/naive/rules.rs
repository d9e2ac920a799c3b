//! The rules of capacity, share and reserve (design 4.2 and 4.3), summed anew each time.

use super::{Claim, Naive, Standing};
use sandpool_core::{AccountId, ClassId, Resources, SandboxState};

/// What an account holds: sandboxes and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) sandboxes: i64,
    pub(crate) memory_mb: i64,
}

impl Naive {
    /// Provider ledger: the sum over sandboxes that may exist.
    pub(crate) fn used(&self) -> Resources {
        let amounts = self.sandboxes.iter().map(|sandbox| self.resources(sandbox.class));
        amounts.fold(Resources::ZERO, Resources::plus)
    }

    /// Account ledger: admitted claims and leases.
    pub(crate) fn held(&self, account: AccountId) -> Held {
        let mut held = Held { sandboxes: 0, memory_mb: 0 };
        let mut add = |class: ClassId| {
            held.sandboxes += 1;
            held.memory_mb += self.resources(class).memory_mb;
        };
        for claim in &self.claims {
            if claim.account == account && claim.standing == Standing::Admitted {
                add(claim.class);
            }
        }
        for sandbox in &self.sandboxes {
            let owner = sandbox.conversation.and_then(|id| self.conversation(id));
            if owner.is_some_and(|owner| owner.account == account) {
                add(sandbox.class);
            }
        }
        held
    }

    /// Admitted claims of the class that no warm or starting sandbox of it will serve.
    pub(crate) fn unstarted_of(&self, class: ClassId) -> i64 {
        (self.admitted(class) - self.supply(class)).max(0)
    }

    /// Warm and starting sandboxes of the class.
    pub(crate) fn supply(&self, class: ClassId) -> i64 {
        self.in_state(class, |state| state == SandboxState::Warm || state.is_starting())
    }

    /// Admitted claims of the class without a sandbox.
    pub(crate) fn admitted(&self, class: ClassId) -> i64 {
        let without = |claim: &&Claim| claim.class == class && claim.standing == Standing::Admitted;
        self.claims.iter().filter(without).count() as i64
    }

    pub(crate) fn classes(&self) -> impl Iterator<Item = ClassId> + use<> {
        (0..self.config.classes.len() as u16).map(ClassId)
    }

    /// Promised to admitted claims that no warm or starting sandbox of their class will serve.
    pub(crate) fn unstarted(&self) -> Resources {
        self.classes().fold(Resources::ZERO, |sum, class| {
            sum.plus(self.resources(class).times(self.unstarted_of(class)))
        })
    }

    /// What admission, reserve and replenishment count on.
    pub(crate) fn free(&self) -> Resources {
        self.limit.minus(self.used()).minus(self.unstarted())
    }

    /// The default-class sandboxes that a borrower must leave room for.
    pub(crate) fn reserve(&self) -> Resources {
        self.resources(ClassId(0)).times(self.config.borrow_keep_free)
    }

    /// Whether that much is within an account's normal share.
    pub(crate) fn is_within_share(&self, held: Held) -> bool {
        held.sandboxes <= 1
            || (held.sandboxes <= self.config.max_sandboxes_per_account
                && held.memory_mb <= self.config.max_memory_mb_per_account)
    }

    /// What the account would hold with the claim admitted. A swap gives back what it replaces.
    pub(crate) fn held_with(&self, claim: &Claim) -> Held {
        let mut held = self.held(claim.account);
        if let Some(old) = self.sandbox_of(claim.conversation) {
            held.sandboxes -= 1;
            held.memory_mb -= self.resources(old.class).memory_mb;
        }
        held.sandboxes += 1;
        held.memory_mb += self.resources(claim.class).memory_mb;
        held
    }

    /// Whether the claim would be a borrower's.
    pub(crate) fn would_borrow(&self, claim: &Claim) -> bool {
        let (before, after) = (self.held(claim.account), self.held_with(claim));
        let is_exempt_swap = self.sandbox_of(claim.conversation).is_some()
            && after.sandboxes <= before.sandboxes
            && after.memory_mb <= before.memory_mb;
        !is_exempt_swap && !self.is_within_share(after)
    }

    /// Whether share, reserve and capacity admit a waiting claim at this instant.
    pub(crate) fn is_admissible(&self, claim: &Claim) -> bool {
        let class = self.resources(claim.class);
        let mut free = self.free();
        if self.supply(claim.class) <= self.admitted(claim.class) {
            if !class.fits_into(&free) {
                return false;
            }
            free = free.minus(class);
        }
        !self.would_borrow(claim) || self.reserve().fits_into(&free)
    }

    /// Whether somebody holds more than the normal share.
    pub(crate) fn anyone_borrows(&self) -> bool {
        self.conversations
            .iter()
            .any(|conversation| !self.is_within_share(self.held(conversation.account)))
    }

    /// Whether capacity is held back for an older blocked claim than this one.
    pub(crate) fn is_held_back(&self, claim: &Claim) -> bool {
        self.claims.iter().any(|older| {
            older.id != claim.id
                && older.standing == Standing::Waiting
                && older.blocked_at.is_some()
                && (claim.blocked_at.is_none() || older.blocked_order < claim.blocked_order)
                && older.overtaken >= self.config.max_overtakes
        })
    }
}
