//! The life of a claim: requested, blocked, admitted, revoked, withdrawn, refused, served.

use super::state::{Claim, ClaimState, ExecuteState};
use super::timers::Timer;
use super::{Phase, Scheduler};
use crate::event::{Actor, EventKind, Reason};
use crate::id::{ClaimId, ConversationId, SandboxId};
use crate::lifecycle::SandboxState;
use crate::time::{Span, Time};
use std::cmp::Reverse;

impl Scheduler {
    /// Asks for a sandbox ahead of need. A claim that can never be served is not made: nobody
    /// waits for it, and the execute that comes will be told.
    pub(super) fn request_speculative(&mut self, id: ConversationId) {
        let class = self.known_conversation(id).turn.expect("a turn is open").class;
        let fits = self.class(class).resources.fits_into(&self.config.max);
        if !fits || matches!(self.phase, Phase::Draining { .. } | Phase::Drained) {
            return;
        }
        let claim = self.make_claim(id, false, None);
        self.tell_claim(
            EventKind::SandboxRequested,
            Reason::Speculative,
            Actor::Caller,
            claim,
            Span::ZERO,
        );
        self.enqueue(claim);
    }

    /// Asks for a sandbox because an execute waits for it. `swap`: the conversation holds one of
    /// another class.
    pub(super) fn request_blocked(
        &mut self,
        id: ConversationId,
        patience: Option<Span>,
        swap: bool,
    ) {
        // A speculative claim that a shutdown has not withdrawn yet is the one that blocks.
        if let Some(claim) = self.known_conversation(id).claim {
            return self.block(claim, patience);
        }
        let given_up = self.known_conversation(id).sandbox.filter(|_| swap);
        let given_up =
            given_up.map(|old| self.class(self.sandboxes[old].class).resources.memory_mb);
        let claim = self.make_claim(id, true, given_up);
        self.tell_claim(
            EventKind::SandboxRequested,
            Reason::Blocked,
            Actor::Caller,
            claim,
            Span::ZERO,
        );
        self.wait_or_refuse(claim, patience);
    }

    fn make_claim(&mut self, id: ConversationId, blocked: bool, swap: Option<i64>) -> ClaimId {
        let now = self.now;
        let order = self.order();
        let conversation = self.known_conversation(id);
        let account = conversation.account;
        let class = conversation.turn.expect("a turn is open").class;
        // One that first waited for a probe has waited since it was asked for.
        let execute = self.known_conversation(id).turn.and_then(|turn| turn.execute);
        let blocked_at = execute.filter(|_| blocked).map_or(now, |execute| execute.asked_at);
        let claim = self.claims.insert_with(|_| Claim {
            conversation: id,
            account,
            class,
            state: ClaimState::Waiting,
            blocked,
            swap,
            cannot_wait: None,
            requested_at: now,
            blocked_at,
            patience_at: Time::MAX,
            order,
            admission: 0,
            start_deadline: Time::MAX,
            attempts: 0,
            overtakes: 0,
            start: None,
            limbo: None,
            previous: None,
            next: None,
        });
        self.known_conversation(id).claim = Some(claim);
        self.class_mut(class).history.record(now);
        claim
    }

    /// An execute waits for a speculative claim from now on.
    pub(super) fn block(&mut self, id: ClaimId, patience: Option<Span>) {
        let now = self.now;
        match self.claims[id].state {
            ClaimState::Waiting => {
                self.dequeue(id);
                let order = self.order();
                let claim = &mut self.claims[id];
                claim.blocked = true;
                claim.blocked_at = now;
                claim.order = order;
                self.tell_claim(
                    EventKind::ClaimBlocked,
                    Reason::Blocked,
                    Actor::Caller,
                    id,
                    Span::ZERO,
                );
                self.wait_or_refuse(id, patience);
            }
            ClaimState::Admitted => {
                self.not_revocable(id);
                let order = self.order();
                let claim = &mut self.claims[id];
                let (class, before) = (claim.class, claim.service(id));
                claim.blocked = true;
                claim.blocked_at = now;
                claim.order = order;
                let after = claim.service(id);
                self.set_patience(id, patience);
                let class = self.class_mut(class);
                class.admitted.remove(&before);
                class.admitted.insert(after);
                if class.unstarted.remove(&before) {
                    class.unstarted.insert(after);
                }
                self.tell_claim(
                    EventKind::ClaimBlocked,
                    Reason::Blocked,
                    Actor::Caller,
                    id,
                    Span::ZERO,
                );
            }
            ClaimState::Bound => unreachable!("a bound claim's conversation has a sandbox"),
        }
    }

    /// When the claim's patience ends. It counts from the moment in which the execute blocked and
    /// is never started again.
    fn set_patience(&mut self, id: ClaimId, patience: Option<Span>) {
        let patience = patience.unwrap_or(self.config.sandbox_wait);
        let claim = &mut self.claims[id];
        claim.patience_at = claim.blocked_at.plus(patience);
    }

    /// Queues a blocked claim, or refuses one that can never be served.
    fn wait_or_refuse(&mut self, id: ClaimId, patience: Option<Span>) {
        self.set_patience(id, patience);
        let claim = &self.claims[id];
        if matches!(self.phase, Phase::Draining { .. } | Phase::Drained) {
            return self.refuse_unqueued(id, Reason::ShuttingDown, Actor::Scheduler);
        }
        if !self.class(claim.class).resources.fits_into(&self.config.max) {
            return self.refuse_unqueued(id, Reason::NeverFits, Actor::Scheduler);
        }
        let cannot_wait =
            if self.queue.blocked() as i64 + self.swaps.len() as i64 >= self.config.max_waiting {
                Some(Reason::QueueTooLong)
            } else if claim.patience_at <= self.now {
                Some(Reason::Full)
            } else {
                None
            };
        if cannot_wait.is_some() {
            self.claims[id].cannot_wait = cannot_wait;
            self.cannot_wait.push(id);
        }
        self.enqueue(id);
    }

    /// Puts a claim into the queue at the place that its order gives it.
    pub(super) fn enqueue(&mut self, id: ClaimId) {
        let claim = &mut self.claims[id];
        claim.state = ClaimState::Waiting;
        let (account, class, blocked) = (claim.account, claim.class, claim.blocked);
        let swap = claim.swap.is_some();
        if blocked && claim.cannot_wait.is_none() {
            self.timers.set(claim.patience_at, Timer::Patience(id));
        }
        if swap {
            self.swaps.push(id);
            let claims = &self.claims;
            self.swaps.sort_by_key(|&id| claims[id].order);
        } else {
            let is_first = self.queue.insert(&mut self.claims, id);
            let max = self.config.max_overtakes;
            let claim = &mut self.claims[id];
            // One that lost its admission has been overtaken as often as before, and is nobody's to
            // overtake if that was often enough.
            claim.overtakes = claim.overtakes.min(max);
            if blocked && max > 0 && claim.overtakes == max {
                self.queue.overtaken.push(id);
            }
            self.account_mut(account).waiting += 1;
            if is_first {
                self.refile_line(account, class, blocked);
            }
        }
        self.dirty = true;
    }

    pub(super) fn dequeue(&mut self, id: ClaimId) {
        let claim = &self.claims[id];
        let (account, class, blocked) = (claim.account, claim.class, claim.blocked);
        if claim.swap.is_some() {
            self.swaps.retain(|&other| other != id);
        } else {
            let was_first = self.queue.remove(&mut self.claims, id);
            self.account_mut(account).waiting -= 1;
            if was_first {
                self.refile_line(account, class, blocked);
            }
        }
        self.dirty = true;
    }

    pub(super) fn is_patience_live(&self, id: ClaimId, at: Time) -> bool {
        self.claims.get(id).is_some_and(|claim| {
            claim.state == ClaimState::Waiting && claim.blocked && claim.patience_at == at
        })
    }

    pub(super) fn is_claim_start_live(&self, id: ClaimId, at: Time) -> bool {
        self.claims
            .get(id)
            .is_some_and(|claim| claim.state == ClaimState::Admitted && claim.start_deadline == at)
    }

    /// Refuses those who cannot wait and were not served in this step. Gives whether there were
    /// any.
    pub(super) fn refuse_who_cannot_wait(&mut self) -> bool {
        let mut anyone = false;
        while let Some(id) = self.cannot_wait.pop() {
            if let Some(claim) = self.claims.get(id)
                && claim.state == ClaimState::Waiting
                && let Some(reason) = claim.cannot_wait
            {
                let in_vain = reason == Reason::Full;
                let reason = if in_vain { self.why_in_vain(claim.class) } else { reason };
                self.refuse(id, reason, Actor::Scheduler);
                anyone = true;
            }
        }
        anyone
    }

    /// The sandbox that a swap would have given up has died: the claim queues like every other.
    pub(super) fn no_longer_a_swap(&mut self, id: ConversationId) {
        let claim = self.known_conversation(id).claim;
        let claim = claim.filter(|&claim| {
            self.claims[claim].swap.is_some() && self.claims[claim].state == ClaimState::Waiting
        });
        if let Some(claim) = claim {
            self.dequeue(claim);
            self.claims[claim].swap = None;
            self.enqueue(claim);
        }
    }

    // ---- speculation ----

    /// From now on a blocked claim may take what this speculative one holds.
    pub(super) fn now_revocable(&mut self, id: ClaimId) {
        let claim = &self.claims[id];
        let (account, admission) = (claim.account, claim.admission);
        let resources = self.class(claim.class).resources;
        let entry = self.account_mut(account);
        entry.revocable.insert((admission, id));
        let within = !entry.borrowing;
        self.revocable_resources = self.revocable_resources.plus(resources);
        self.revocable.insert((within, Reverse(admission), id));
    }

    pub(super) fn not_revocable(&mut self, id: ClaimId) {
        let claim = &self.claims[id];
        let (account, admission) = (claim.account, claim.admission);
        let resources = self.class(claim.class).resources;
        let entry = self.account_mut(account);
        entry.revocable.remove(&(admission, id));
        let within = !entry.borrowing;
        self.revocable_resources = self.revocable_resources.minus(resources);
        self.revocable.remove(&(within, Reverse(admission), id));
    }

    /// The first use of a sandbox that a speculative claim held: the claim has done its work.
    pub(super) fn claim_is_used(&mut self, id: ClaimId) {
        self.not_revocable(id);
        self.forget_claim(id);
    }

    /// Takes a claim's admission back: it waits again, where it stood. Gives the sandbox that it
    /// was bound to, which is warm again but stands under no line yet.
    pub(super) fn take_admission_back(&mut self, id: ClaimId, reason: Reason) -> Option<SandboxId> {
        let claim = &self.claims[id];
        let (account, class, state) = (claim.account, claim.class, claim.state);
        if !claim.blocked {
            self.not_revocable(id);
        }
        let sandbox = match state {
            ClaimState::Waiting => unreachable!("a waiting claim has no admission"),
            ClaimState::Admitted => {
                self.no_longer_served(id);
                None
            }
            ClaimState::Bound => Some(self.unbind(id)),
        };
        let claim = &mut self.claims[id];
        claim.admission = 0;
        claim.start_deadline = Time::MAX;
        self.tell_claim(EventKind::ClaimRevoked, reason, Actor::Scheduler, id, Span::ZERO);
        self.release(account, class);
        self.enqueue(id);
        sandbox
    }

    /// Parts a speculative claim from the unused sandbox that it was bound to.
    fn unbind(&mut self, id: ClaimId) -> SandboxId {
        let conversation = self.claims[id].conversation;
        let sandbox = self.known_conversation(conversation).sandbox.take();
        let sandbox = sandbox.expect("a bound claim has a sandbox");
        self.transition(sandbox, SandboxState::Warm);
        self.tell_sandbox(
            EventKind::SandboxReleased,
            Reason::None,
            Actor::Scheduler,
            sandbox,
            Some(id),
            Span::ZERO,
        );
        self.sandboxes[sandbox].conversation = None;
        sandbox
    }

    // ---- ends ----

    /// Ends a speculative claim that nobody needs any more; what it held is free again.
    pub(super) fn withdraw(&mut self, id: ClaimId, reason: Reason, actor: Actor) {
        let claim = &self.claims[id];
        debug_assert!(!claim.blocked, "an execute waits for claim {id}");
        let (account, class, state) = (claim.account, claim.class, claim.state);
        let mut freed = None;
        match state {
            ClaimState::Waiting => self.dequeue(id),
            ClaimState::Admitted => {
                self.not_revocable(id);
                self.no_longer_served(id);
            }
            ClaimState::Bound => {
                self.not_revocable(id);
                freed = Some(self.unbind(id));
            }
        }
        self.tell_claim(EventKind::ClaimWithdrawn, reason, actor, id, Span::ZERO);
        self.forget_claim(id);
        if state != ClaimState::Waiting {
            self.release(account, class);
        }
        if let Some(sandbox) = freed {
            self.is_free(sandbox);
        }
    }

    /// Answers a blocked claim: no sandbox.
    pub(super) fn refuse(&mut self, id: ClaimId, reason: Reason, actor: Actor) {
        match self.claims[id].state {
            ClaimState::Waiting => self.dequeue(id),
            ClaimState::Admitted => {
                let claim = &self.claims[id];
                let (account, class) = (claim.account, claim.class);
                self.no_longer_served(id);
                self.release(account, class);
            }
            ClaimState::Bound => unreachable!("a blocked claim ends as it is bound"),
        }
        self.refuse_unqueued(id, reason, actor);
    }

    fn refuse_unqueued(&mut self, id: ClaimId, reason: Reason, actor: Actor) {
        let claim = &self.claims[id];
        debug_assert!(claim.blocked, "nobody waits for claim {id}");
        let (conversation, waited) = (claim.conversation, self.now.since(claim.blocked_at));
        self.tell_claim(EventKind::SandboxUnavailable, reason, actor, id, waited);
        self.forget_claim(id);
        let now = self.now;
        let turn = self.known_conversation(conversation).turn.as_mut();
        let turn = turn.expect("a blocked claim has an open turn");
        turn.last_activity = now;
        let execute = turn.execute.take();
        debug_assert!(execute.is_some_and(|execute| execute.state == ExecuteState::Waiting));
    }

    /// Ends a claim that is neither waiting nor admitted any more.
    pub(super) fn forget_claim(&mut self, id: ClaimId) {
        let claim = self.claims.remove(id).expect("the claim lives");
        self.known_conversation(claim.conversation).claim = None;
        for sandbox in [claim.start, claim.limbo].into_iter().flatten() {
            if let Some(sandbox) = self.sandboxes.get_mut(sandbox) {
                sandbox.cause = None;
            }
        }
    }

    /// Ends an admitted claim whose start did not work out in time or in the attempts allowed.
    pub(super) fn give_up_start(&mut self, id: ClaimId, actor: Actor) {
        if self.claims[id].blocked {
            self.refuse(id, Reason::CouldNotStart, actor);
        } else {
            self.withdraw(id, Reason::CouldNotStart, actor);
        }
    }
}
