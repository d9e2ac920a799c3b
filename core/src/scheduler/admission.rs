//! Who may take capacity: shares, borrowing with its reserve, and no endless overtaking.
//!
//! Within its share an account may use any free capacity. Beyond it (borrowing), a claim is
//! admitted only if afterwards the reserve still fits into what is free, in every dimension.
//! Taking a surplus sandbox (warm, or starting for nobody) needs no new capacity. A class whose
//! breaker is open gets no new capacity: it would only lie there while other classes wait.

use super::Scheduler;
use super::queue::Tier;
use super::state::ClaimState;
use super::timers::Timer;
use crate::event::{Actor, EventKind, Reason};
use crate::id::{AccountId, ClaimId, ClassId};
use crate::resources::Resources;

/// What an admission is measured against: the real state, or one that a plan would reach.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Capacity that is free.
    pub free: Resources,
    /// Sandboxes of the claim's class that no admitted claim counts on.
    pub surplus: i64,
}

impl Scheduler {
    /// The rule itself. `exempt`: a swap, which does not raise the account's holding.
    pub(super) fn is_admissible(
        &self,
        class: ClassId,
        tier: Tier,
        exempt: bool,
        room: &Room,
    ) -> bool {
        let resources = self.class(class).resources;
        let mut free = room.free;
        if room.surplus <= 0 {
            if !resources.fits_into(&free) || self.is_broken(class) {
                return false;
            }
            free = free.minus(resources);
        }
        tier == Tier::Within || exempt || self.reserve().fits_into(&free)
    }

    pub(super) fn room(&self, class: ClassId) -> Room {
        Room { free: self.ledger.free(), surplus: self.class(class).surplus() }
    }

    /// Whether capacity is being held for an older waiting claim. An older one counts only if it
    /// stands under no stricter rule: a borrower's wait never holds back who is within its share.
    pub(super) fn is_held_for_older(&self, order: u64, tier: Tier) -> bool {
        if self.config.max_overtakes == 0 {
            return self.class_ids().any(|class| {
                Tier::BOTH.into_iter().filter(|&older| older <= tier).any(|older| {
                    self.queue
                        .heads(class, older, true)
                        .any(|(_, id)| self.claims[id].order < order)
                })
            });
        }
        self.queue.overtaken.iter().any(|&id| {
            let claim = &self.claims[id];
            claim.order < order && self.tier(claim.account, claim.class) <= tier
        })
    }

    /// Whether a claim is exempt from the reserve: a swap that does not raise what the account
    /// holds.
    pub(super) fn is_exempt(&self, id: ClaimId) -> bool {
        let claim = &self.claims[id];
        let memory = self.class(claim.class).resources.memory_mb;
        claim.swap.is_some_and(|given_up| memory <= given_up)
    }

    /// The share rule for one claim: a swap is judged as if its old sandbox were given back.
    pub(super) fn tier_of_claim(&self, id: ClaimId, more: i64, more_memory_mb: i64) -> Tier {
        let claim = &self.claims[id];
        let (mut more, mut memory) = (more, more_memory_mb);
        if claim.swap.is_some()
            && let Some(old) = self
                .conversation_ref(claim.conversation)
                .and_then(|conversation| conversation.sandbox)
        {
            more -= 1;
            memory -= self.class(self.sandboxes[old].class).resources.memory_mb;
        }
        self.tier_with(claim.account, claim.class, more, memory)
    }

    /// Whether anybody at all could be admitted. Nearly every look finds a pool that is full: then
    /// there is no need to look at who waits.
    fn has_room(&self) -> bool {
        let free = self.ledger.free();
        self.classes.iter().any(|class| class.surplus() > 0 || class.resources.fits_into(&free))
    }

    /// Admits every blocked claim that fits, best first.
    pub(super) fn admit_blocked(&mut self) {
        for id in self.swaps.clone() {
            let claim = &self.claims[id];
            let tier = self.tier_of_claim(id, 0, 0);
            if self.is_admissible(claim.class, tier, self.is_exempt(id), &self.room(claim.class)) {
                self.admit(id, tier);
            }
        }
        while self.queue.blocked() > 0
            && self.has_room()
            && let Some((id, tier)) = self.best_admissible(true)
        {
            self.admit(id, tier);
        }
    }

    /// Admits every speculative claim that fits into what no blocked one will take.
    pub(super) fn admit_speculative(&mut self) {
        while self.queue.len() > self.queue.blocked()
            && self.has_room()
            && let Some((id, tier)) = self.best_admissible(false)
        {
            self.admit(id, tier);
        }
    }

    /// The first waiting claim that may be admitted now. Claims of one class and tier stand and
    /// fall together, except that the older ones of them are not held back for themselves.
    fn best_admissible(&self, blocked: bool) -> Option<(ClaimId, Tier)> {
        let free = if blocked { self.ledger.free() } else { self.ledger.free_of_pledges() };
        let any_hold = self.config.max_overtakes == 0 || !self.queue.overtaken.is_empty();
        let mut best: Option<((u64, u64), ClaimId, Tier)> = None;
        for class in self.class_ids() {
            let pledged = if blocked { 0 } else { self.class(class).pledged_surplus };
            let room = Room { free, surplus: self.class(class).surplus() - pledged };
            for tier in Tier::BOTH {
                if self.queue.is_line_set_empty(class, tier, blocked)
                    || !self.is_admissible(class, tier, false, &room)
                {
                    continue;
                }
                let head = self.queue.heads(class, tier, blocked).find(|&(_, id)| {
                    let order = if blocked { self.claims[id].order } else { u64::MAX };
                    !(any_hold && self.is_held_for_older(order, tier))
                });
                if let Some((key, id)) = head
                    && best.is_none_or(|best| (key, id) < (best.0, best.1))
                {
                    best = Some((key, id, tier));
                }
            }
        }
        best.map(|(_, id, tier)| (id, tier))
    }

    /// Lets a waiting claim take capacity.
    pub(super) fn admit(&mut self, id: ClaimId, tier: Tier) {
        self.dequeue(id);
        let claim = &self.claims[id];
        let (account, class, blocked, swap) =
            (claim.account, claim.class, claim.blocked, claim.swap.is_some());
        let waited = self.now.since(claim.requested_at);
        if !swap && self.queue.blocked() > 0 {
            let order = if blocked { claim.order } else { u64::MAX };
            for older in Tier::BOTH.into_iter().filter(|&older| older <= tier) {
                let max = self.config.max_overtakes;
                self.queue.count_overtaken(&mut self.claims, older, order, max);
            }
        }
        if swap {
            self.give_up_old_sandbox(id);
        }
        let admission = self.order();
        let start_deadline = self.now.plus(self.config.start_timeout);
        let claim = &mut self.claims[id];
        claim.state = ClaimState::Admitted;
        claim.admission = admission;
        claim.start_deadline = start_deadline;
        claim.swap = None;
        claim.cannot_wait = None;
        self.hold(account, class);
        self.tell_claim(EventKind::ClaimAdmitted, Reason::None, Actor::Scheduler, id, waited);
        if !blocked {
            self.now_revocable(id);
        }
        self.look_for_supply(id);
        if self.claims.get(id).is_some_and(|claim| claim.state == ClaimState::Admitted) {
            self.timers.set(start_deadline, Timer::ClaimStart(id));
        }
    }

    /// A swap is admitted: the sandbox of the other class goes, if it has not gone before.
    fn give_up_old_sandbox(&mut self, id: ClaimId) {
        let conversation = self.claims[id].conversation;
        if let Some(old) = self.known_conversation(conversation).sandbox {
            self.destroy(old, Reason::Swapped, Actor::Scheduler);
        }
    }

    /// For invariant checks: a blocked waiter that could be admitted now, if there is one.
    pub(super) fn admissible_waiter(&self) -> Option<ClaimId> {
        self.best_admissible(true).or_else(|| self.best_admissible(false)).map(|(id, _)| id)
    }

    /// For invariant checks and views.
    pub(super) fn holding_of(&self, account: AccountId) -> (i64, i64) {
        let account = self.account(account);
        (account.held, account.held_memory_mb)
    }
}
