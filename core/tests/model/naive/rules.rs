//! The rules of capacity, share and reserve (design 4.2 and 4.3), summed anew each time.

use super::{Claim, Naive, Sandbox, Standing};
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

    /// Warm and starting sandboxes of the class that may serve a claim.
    pub(crate) fn supply(&self, class: ClassId) -> i64 {
        let serves = |it: &&Sandbox| {
            let starting = it.state.is_starting() && it.state != SandboxState::New;
            it.class == class && !it.doomed && (starting || it.state == SandboxState::Warm)
        };
        self.sandboxes.iter().filter(serves).count() as i64
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

    /// The class that the claim's admission replaces: a swap.
    pub(crate) fn replaces(&self, claim: &Claim) -> Option<ClassId> {
        let held = self.sandbox_of(claim.conversation).map(|sandbox| sandbox.class);
        held.or(claim.gave_up)
    }

    /// Whether the claim would be a borrower's. A swap that does not raise the account's holding is
    /// nobody's.
    pub(crate) fn would_borrow(&self, claim: &Claim) -> bool {
        let mut before = self.held(claim.account);
        let old = self.replaces(claim).map(|class| self.resources(class).memory_mb);
        if let (Some(memory_mb), None) = (old, self.sandbox_of(claim.conversation)) {
            before.sandboxes += 1;
            before.memory_mb += memory_mb;
        }
        let new = self.resources(claim.class).memory_mb;
        let after = Held {
            sandboxes: before.sandboxes + 1 - i64::from(old.is_some()),
            memory_mb: before.memory_mb + new - old.unwrap_or(0),
        };
        let raises = after.sandboxes > before.sandboxes || after.memory_mb > before.memory_mb;
        raises && !self.is_within_share(after)
    }

    /// Whether share, reserve and capacity admit a waiting claim at this instant.
    pub(crate) fn is_admissible(&self, claim: &Claim) -> bool {
        let class = self.resources(claim.class);
        let mut free = self.free();
        if self.supply(claim.class) <= self.admitted(claim.class) {
            if !class.fits_into(&free) || self.is_broken(claim.class) {
                return false;
            }
            free = free.minus(class);
        }
        !self.would_borrow(claim) || self.reserve().fits_into(&free)
    }

    /// Whether the class's breaker is open and capacity of it could not be used: its pause lasts, a
    /// trial is under way, or the claim for which the next one will be has its capacity.
    pub(crate) fn is_broken(&self, class: ClassId) -> bool {
        let Some(&(_, until)) = self.broken.iter().find(|(broken, _)| *broken == class) else {
            return false;
        };
        let is_tried = |it: &Sandbox| it.class == class && it.is_trial && it.state.is_starting();
        self.now < until || self.sandboxes.iter().any(is_tried) || self.unstarted_of(class) > 0
    }

    /// Whether somebody holds more than the normal share.
    pub(crate) fn anyone_borrows(&self) -> bool {
        self.conversations
            .iter()
            .any(|conversation| !self.is_within_share(self.held(conversation.account)))
    }

    /// Whether the older claim counts as overtaken when the younger one is admitted: it blocked
    /// before, it still waits, and no stricter rule holds for it (a borrower that waits for the
    /// reserve is not overtaken by a claim within its share). A swap overtakes nobody: it takes the
    /// place of what its own conversation gives up.
    pub(crate) fn is_overtaken_by(&self, older: &Claim, younger: &Claim) -> bool {
        older.id != younger.id
            && older.standing == Standing::Waiting
            && older.blocked_at.is_some()
            && (younger.blocked_at.is_none() || older.blocked_order < younger.blocked_order)
            && self.replaces(younger).is_none()
            && self.replaces(older).is_none()
            && (!self.would_borrow(older) || self.would_borrow(younger))
    }

    /// Whether capacity is held back for an older blocked claim than this one.
    pub(crate) fn is_held_back(&self, claim: &Claim) -> bool {
        self.claims.iter().any(|older| {
            older.overtaken >= self.config.max_overtakes && self.is_overtaken_by(older, claim)
        })
    }
}
