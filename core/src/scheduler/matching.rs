//! Supply and demand are matched late: a starting sandbox belongs to no one until it is ready, and
//! a ready one goes to whoever is first then.
//!
//! Two facts hold between steps: while a sandbox of a class is warm, no admitted claim of the class
//! is unserved; while a start of a class is spare, no admitted claim of the class is unstarted.

use super::Scheduler;
use super::state::ClaimState;
use crate::event::{Actor, EventKind, Reason};
use crate::id::{ClaimId, SandboxId};
use crate::lifecycle::SandboxState;
use crate::time::Span;

impl Scheduler {
    /// An admitted claim looks for supply: a warm sandbox, a spare start, or a start of its own.
    pub(super) fn look_for_supply(&mut self, id: ClaimId) {
        let claim = &self.claims[id];
        let (class, service) = (claim.class, claim.service(id));
        if let Some(sandbox) = self.class_mut(class).warm.pop_first() {
            return self.bind(id, sandbox, Reason::WarmHit);
        }
        self.class_mut(class).admitted.insert(service);
        self.needs_start(id);
    }

    /// An admitted claim counts on no start: it takes a spare one, or waits for one of its own.
    pub(super) fn needs_start(&mut self, id: ClaimId) {
        let class = self.claims[id].class;
        match self.class_mut(class).spare_starts.pop_first() {
            Some(start) => self.count_on(id, start),
            None => self.is_unstarted(id),
        }
    }

    /// From now on the claim counts on this start.
    pub(super) fn count_on(&mut self, id: ClaimId, start: SandboxId) {
        self.claims[id].start = Some(start);
        self.sandboxes[start].cause = Some(id);
    }

    pub(super) fn is_unstarted(&mut self, id: ClaimId) {
        let claim = &self.claims[id];
        let (class, service) = (claim.class, claim.service(id));
        let entry = self.class_mut(class);
        entry.unstarted.insert(service);
        let resources = entry.resources;
        self.ledger.unstarted = self.ledger.unstarted.plus(resources);
        self.dirty = true;
    }

    pub(super) fn is_started(&mut self, id: ClaimId) {
        let claim = &self.claims[id];
        let (class, service) = (claim.class, claim.service(id));
        let entry = self.class_mut(class);
        let was = entry.unstarted.remove(&service);
        debug_assert!(was, "claim {id} was not unstarted");
        let resources = entry.resources;
        self.ledger.unstarted = self.ledger.unstarted.minus(resources);
        // What was promised to it is free, unless a start of its own takes it in the same step.
        self.dirty = true;
    }

    /// An admitted claim is not to be served any more: its start, if any, is spare.
    pub(super) fn no_longer_served(&mut self, id: ClaimId) {
        let claim = &self.claims[id];
        let (class, service) = (claim.class, claim.service(id));
        let was = self.class_mut(class).admitted.remove(&service);
        debug_assert!(was, "claim {id} was not admitted");
        match self.claims[id].start.take() {
            Some(start) => self.is_spare(start),
            None => self.is_started(id),
        }
    }

    /// Nobody counts on this start: it is handed to the first claim that has none.
    pub(super) fn is_spare(&mut self, start: SandboxId) {
        let class = self.sandboxes[start].class;
        self.sandboxes[start].cause = None;
        match self.class(class).unstarted.first() {
            Some(&(_, _, id)) => {
                self.is_started(id);
                self.count_on(id, start);
            }
            None => {
                self.class_mut(class).spare_starts.insert(start);
            }
        }
        self.dirty = true;
    }

    /// A start is over, well or badly: nobody counts on it any more. Gives the claim that did,
    /// which has no start now and stands nowhere.
    pub(super) fn start_is_over(&mut self, start: SandboxId) -> Option<ClaimId> {
        let sandbox = &mut self.sandboxes[start];
        let class = sandbox.class;
        match sandbox.cause.take() {
            Some(id) => {
                self.claims[id].start = None;
                Some(id)
            }
            None => {
                self.class_mut(class).spare_starts.remove(&start);
                None
            }
        }
    }

    /// A sandbox became ready: it goes to the first admitted claim of its class, whichever claim
    /// counted on it. The starts change places, so that each unserved claim keeps one if it had one.
    pub(super) fn serve_with(&mut self, sandbox: SandboxId) {
        let cause = self.start_is_over(sandbox);
        let class = self.sandboxes[sandbox].class;
        let first = self.class(class).admitted.first().map(|&(_, _, id)| id);
        let Some(winner) = first else {
            debug_assert!(cause.is_none());
            return self.is_free(sandbox);
        };
        if cause != Some(winner) {
            let inherited = self.claims[winner].start.take();
            match (inherited, cause) {
                (Some(start), Some(loser)) => self.count_on(loser, start),
                (Some(start), None) => self.is_spare(start),
                (None, Some(loser)) => {
                    self.is_started(winner);
                    self.is_unstarted(loser);
                }
                (None, None) => self.is_started(winner),
            }
        }
        let service = self.claims[winner].service(winner);
        self.class_mut(class).admitted.remove(&service);
        self.bind(winner, sandbox, Reason::ColdStart);
    }

    /// A ready sandbox is bound to nobody: it goes to the first admitted claim of its class, or
    /// stands in the warm pool.
    pub(super) fn is_free(&mut self, sandbox: SandboxId) {
        let class = self.sandboxes[sandbox].class;
        let first = self.class(class).admitted.first().map(|&(_, _, id)| id);
        match first {
            Some(winner) => {
                match self.claims[winner].start.take() {
                    Some(start) => {
                        let service = self.claims[winner].service(winner);
                        self.class_mut(class).admitted.remove(&service);
                        self.is_spare(start);
                    }
                    None => {
                        self.is_started(winner);
                        let service = self.claims[winner].service(winner);
                        self.class_mut(class).admitted.remove(&service);
                    }
                }
                self.bind(winner, sandbox, Reason::WarmHit);
            }
            None => {
                self.class_mut(class).warm.insert(sandbox);
                self.watch_age(sandbox);
                self.dirty = true;
            }
        }
    }

    /// Binds a ready sandbox to an admitted claim's conversation. A blocked claim is thereby
    /// answered; a speculative one holds the sandbox until its first use.
    fn bind(&mut self, id: ClaimId, sandbox: SandboxId, how: Reason) {
        let claim = &mut self.claims[id];
        claim.state = ClaimState::Bound;
        let (conversation, blocked) = (claim.conversation, claim.blocked);
        let waited = if blocked { self.now.since(claim.blocked_at) } else { Span::ZERO };
        self.sandboxes[sandbox].conversation = Some(conversation);
        self.known_conversation(conversation).sandbox = Some(sandbox);
        self.transition(sandbox, SandboxState::Assigned);
        self.tell_sandbox(
            EventKind::SandboxAssigned,
            how,
            Actor::Scheduler,
            sandbox,
            Some(id),
            waited,
        );
        if blocked {
            self.forget_claim(id);
            self.let_go(conversation, sandbox);
        }
    }
}
