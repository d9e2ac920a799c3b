//! Starts: who may start, what a start goes through, what its failure costs.

use super::backoff::{LONGEST_PAUSE, delay};
use super::state::Sandbox;
use super::timers::Timer;
use super::{Phase, Scheduler};
use crate::event::{Actor, EventKind, Reason};
use crate::id::{ClaimId, ClassId, Id, ProviderId, SandboxId};
use crate::lifecycle::SandboxState;
use crate::provider::{Failure, SandboxName, Verb};
use crate::time::{Span, Time};

/// The breaker stays open at most this many times its first span.
const BREAKER_DOUBLINGS: u32 = 4;

/// Rejections of a request that will stay wrong end a claim at once; other failures count.
enum Blame {
    /// The claim has had one more failed start.
    Attempt,
    /// The claim cannot be served at all.
    Final,
    /// The claim is not to blame: it goes on as if nothing had happened.
    None,
    /// The provider is full: the claim waits for capacity again.
    Full,
}

impl Scheduler {
    /// Whether a start of the class may begin now: a permit is free, the class's breaker is closed
    /// (or lets one trial through), no pause is due.
    pub(super) fn is_start_allowed(&self, class: ClassId) -> bool {
        let entry = self.class(class);
        self.starting < self.config.max_starting
            && self.now >= entry.not_before
            && self.now >= self.create_not_before
            && (entry.breaker_trips == 0 || entry.trial.is_none())
    }

    /// Whether the class's breaker is open and nobody could use capacity of it now: its pause
    /// lasts, or a trial is under way or about to begin.
    pub(super) fn is_broken(&self, class: ClassId) -> bool {
        let entry = self.class(class);
        entry.breaker_trips > 0
            && (self.now < entry.not_before || entry.trial.is_some() || !entry.unstarted.is_empty())
    }

    /// Why a claim of the class is refused that has waited for as long as it may.
    pub(super) fn why_in_vain(&self, class: ClassId) -> Reason {
        if self.is_broken(class) { Reason::CouldNotStart } else { Reason::Full }
    }

    /// The class's breaker has opened: capacity that waits for a start of it waits in vain, and
    /// others can use it. Its claims wait again, with the patience that they have left.
    pub(super) fn put_off_unstarted(&mut self, class: ClassId) {
        let entry = self.class(class);
        if entry.breaker_trips == 0 || self.now >= entry.not_before {
            return;
        }
        let waiting: Vec<ClaimId> = entry.unstarted.iter().map(|&(_, _, claim)| claim).collect();
        for claim in waiting {
            self.wait_for_capacity_again(claim, Reason::CouldNotStart);
        }
    }

    /// Starts sandboxes for admitted claims that no start under way will serve, first served first.
    pub(super) fn start_admitted(&mut self) {
        loop {
            let first = self
                .class_ids()
                .filter_map(|class| Some((class, *self.class(class).unstarted.first()?)))
                .filter(|&(class, _)| {
                    self.is_start_allowed(class)
                        && self.ledger.may_create(self.class(class).resources)
                })
                .map(|(_, service)| service)
                .min();
            let Some((_, _, claim)) = first else { break };
            self.is_started(claim);
            let class = self.claims[claim].class;
            let reason =
                if self.claims[claim].blocked { Reason::Blocked } else { Reason::Speculative };
            let sandbox = self.start(class, Some(claim), reason);
            self.count_on(claim, sandbox);
        }
    }

    /// Decides on a new sandbox. From this instant on it takes its resources.
    pub(super) fn start(
        &mut self,
        class: ClassId,
        claim: Option<ClaimId>,
        reason: Reason,
    ) -> SandboxId {
        let epoch = self.epoch;
        let start_deadline = self.now.plus(self.config.start_timeout);
        let mut blank = self.blank_sandbox(class);
        blank.start_deadline = start_deadline;
        let id = self.sandboxes.insert_with(|id| {
            blank.name = SandboxName { epoch, sequence: id.sequence() };
            blank
        });
        self.take_resources(id);
        self.starting += 1;
        if self.class(class).breaker_trips > 0 {
            self.class_mut(class).trial = Some(id);
        }
        self.transition(id, SandboxState::Creating);
        self.tell_sandbox(
            EventKind::SandboxStarting,
            reason,
            Actor::Scheduler,
            id,
            claim,
            Span::ZERO,
        );
        self.timers.set(start_deadline, Timer::Start(id));
        // A create is bounded by the start's own deadline: its operation never times out by itself,
        // so that a late answer still finds its sandbox.
        let op = self.submit(Verb::Create, id, Time::MAX);
        self.sandboxes[id].op = Some(op);
        id
    }

    /// A sandbox in its first state, named as if it were nobody's.
    pub(super) fn blank_sandbox(&self, class: ClassId) -> Sandbox {
        Sandbox {
            name: SandboxName { epoch: self.epoch, sequence: 0 },
            provider: None,
            class,
            state: SandboxState::New,
            conversation: None,
            cause: None,
            used: false,
            doomed: false,
            orphan: false,
            stuck: false,
            unresolved: false,
            executes: 0,
            started_at: self.now,
            start_deadline: Time::MAX,
            ready_at: Time::MAX,
            last_use: Time::MAX,
            idle_since: Time::MAX,
            reclaim_key: None,
            since: self.now,
            tries: 0,
            op: None,
            keep_alive_op: None,
            keep_alive_at: Time::MAX,
            retry_at: Time::MAX,
            warm_age_at: Time::MAX,
            missed: 0,
        }
    }

    pub(super) fn take_resources(&mut self, id: SandboxId) {
        let resources = self.class(self.sandboxes[id].class).resources;
        self.ledger.used = self.ledger.used.plus(resources);
    }

    /// The create was answered: it exists.
    pub(super) fn created(&mut self, id: SandboxId, provider: ProviderId) {
        let now = self.now;
        let sandbox = &mut self.sandboxes[id];
        sandbox.provider = Some(provider);
        sandbox.op = None;
        let span = now.since(sandbox.started_at);
        if sandbox.doomed {
            self.start_ended(id);
            return self.destroy_doomed(id);
        }
        if self.class(self.sandboxes[id].class).prepares {
            self.transition(id, SandboxState::Preparing);
            self.tell_sandbox(
                EventKind::SandboxCreated,
                Reason::None,
                Actor::Provider,
                id,
                None,
                span,
            );
            let op = self.submit(Verb::Prepare, id, Time::MAX);
            self.sandboxes[id].op = Some(op);
        } else {
            self.ready(id);
        }
    }

    /// A start has come to its good end.
    pub(super) fn ready(&mut self, id: SandboxId) {
        let now = self.now;
        self.start_ended(id);
        let sandbox = &mut self.sandboxes[id];
        sandbox.op = None;
        sandbox.ready_at = now;
        let (class, took) = (sandbox.class, now.since(sandbox.started_at));
        debug_assert!(!sandbox.doomed, "a doomed start is destroyed as it is created");
        self.start_succeeded(class, took);
        self.transition(id, SandboxState::Warm);
        self.tell_sandbox(EventKind::SandboxReady, Reason::None, Actor::Provider, id, None, took);
        self.watch_life(id);
        self.serve_with(id);
    }

    /// A start under way is over, one way or another: its permit is free. Gives whether it was the
    /// trial of an open breaker.
    pub(super) fn start_ended(&mut self, id: SandboxId) -> bool {
        debug_assert!(self.sandboxes[id].state.is_starting());
        self.starting -= 1;
        let class = self.sandboxes[id].class;
        let entry = self.class_mut(class);
        let was_trial = entry.trial == Some(id);
        if was_trial {
            entry.trial = None;
        }
        self.dirty = true;
        was_trial
    }

    fn start_succeeded(&mut self, class: ClassId, took: Span) {
        let entry = self.class_mut(class);
        entry.failures = 0;
        entry.not_before = Time::ZERO;
        // Exponential average over about eight starts.
        let average = entry.start_average.as_nanos();
        entry.start_average = Span::from_nanos(average - average / 8 + took.as_nanos() / 8);
        if entry.breaker_trips > 0 {
            entry.breaker_trips = 0;
            entry.trial = None;
            self.tell_class(EventKind::BreakerClosed, Reason::None, class, Span::ZERO);
        }
    }

    /// A counted failure of the class: later starts are delayed, and after enough of them in a row
    /// the breaker opens.
    pub(super) fn start_failed(&mut self, id: SandboxId, was_trial: bool) {
        let class = self.sandboxes[id].class;
        let (base, max) = (self.config.retry_base, self.config.retry_max);
        let threshold = self.config.breaker_failures;
        let open_for = self.config.breaker_open;
        let now = self.now;
        let entry = self.class_mut(class);
        entry.failures = entry.failures.saturating_add(1);
        if entry.breaker_trips > 0 && !was_trial {
            return; // It began before the breaker opened, and says nothing new.
        }
        // A failed trial opens it again, whatever the settings have become meanwhile.
        let opens = entry.breaker_trips > 0 || i64::from(entry.failures) >= threshold;
        let wait = if opens {
            let doublings = entry.breaker_trips.min(BREAKER_DOUBLINGS);
            entry.breaker_trips = entry.breaker_trips.saturating_add(1);
            open_for.times(1 << doublings)
        } else {
            delay(base, max, entry.failures, id.sequence())
        };
        entry.not_before = now.plus(wait);
        let at = entry.not_before;
        self.timers.set(at, Timer::StartGate(class));
        if opens {
            self.tell_class(EventKind::BreakerOpened, Reason::None, class, wait);
        }
    }

    /// The create failed. What follows depends on what the provider said.
    pub(super) fn create_failed(&mut self, id: SandboxId, failure: Failure) {
        let (reason, blame, leftover) = match failure {
            Failure::Lost => return self.goes_to_limbo(id, Reason::AnswerLost),
            Failure::Full { .. } => (Reason::ProviderFull, Blame::Full, false),
            Failure::RateLimited { .. } => (Reason::RateLimited, Blame::None, false),
            Failure::Rejected => (Reason::Rejected, Blame::Final, false),
            Failure::NameExists => (Reason::NameExists, Blame::Attempt, false),
            Failure::Errored => (Reason::Errored, Blame::Attempt, true),
            Failure::Unavailable | Failure::Conflict => {
                (Reason::Unavailable, Blame::Attempt, false)
            }
        };
        self.fail_start(id, reason, blame, leftover);
        match failure {
            Failure::Full { dimension } => {
                self.lower_limit(dimension);
                if self.config.full_hold == Span::ZERO {
                    self.pause_creates(self.config.retry_base);
                }
            }
            Failure::RateLimited { retry_after } => {
                self.pause_creates(retry_after.max(self.config.retry_base));
            }
            Failure::NameExists => {
                // Not ours: this name was never asked for before. Whatever holds it, the
                // inventory will tell.
                self.tell(
                    EventKind::DriftDetected,
                    Reason::NameExists,
                    Actor::Provider,
                    Span::ZERO,
                );
            }
            _ => {}
        }
    }

    pub(super) fn pause_creates(&mut self, pause: Span) {
        let until = self.now.plus(pause.min(LONGEST_PAUSE));
        self.create_not_before = self.create_not_before.max(until);
        self.timers.set(self.create_not_before, Timer::StartGate(ClassId(0)));
    }

    /// The prepare steps failed: the sandbox is of no use.
    pub(super) fn prepare_failed(&mut self, id: SandboxId, failure: Failure) {
        let (reason, blame) = match failure {
            Failure::Rejected => (Reason::PrepareFailed, Blame::Final),
            _ => (Reason::PrepareFailed, Blame::Attempt),
        };
        self.fail_start(id, reason, blame, true);
    }

    /// The sandbox died while it was being prepared.
    pub(super) fn died_while_starting(&mut self, id: SandboxId) {
        self.fail_start(id, Reason::Died, Blame::Attempt, true);
    }

    pub(super) fn start_took_too_long(&mut self, id: SandboxId) {
        match self.sandboxes[id].state {
            SandboxState::Creating => self.goes_to_limbo(id, Reason::StartTimeout),
            _ => self.fail_start(id, Reason::StartTimeout, Blame::Attempt, true),
        }
    }

    fn fail_start(&mut self, id: SandboxId, reason: Reason, blame: Blame, leftover: bool) {
        let was_trial = self.start_ended(id);
        let class = self.sandboxes[id].class;
        let span = self.now.since(self.sandboxes[id].started_at);
        let doomed = self.sandboxes[id].doomed;
        if doomed {
            self.no_longer_doomed(id);
        }
        let cause = self.start_is_over(id);
        self.drop_operation(id);
        self.transition(id, SandboxState::Failed);
        self.tell_sandbox(EventKind::SandboxFailed, reason, Actor::Provider, id, cause, span);
        if matches!(blame, Blame::Attempt | Blame::Final) {
            self.start_failed(id, was_trial);
        }
        if leftover {
            self.destroy(id, reason, Actor::Scheduler);
        } else {
            self.deleted(id, reason);
        }
        if let Some(claim) = cause {
            self.blame_claim(claim, &blame);
        }
        self.put_off_unstarted(class);
    }

    /// What a failed start means to the claim that counted on it, which has no start now.
    fn blame_claim(&mut self, id: ClaimId, blame: &Blame) {
        self.needs_start(id);
        match blame {
            Blame::None => {}
            Blame::Attempt => {
                self.claims[id].attempts += 1;
                if self.claims[id].attempts >= self.config.max_start_attempts {
                    self.give_up_start(id, Actor::Scheduler);
                }
            }
            Blame::Final => self.give_up_start(id, Actor::Scheduler),
            Blame::Full => self.wait_for_capacity_again(id, Reason::ProviderFull),
        }
    }

    /// The provider has no room for an admitted claim, or its class cannot start: it waits on, with
    /// the patience that it has left, unless it may not wait or can never fit by the settings in
    /// force.
    fn wait_for_capacity_again(&mut self, id: ClaimId, why: Reason) {
        let claim = &self.claims[id];
        let fits = self.class(claim.class).resources.fits_into(&self.config.max);
        let waiting = (self.queue.blocked() + self.swaps.len()) as i64;
        let refusal = if !fits {
            Some(Reason::NeverFits)
        } else if claim.blocked && claim.patience_at <= self.now {
            Some(if why == Reason::ProviderFull { Reason::Full } else { why })
        } else if claim.blocked && waiting >= self.config.max_waiting {
            Some(Reason::QueueTooLong)
        } else {
            None
        };
        match refusal {
            Some(reason) if self.claims[id].blocked => self.refuse(id, reason, Actor::Scheduler),
            Some(reason) => self.withdraw(id, reason, Actor::Scheduler),
            None => {
                self.take_admission_back(id, why);
            }
        }
    }

    /// A start on the claim's behalf is of unknown outcome. One such may hang on a claim: it may
    /// start another, but not a third.
    pub(super) fn claim_has_limbo(&mut self, id: ClaimId, sandbox: SandboxId) {
        self.needs_start(id);
        if self.claims[id].limbo.is_some() {
            return self.give_up_start(id, Actor::Scheduler);
        }
        self.claims[id].limbo = Some(sandbox);
        self.sandboxes[sandbox].cause = Some(id);
        self.claims[id].attempts += 1;
        if self.claims[id].attempts >= self.config.max_start_attempts {
            self.give_up_start(id, Actor::Scheduler);
        }
    }

    /// A start that is not wanted any more: it goes as soon as it can.
    pub(super) fn doom(&mut self, id: SandboxId) {
        let class = self.sandboxes[id].class;
        self.class_mut(class).spare_starts.remove(&id);
        debug_assert!(self.sandboxes[id].cause.is_none());
        match self.sandboxes[id].state {
            SandboxState::Preparing => {
                self.start_ended(id);
                self.destroy(id, Reason::Evicted, Actor::Scheduler);
            }
            _ => {
                self.sandboxes[id].doomed = true;
                let span = self.now.since(self.sandboxes[id].started_at);
                self.tell_sandbox(
                    EventKind::SandboxDoomed,
                    Reason::Evicted,
                    Actor::Scheduler,
                    id,
                    None,
                    span,
                );
                let resources = self.class(class).resources;
                self.ledger.incoming = self.ledger.incoming.plus(resources);
            }
        }
    }

    pub(super) fn no_longer_doomed(&mut self, id: SandboxId) {
        self.sandboxes[id].doomed = false;
        let resources = self.class(self.sandboxes[id].class).resources;
        self.ledger.incoming = self.ledger.incoming.minus(resources);
    }

    pub(super) fn destroy_doomed(&mut self, id: SandboxId) {
        self.no_longer_doomed(id);
        let reason = match self.phase {
            Phase::Running => Reason::Evicted,
            _ => Reason::ShuttingDown,
        };
        self.destroy(id, reason, Actor::Scheduler);
    }
}
