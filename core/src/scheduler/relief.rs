//! What happens when capacity is full: for a blocked claim that cannot be admitted, something is
//! taken, in this order: warm sandboxes that cannot serve it, unused holdings of speculative
//! claims, idle sandboxes. Only a set that makes the claim admissible is taken, and no more than
//! is needed, counting what is already on its way back.

use super::Scheduler;
use super::admission::Room;
use super::queue::Tier;
use super::state::ClaimState;
use crate::event::{Actor, EventKind, Reason};
use crate::id::{AccountId, ClaimId, ClassId, SandboxId};
use crate::lifecycle::SandboxState;
use crate::resources::Resources;
use crate::time::Span;
use std::collections::BTreeSet;

/// How many waiting claims one pass plans for. Those behind are planned for as the line moves.
const HORIZON: usize = 256;

/// Something that can be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Victim {
    /// A warm sandbox.
    Warm(SandboxId),
    /// A start that no claim counts on.
    SpareStart(SandboxId),
    /// A speculative claim's admission that no start under way will serve: free at once.
    Unstarted(ClaimId),
    /// A speculative claim's admission; its sandbox or start is destroyed.
    Speculative(ClaimId),
    /// The same, but its sandbox or start serves the blocked claim.
    HandedOver(ClaimId),
    /// An idle sandbox.
    Idle(SandboxId),
    /// The sandbox of another class that the claim's own conversation would give up anyway.
    Own(SandboxId),
}

/// What a pass has planned so far, ahead of what really happens.
struct Plan {
    /// Free, or on its way back, and not promised to an earlier waiter.
    free: Resources,
    /// That part of it that is still on its way back: of no use to who cannot wait.
    later: Resources,
    /// Sandboxes of each class that nobody counts on, less those promised.
    surplus: Vec<i64>,
    /// Sandboxes and memory promised to accounts.
    promised: Vec<(AccountId, i64, i64)>,
    /// What the promises take of free capacity.
    pledged: Resources,
    /// Whether one of them was made to a borrower, who must find the reserve beside it.
    pledges_reserve: bool,
    /// What is to be taken, in order, and the same to look things up in.
    taken: Vec<Victim>,
    taken_set: BTreeSet<Victim>,
    /// Borrowers for whom nothing was found: no later one of the same account and class finds
    /// anything either, because promises and victims only grow during the pass.
    hopeless_borrowers: BTreeSet<(AccountId, ClassId)>,
}

/// What a claim could count on if some victims were taken: sums, so that each of them is added or
/// left out in constant time.
#[derive(Clone, Copy, Debug)]
struct Reached {
    free: Resources,
    /// Of the claim's class.
    surplus: i64,
    /// What the claim's account would hold more.
    more: i64,
    more_memory_mb: i64,
}

impl Reached {
    fn add(&mut self, effect: Reached) {
        self.free = self.free.plus(effect.free);
        self.surplus += effect.surplus;
        self.more += effect.more;
        self.more_memory_mb += effect.more_memory_mb;
    }

    fn subtract(&mut self, effect: Reached) {
        self.free = self.free.minus(effect.free);
        self.surplus -= effect.surplus;
        self.more -= effect.more;
        self.more_memory_mb -= effect.more_memory_mb;
    }
}

impl Plan {
    fn is_fresh(&self, victim: Victim) -> bool {
        !self.taken_set.contains(&victim)
    }

    fn take(&mut self, victim: Victim) {
        self.taken.push(victim);
        self.taken_set.insert(victim);
    }

    /// What a claim may count on that can wait, or cannot.
    fn free_for(&self, at_once: bool) -> Resources {
        if at_once { self.free.minus(self.later) } else { self.free }
    }

    fn promised_to(&self, account: AccountId) -> (i64, i64) {
        self.promised
            .iter()
            .find(|(other, _, _)| *other == account)
            .map_or((0, 0), |&(_, count, memory)| (count, memory))
    }

    fn promise(&mut self, account: AccountId, class: ClassId, resources: Resources) {
        match self.promised.iter_mut().find(|(other, _, _)| *other == account) {
            Some(entry) => {
                entry.1 += 1;
                entry.2 += resources.memory_mb;
            }
            None => self.promised.push((account, 1, resources.memory_mb)),
        }
        let surplus = &mut self.surplus[class.0 as usize];
        if *surplus > 0 {
            *surplus -= 1;
        } else {
            self.free = self.free.minus(resources);
            self.pledged = self.pledged.plus(resources);
        }
    }
}

impl Scheduler {
    /// Takes what blocked claims need and may have. Gives whether anything was taken, so that
    /// admission is worth another look.
    pub(super) fn relieve(&mut self) -> bool {
        self.ledger.pledged = Resources::ZERO;
        for class in &mut self.classes {
            class.pledged_surplus = 0;
        }
        let waiting = self.queue.blocked() + self.swaps.len();
        if waiting == 0 {
            return false;
        }
        self.unprotect_idle();
        let speculative_waits = self.queue.len() > self.queue.blocked();
        let warm_wanted = self.class_ids().any(|class| self.warm_target(class) > 0);
        if !self.can_anything_be_taken() && !speculative_waits && !warm_wanted {
            return false;
        }
        let mut plan = Plan {
            free: self.ledger.free().plus(self.ledger.incoming),
            later: self.ledger.incoming,
            surplus: self.classes.iter().map(super::state::ClassState::surplus).collect(),
            promised: Vec::new(),
            pledged: Resources::ZERO,
            pledges_reserve: false,
            taken: Vec::new(),
            taken_set: BTreeSet::new(),
            hopeless_borrowers: BTreeSet::new(),
        };
        let supply = plan.surplus.clone();
        // Claims within their share stand and fall together, class by class.
        let mut hopeless = vec![false; self.classes.len()];
        let mut order = self.swaps.clone();
        order.extend(self.queue.in_order(&self.claims, HORIZON));
        for id in order {
            self.plan_for(id, &mut plan, &mut hopeless);
        }
        self.ledger.pledged = plan.pledged;
        if plan.pledges_reserve {
            self.ledger.pledged = self.ledger.pledged.plus(self.reserve());
        }
        for (class, (before, after)) in supply.into_iter().zip(&plan.surplus).enumerate() {
            self.classes[class].pledged_surplus = (before - after).max(0);
        }
        // Whatever was taken changes who holds what, and with it under which rule others wait: all
        // are looked at again.
        let anything = !plan.taken.is_empty();
        for victim in plan.taken {
            self.take(victim);
        }
        anything
    }

    fn can_anything_be_taken(&self) -> bool {
        !self.revocable.is_empty()
            || self.idling.has_reclaimable()
            || !self.swaps.is_empty()
            || self.classes.iter().any(|class| class.surplus() > 0)
    }

    fn plan_for(&self, id: ClaimId, plan: &mut Plan, hopeless: &mut [bool]) {
        let claim = &self.claims[id];
        let (account, class, exempt) = (claim.account, claim.class, self.is_exempt(id));
        let (more, more_memory) = plan.promised_to(account);
        let tier = self.tier_of_claim(id, more, more_memory);
        let index = class.0 as usize;
        if tier == Tier::Within && claim.swap.is_none() && hopeless[index] {
            return;
        }
        if tier == Tier::Borrowing
            && claim.swap.is_none()
            && plan.hopeless_borrowers.contains(&(account, class))
        {
            return;
        }
        if self.is_held_for_older(claim.order, tier) {
            return;
        }
        let resources = self.class(class).resources;
        let at_once = claim.cannot_wait.is_some();
        let room = Room { free: plan.free_for(at_once), surplus: plan.surplus[index] };
        let needs_reserve = tier == Tier::Borrowing && !exempt;
        if self.is_admissible(class, tier, exempt, &room) {
            plan.pledges_reserve |= needs_reserve;
            return plan.promise(account, class, resources);
        }
        match self.victims_for(id, tier, exempt, plan) {
            Some(victims) => {
                for victim in victims {
                    let effect = self.effect_of(victim, account, class);
                    plan.free = plan.free.plus(effect.free);
                    if !self.is_free_at_once(victim) {
                        plan.later = plan.later.plus(effect.free);
                    }
                    match victim {
                        Victim::Warm(_) | Victim::SpareStart(_) => {
                            plan.surplus[self.class_of(victim).0 as usize] -= 1;
                        }
                        Victim::HandedOver(_) => plan.surplus[index] += 1,
                        _ => {}
                    }
                    plan.take(victim);
                }
                plan.pledges_reserve |= needs_reserve;
                plan.promise(account, class, resources);
            }
            None if claim.swap.is_some() => {}
            None if tier == Tier::Within => hopeless[index] = true,
            None if !at_once => {
                plan.hopeless_borrowers.insert((account, class));
            }
            None => {}
        }
    }

    /// The smallest prefix of the candidates, without those that turn out not to be needed, that
    /// makes the claim admissible.
    fn victims_for(
        &self,
        id: ClaimId,
        tier: Tier,
        exempt: bool,
        plan: &Plan,
    ) -> Option<Vec<Victim>> {
        let claim = &self.claims[id];
        let at_once = claim.cannot_wait.is_some();
        let mut reached = self.reached_by(id, plan);
        if tier == Tier::Borrowing && !self.can_borrowing_be_relieved(id, exempt, &reached) {
            return None;
        }
        let mut chosen: Vec<Victim> = Vec::new();
        let mut enough = false;
        let mut consider = |victim: Victim| -> bool {
            chosen.push(victim);
            reached.add(self.effect_of(victim, claim.account, claim.class));
            enough = self.is_enough(id, exempt, &reached);
            enough
        };
        // The claim's own old sandbox comes first: nobody else loses anything.
        if claim.swap.is_some()
            && let Some(own) = self.conversation_ref(claim.conversation).and_then(|c| c.sandbox)
            && self.sandboxes[own].state == SandboxState::Idle
            && plan.is_fresh(Victim::Own(own))
            && consider(Victim::Own(own))
        {
            return Some(chosen);
        }
        self.candidates(id, tier, plan, at_once, &mut consider);
        if !enough {
            return None;
        }
        // The last one was needed, or the search would have ended before it. An earlier one may
        // not be: three small sandboxes, then a large one that is enough by itself.
        let mut needed = vec![true; chosen.len()];
        for index in (0..chosen.len().saturating_sub(1)).rev() {
            // A handover changes what the others mean.
            if matches!(chosen[index], Victim::HandedOver(_)) {
                continue;
            }
            let effect = self.effect_of(chosen[index], claim.account, claim.class);
            reached.subtract(effect);
            needed[index] = !self.is_enough(id, exempt, &reached);
            if needed[index] {
                reached.add(effect);
            }
        }
        let mut needed = needed.into_iter();
        chosen.retain(|_| needed.next() == Some(true));
        Some(chosen)
    }

    /// Whether everything together that may be taken for a borrower's claim would do: where the
    /// reserve cannot be reached at all, nobody needs to be looked at one by one.
    fn can_borrowing_be_relieved(&self, id: ClaimId, exempt: bool, reached: &Reached) -> bool {
        let claim = &self.claims[id];
        let account = self.account(claim.account);
        if claim.swap.is_some() || !account.idle.is_empty() || !account.revocable.is_empty() {
            return true; // What its own account loses changes its rule.
        }
        let mut most = *reached;
        most.free = most.free.plus(self.revocable_resources);
        for class in &self.classes {
            most.free = most.free.plus(class.resources.times(class.surplus().max(0)));
        }
        most.surplus += 1; // A handover.
        self.is_enough(id, exempt, &most)
    }

    /// Where the claim stands before anything is taken for it.
    fn reached_by(&self, id: ClaimId, plan: &Plan) -> Reached {
        let claim = &self.claims[id];
        let (more, more_memory_mb) = plan.promised_to(claim.account);
        Reached {
            free: plan.free_for(claim.cannot_wait.is_some()),
            surplus: plan.surplus[claim.class.0 as usize],
            more,
            more_memory_mb,
        }
    }

    /// Whether the claim is admissible with that.
    fn is_enough(&self, id: ClaimId, exempt: bool, reached: &Reached) -> bool {
        let tier = self.tier_of_claim(id, reached.more, reached.more_memory_mb);
        let room = Room { free: reached.free, surplus: reached.surplus };
        self.is_admissible(self.claims[id].class, tier, exempt, &room)
    }

    /// What taking a victim adds to what a claim of the account and class can reach, now or soon.
    /// What is taken from its own account also lowers what the account holds.
    fn effect_of(&self, victim: Victim, account: AccountId, class: ClassId) -> Reached {
        let of = self.class_of(victim);
        let resources = self.class(of).resources;
        let own = self.holder(victim) == Some(account);
        Reached {
            free: match victim {
                Victim::HandedOver(_) => Resources::ZERO,
                _ => resources,
            },
            surplus: match victim {
                Victim::HandedOver(_) => 1,
                Victim::Warm(_) | Victim::SpareStart(_) => -i64::from(of == class),
                _ => 0,
            },
            more: -i64::from(own),
            more_memory_mb: if own { -resources.memory_mb } else { 0 },
        }
    }

    fn class_of(&self, victim: Victim) -> ClassId {
        match victim {
            Victim::Warm(id) | Victim::SpareStart(id) | Victim::Idle(id) | Victim::Own(id) => {
                self.sandboxes[id].class
            }
            Victim::Unstarted(id) | Victim::Speculative(id) | Victim::HandedOver(id) => {
                self.claims[id].class
            }
        }
    }

    /// Whose holding a victim is. A swap's own old sandbox is left out already where the swap is
    /// judged.
    fn holder(&self, victim: Victim) -> Option<AccountId> {
        match victim {
            Victim::Warm(_) | Victim::SpareStart(_) | Victim::Own(_) => None,
            Victim::Unstarted(id) | Victim::Speculative(id) | Victim::HandedOver(id) => {
                Some(self.claims[id].account)
            }
            Victim::Idle(id) => {
                let conversation = self.conversation_ref(self.sandboxes[id].conversation?)?;
                Some(conversation.account)
            }
        }
    }

    /// Offers what may be taken for the claim, best first, until `consider` says that it is enough.
    fn candidates(
        &self,
        id: ClaimId,
        tier: Tier,
        plan: &Plan,
        at_once: bool,
        consider: &mut impl FnMut(Victim) -> bool,
    ) {
        let claim = &self.claims[id];
        let fresh = |victim: Victim| plan.is_fresh(victim);
        // 1. Warm sandboxes that cannot serve it: of other classes, or, where the reserve is what
        //    is missing, of its own class beyond the one that it would take.
        if !at_once {
            for class in self.class_ids() {
                let keep = i64::from(class == claim.class);
                let mut left = plan.surplus[class.0 as usize] - keep;
                let entry = self.class(class);
                let warm = entry.warm.iter().map(|&id| Victim::Warm(id));
                let starts = entry.spare_starts.iter().map(|&id| Victim::SpareStart(id));
                for victim in warm.chain(starts).filter(|&victim| fresh(victim)) {
                    if left <= 0 {
                        break;
                    }
                    left -= 1;
                    if consider(victim) {
                        return;
                    }
                }
            }
        }
        // 2. Unused holdings of speculative claims: borrowers' first, the latest first. The first
        //    one of the same class is handed over, unless there is supply of that class already.
        let mut handover = plan.surplus[claim.class.0 as usize] <= 0;
        for &(_, _, other) in self.revocable.iter() {
            let ways =
                [Victim::Unstarted(other), Victim::Speculative(other), Victim::HandedOver(other)];
            if !ways.into_iter().all(fresh) {
                continue;
            }
            let holder = &self.claims[other];
            let has_supply = holder.state == ClaimState::Bound || holder.start.is_some();
            let victim = if !has_supply {
                Victim::Unstarted(other)
            } else if handover && holder.class == claim.class {
                handover = false;
                Victim::HandedOver(other)
            } else if at_once {
                // Destroying takes time, and this claim has none.
                continue;
            } else {
                Victim::Speculative(other)
            };
            if consider(victim) {
                return;
            }
        }
        if at_once {
            return;
        }
        // 3. Idle sandboxes; a borrower's claim may have only its own account's.
        match tier {
            Tier::Within => {
                for sandbox in self.idling.reclaimable() {
                    if fresh(Victim::Idle(sandbox)) && consider(Victim::Idle(sandbox)) {
                        return;
                    }
                }
            }
            Tier::Borrowing => {
                for &(_, sandbox) in self.account(claim.account).idle.iter() {
                    if self.sandboxes[sandbox].reclaim_key.is_some()
                        && fresh(Victim::Idle(sandbox))
                        && consider(Victim::Idle(sandbox))
                    {
                        return;
                    }
                }
            }
        }
    }

    /// Whether taking it frees its capacity in the same step.
    fn is_free_at_once(&self, victim: Victim) -> bool {
        match victim {
            Victim::HandedOver(_) | Victim::Unstarted(_) => true,
            Victim::Speculative(_)
            | Victim::Warm(_)
            | Victim::SpareStart(_)
            | Victim::Idle(_)
            | Victim::Own(_) => false,
        }
    }

    fn take(&mut self, victim: Victim) {
        match victim {
            Victim::Warm(id) => self.destroy(id, Reason::Evicted, Actor::Scheduler),
            Victim::SpareStart(id) => self.doom(id),
            Victim::Own(id) => self.destroy(id, Reason::Swapped, Actor::Scheduler),
            // What an unstarted claim got since the plan was made is not counted in it: that serves
            // somebody too.
            Victim::HandedOver(id) | Victim::Unstarted(id) => {
                if let Some(sandbox) = self.take_admission_back(id, Reason::Revoked) {
                    self.is_free(sandbox);
                }
            }
            Victim::Speculative(id) => {
                let start = self.claims[id].start;
                match self.take_admission_back(id, Reason::Revoked) {
                    Some(sandbox) => self.destroy(sandbox, Reason::Revoked, Actor::Scheduler),
                    // Unless its start passed to an unstarted claim, which frees as much.
                    None => {
                        if let Some(start) = start
                            && self.sandboxes[start].cause.is_none()
                        {
                            self.doom(start);
                        }
                    }
                }
            }
            Victim::Idle(id) => {
                self.tell_sandbox(
                    EventKind::SandboxReclaimed,
                    Reason::Reclaimed,
                    Actor::Scheduler,
                    id,
                    None,
                    Span::ZERO,
                );
                self.destroy(id, Reason::Reclaimed, Actor::Scheduler);
            }
        }
    }
}
