//! The fold over the scheduler's events: pool, waits, starts, refusals and costs. It changes nothing
//! and decides nothing.

use super::cost::{ORPHANED, Prices, cause, unused};
use super::families::{Because, Ended, Metrics, OfClass, Served, Spent, Standing};
use sandpool_core::{
    Capacity, ClassId, Config, Event, EventKind, ExecuteId, Reason, SandboxId, SandboxState, Span,
    Time,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Who pays for what belongs to nobody: the operator's account.
const THE_POOL: u32 = 0;

#[derive(Clone, Copy, Debug)]
struct Seen {
    state: SandboxState,
    class: ClassId,
    /// When it came into its state.
    entered: Time,
    /// Until when it is charged for.
    since: Time,
    account: u32,
    is_orphan: bool,
    /// How long its start took, until its first use.
    start: Span,
    /// How it came to its conversation.
    served_by: &'static str,
}

/// Folds events into metrics.
#[derive(Debug)]
pub(crate) struct Fold {
    metrics: Arc<Metrics>,
    prices: Prices,
    config: Config,
    sandboxes: BTreeMap<SandboxId, Seen>,
}

impl Fold {
    pub(crate) fn new(metrics: Arc<Metrics>, prices: Prices, config: Config) -> Self {
        Self { metrics, prices, config, sandboxes: BTreeMap::new() }
    }

    pub(crate) fn metrics(&self) -> Arc<Metrics> {
        Arc::clone(&self.metrics)
    }

    /// Since when a sandbox is in its state.
    pub(crate) fn since(&self, sandbox: SandboxId) -> Option<Time> {
        self.sandboxes.get(&sandbox).map(|seen| seen.entered)
    }

    fn class_name(&self, class: ClassId) -> String {
        let class = self.config.classes.get(usize::from(class.0));
        class.map(|class| class.name.clone()).unwrap_or_default()
    }

    /// One event, in the order in which they come.
    pub(crate) fn event(&mut self, event: &Event) {
        self.sandbox(event);
        let metrics = Arc::clone(&self.metrics);
        let because = || Because { reason: event.reason.name() };
        match event.kind {
            EventKind::SandboxBusy if event.execute != ExecuteId(0) => self.let_go(event),
            EventKind::SandboxUnavailable => {
                metrics.refusals.get_or_create(&because()).inc();
            }
            EventKind::ExecuteEnded => {
                let ended = Ended { outcome: event.reason.name() };
                metrics.executes.get_or_create(&ended).inc();
                metrics.execute_seconds.get_or_create(&ended).observe(event.span.as_secs_f64());
            }
            EventKind::SandboxReady => {
                let class = OfClass { class: self.class_name(event.class) };
                metrics.start.get_or_create(&class).observe(event.span.as_secs_f64());
            }
            EventKind::SandboxFailed => {
                metrics.start_failures.get_or_create(&because()).inc();
            }
            EventKind::SandboxReplaced => {
                metrics.files_lost.get_or_create(&because()).inc();
            }
            EventKind::SandboxDestroying | EventKind::SandboxDied => {
                metrics.sandboxes_ended.get_or_create(&because()).inc();
            }
            EventKind::SandboxLimbo => drop(metrics.limbo.inc()),
            EventKind::SandboxStuck => drop(metrics.stuck.inc()),
            EventKind::DriftDetected => {
                metrics.drift.get_or_create(&because()).inc();
            }
            EventKind::OrphanRemoved => drop(metrics.orphans_removed.inc()),
            EventKind::BreakerOpened | EventKind::BreakerClosed => {
                let class = OfClass { class: self.class_name(event.class) };
                let is_open = i64::from(event.kind == EventKind::BreakerOpened);
                metrics.breaker_open.get_or_create(&class).set(is_open);
            }
            EventKind::Reconciled => drop(metrics.reconciles.inc()),
            EventKind::IllegalTransition => drop(metrics.illegal_transitions.inc()),
            _ => {}
        }
    }

    /// Follows the sandbox of an event, and charges what it has cost until now.
    fn sandbox(&mut self, event: &Event) {
        let Some(id) = event.sandbox else { return };
        let account = event.account.map_or(THE_POOL, |account| account.0);
        let mut seen = self.sandboxes.get(&id).copied().unwrap_or(Seen {
            state: event.state,
            class: event.class,
            entered: event.at,
            since: event.at,
            account: THE_POOL,
            is_orphan: false,
            start: Span::ZERO,
            served_by: "held",
        });
        if seen.state != event.state {
            self.charge(&seen, event.state, event.at);
            seen.state = event.state;
            seen.entered = event.at;
            seen.since = event.at;
        }
        match event.kind {
            EventKind::SandboxReady => seen.start = event.span,
            EventKind::SandboxAssigned => {
                let is_warm = event.reason == Reason::WarmHit;
                seen.served_by = if is_warm { "warm_hit" } else { "cold_start" };
                if is_warm {
                    seen.start = Span::ZERO;
                }
                let served = Served { by: seen.served_by };
                self.metrics.claims_served.get_or_create(&served).inc();
                seen.account = account;
            }
            EventKind::SandboxAdopted => seen.account = account,
            EventKind::SandboxReleased => seen.account = THE_POOL,
            EventKind::OrphanFound => seen.is_orphan = true,
            _ => {}
        }
        if event.state == SandboxState::Deleted {
            self.sandboxes.remove(&id);
        } else {
            self.sandboxes.insert(id, seen);
        }
    }

    /// An execute may use its sandbox.
    fn let_go(&mut self, event: &Event) {
        let Some(seen) = event.sandbox.and_then(|id| self.sandboxes.get_mut(&id)) else { return };
        let by = std::mem::replace(&mut seen.served_by, "held");
        let wait = self.metrics.execute_wait.get_or_create(&Served { by });
        wait.observe(event.span.as_secs_f64());
        // A start counts once: what of it nobody waited for was hidden.
        let start = std::mem::take(&mut seen.start);
        let exposed = start.min(event.span);
        self.metrics.exposed_start.inc_by(exposed.as_secs_f64());
        self.metrics.hidden_start.inc_by(start.minus(exposed).as_secs_f64());
    }

    /// Charges the time since `seen.since` to whoever it was for. `after` is what follows.
    fn charge(&self, seen: &Seen, after: SandboxState, now: Time) {
        let cause = match seen.state {
            _ if seen.is_orphan => Some(ORPHANED),
            SandboxState::Assigned => Some(unused(after)),
            state => cause(state),
        };
        let class = self.config.classes.get(usize::from(seen.class.0));
        if let (Some(cause), Some(class)) = (cause, class) {
            let cost = self.prices.micro_dollars(class, now.since(seen.since));
            let spent = Spent { account: seen.account, cause };
            self.metrics.cost.get_or_create(&spent).inc_by(cost);
        }
    }

    /// Brings what changes with time alone up to now: gauges, and the cost of what goes on.
    pub(crate) fn settle(&mut self, now: Time, capacity: &Capacity) {
        let ids: Vec<SandboxId> = self.sandboxes.keys().copied().collect();
        self.metrics.sandboxes.clear();
        for id in ids {
            let Some(mut seen) = self.sandboxes.get(&id).copied() else { continue };
            // What an assigned one is for is not known yet.
            if seen.state != SandboxState::Assigned {
                self.charge(&seen, seen.state, now);
                seen.since = now;
                self.sandboxes.insert(id, seen);
            }
            let class = self.class_name(seen.class);
            let standing = Standing { state: seen.state.name(), class };
            self.metrics.sandboxes.get_or_create(&standing).inc();
        }
        let metrics = &self.metrics;
        metrics.limit_sandboxes.set(capacity.limit.slots);
        metrics.used_sandboxes.set(capacity.used.slots);
        metrics.free_sandboxes.set(capacity.free.slots);
        metrics.used_memory_bytes.set(capacity.used.memory_mb.saturating_mul(1_024 * 1_024));
        metrics.limit_is_lowered.set(i64::from(capacity.is_lowered));
        metrics.waiting_executes.set(capacity.blocked as i64);
        metrics.open_conversations.set(capacity.conversations as i64);
        metrics.borrowing_accounts.set(capacity.borrowers as i64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sandpool_core::{AccountId, Actor, Id, Resources, TurnId, Used};

    fn event(at_seconds: u64, kind: EventKind, state: SandboxState) -> Event {
        Event {
            sequence: 1,
            at: Time::ZERO.plus(Span::from_secs(at_seconds)),
            kind,
            reason: Reason::None,
            actor: Actor::Scheduler,
            state,
            class: ClassId(0),
            account: Some(AccountId(7)),
            conversation: None,
            turn: TurnId(1),
            execute: ExecuteId(1),
            claim: None,
            sandbox: Some(SandboxId::new(1, 0)),
            span: Span::ZERO,
            used: Used::default(),
        }
    }

    fn fold() -> (Fold, Arc<Metrics>) {
        let metrics = Metrics::new();
        let prices = Prices { cpu_hour: 3.6, memory_gb_hour: 0.0, disk_gb_hour: 0.0 };
        (Fold::new(Arc::clone(&metrics), prices, Config::default()), metrics)
    }

    fn capacity() -> Capacity {
        let none = Resources { slots: 0, memory_mb: 0, cpu_milli: 0, disk_mb: 0 };
        Capacity {
            limit: none,
            is_lowered: false,
            used: none,
            unstarted: none,
            free: none,
            incoming: none,
            blocked: 0,
            speculative: 0,
            sandboxes: 0,
            starting: 0,
            borrowers: 0,
            idle: (0, 0),
            conversations: 0,
        }
    }

    #[test]
    fn a_life_is_charged_to_who_had_it_by_what_it_did() {
        let (mut fold, metrics) = fold();
        let warm =
            Event { account: None, ..event(0, EventKind::SandboxStarting, SandboxState::Creating) };
        fold.event(&warm);
        fold.event(&Event {
            account: None,
            ..event(5, EventKind::SandboxCreated, SandboxState::Preparing)
        });
        let ready = event(15, EventKind::SandboxReady, SandboxState::Warm);
        fold.event(&Event { account: None, span: Span::from_secs(15), ..ready });
        let assigned = event(45, EventKind::SandboxAssigned, SandboxState::Assigned);
        fold.event(&Event { reason: Reason::ColdStart, ..assigned });
        let busy = event(47, EventKind::SandboxBusy, SandboxState::Busy);
        fold.event(&Event { span: Span::from_secs(6), ..busy });
        fold.event(&event(50, EventKind::SandboxIdle, SandboxState::Idle));
        // A micro-dollar is 1/1000 s of one vCPU at this price: 1,000 a second.
        let at = |seconds| Time::ZERO.plus(Span::from_secs(seconds));
        fold.settle(at(60), &capacity());
        fold.settle(at(61), &capacity());
        let text = metrics.text();
        for line in [
            "sandpool_cost_micro_dollars_total{account=\"0\",cause=\"starting\"} 10000.0",
            "sandpool_cost_micro_dollars_total{account=\"0\",cause=\"warm\"} 30000.0",
            "sandpool_cost_micro_dollars_total{account=\"7\",cause=\"busy\"} 3000.0",
            // Two seconds before the first use, ten and one after it.
            "sandpool_cost_micro_dollars_total{account=\"7\",cause=\"idle\"} 13000.0",
            "sandpool_exposed_start_seconds_total 6.0",
            "sandpool_hidden_start_seconds_total 9.0",
            "sandpool_claims_served_total{by=\"cold_start\"} 1",
            "sandpool_sandboxes{state=\"idle\",class=\"default\"} 1",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
        }
        fold.event(&event(70, EventKind::SandboxDestroying, SandboxState::Destroying));
        fold.event(&event(80, EventKind::SandboxDeleted, SandboxState::Deleted));
        fold.settle(at(90), &capacity());
        assert!(!metrics.text().contains("state=\"idle\""), "it is gone from the pool");
        assert!(metrics.text().contains("cause=\"idle\"} 22000.0"));
    }

    #[test]
    fn what_was_bound_and_never_used_is_told_apart() {
        let (mut fold, metrics) = fold();
        fold.event(&event(0, EventKind::SandboxReady, SandboxState::Warm));
        fold.event(&event(0, EventKind::SandboxAssigned, SandboxState::Assigned));
        fold.event(&event(4, EventKind::SandboxReleased, SandboxState::Warm));
        assert!(metrics.text().contains("{account=\"7\",cause=\"never_used\"} 4000.0"));
    }
}
