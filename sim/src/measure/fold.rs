//! The fold: one pass over the events, constant memory for each living thing.

use super::bill::Bill;
use super::over_time::OverTime;
use crate::engine::RunOptions;
use crate::scenario::Variant;
use crate::stats::Histogram;
use sandpool_core::{AccountId, ClassId, Event, EventKind, Id, Reason, SandboxState, Span, Time};

/// What is counted, from the end of the warm-up on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Conversations that began.
    pub conversations: u64,
    /// Turns that began.
    pub turns: u64,
    /// Executes that were let go.
    pub served: u64,
    /// Executes that were refused, by reason.
    pub full: u64,
    /// Refused: no start in time or in the attempts allowed.
    pub could_not_start: u64,
    /// Refused: too large for the limits.
    pub never_fits: u64,
    /// Refused: too many wait.
    pub queue_too_long: u64,
    /// Refused: shutdown, or lost in a crash while waiting.
    pub shutting_down: u64,
    /// Ended by the caller's cancel.
    pub cancelled: u64,
    /// Turns whose first execute was refused and never served.
    pub unserved_turns: u64,
    /// Turns whose new sandbox replaces one that was lost with its files.
    pub lost_files: u64,
    /// Claims served by a sandbox that was ready.
    pub warm_hits: u64,
    /// Claims served by a sandbox that had to be started.
    pub cold_starts: u64,
    /// Sandboxes that died.
    pub deaths: u64,
    /// Sandboxes that were reclaimed.
    pub reclaimed: u64,
    /// Disagreements between ledger and provider.
    pub drifts: u64,
    /// Orphans that were removed.
    pub orphans_removed: u64,
    /// Sandboxes that were created.
    pub created: u64,
    /// Starts that failed.
    pub failed_starts: u64,
    /// Transitions that the life-cycle table does not have; a bug if not zero.
    pub illegal: u64,
}

/// One account, from the end of the warm-up on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AccountCounts {
    pub(super) served: u64,
    pub(super) refused: u64,
    pub(super) waited_nanos: u128,
    pub(super) waits: u64,
}

#[derive(Clone, Copy, Debug)]
struct SandboxSlot {
    state: SandboxState,
    class: ClassId,
    since: Time,
    /// How long its start took; zero if it never was a cold start for a claim.
    cold_start: Span,
    assigned: Span,
}

#[derive(Clone, Copy, Debug, Default)]
struct ConversationSlot {
    /// The turn's first execute has not been served yet.
    fresh: bool,
    /// The turn's first execute was refused at least once.
    refused: bool,
    waiting: bool,
}

/// Everything measured in one replication. See the measure table for what the numbers mean.
#[derive(Clone, Debug)]
pub struct Measures {
    pub(super) from: Time,
    pub(super) limit_slots: i64,
    pub(super) counts: Counts,
    pub(super) accounts: Vec<AccountCounts>,
    /// Exposed waits of first executes that were served.
    pub(super) exposed_wait: Histogram,
    /// Their exact sum and number, and how many waited at all.
    pub(super) exposed_nanos: u128,
    pub(super) exposed_waits: u64,
    pub(super) exposed_waited: u64,
    /// The same of blocked claims that were refused.
    pub(super) refused_nanos: u128,
    pub(super) refused_waits: u64,
    /// The squares of all these waits, summed.
    pub(super) waited_square_nanos: u128,
    pub(super) start_nanos: u128,
    pub(super) hidden_nanos: u128,
    pub(super) bill: Bill,
    pub(super) over_time: Option<OverTime>,
    sandboxes: Vec<Option<SandboxSlot>>,
    conversations: Vec<ConversationSlot>,
    /// Executes that wait now.
    waiting: u64,
    pub(super) waiting_area: u128,
    waiting_since: Time,
    /// Sandboxes by state now, and the time they spent there.
    by_state: [u64; SandboxState::ALL.len()],
    pub(super) state_area: [u128; SandboxState::ALL.len()],
    /// Area under the square of the number of busy sandboxes, and when that number last changed.
    pub(super) busy_square_area: u128,
    busy_since: Time,
    pub(super) end: Time,
}

impl Measures {
    pub(crate) fn new(variant: &Variant, options: &RunOptions, accounts: usize) -> Self {
        Self {
            from: Time::ZERO.plus(options.warm_up),
            limit_slots: variant.server.max.slots,
            counts: Counts::default(),
            accounts: vec![AccountCounts::default(); accounts],
            exposed_wait: Histogram::new(),
            exposed_nanos: 0,
            exposed_waits: 0,
            exposed_waited: 0,
            refused_nanos: 0,
            refused_waits: 0,
            waited_square_nanos: 0,
            start_nanos: 0,
            hidden_nanos: 0,
            bill: Bill::new(variant, Time::ZERO.plus(options.warm_up)),
            over_time: options.bin.map(|bin| OverTime::new(bin, variant.server.max.slots)),
            sandboxes: Vec::new(),
            conversations: Vec::new(),
            waiting: 0,
            waiting_area: 0,
            waiting_since: Time::ZERO,
            by_state: [0; SandboxState::ALL.len()],
            state_area: [0; SandboxState::ALL.len()],
            busy_square_area: 0,
            busy_since: Time::ZERO,
            end: Time::ZERO.plus(options.duration),
        }
    }

    /// The counts.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    pub(crate) fn conversation_began(&mut self, at: Time) {
        self.counts.conversations += u64::from(self.counted(at));
    }

    #[inline]
    fn counted(&self, at: Time) -> bool {
        at >= self.from && at <= self.end
    }

    /// The part of `since..at` that is measured.
    #[inline]
    fn measured(&self, since: Time, at: Time) -> Span {
        at.min(self.end).since(since.max(self.from))
    }

    /// Takes one event in.
    #[inline]
    pub(crate) fn fold(&mut self, event: &Event) {
        if event.sandbox.is_some() {
            self.sandbox_event(event);
        }
        let counted = u64::from(self.counted(event.at));
        match event.kind {
            EventKind::TurnBegan => {
                self.counts.turns += counted;
                let slot = self.slot(event);
                slot.fresh = true;
                slot.refused = false;
            }
            EventKind::TurnEnded => {
                let slot = self.slot(event);
                let unserved = std::mem::take(&mut slot.fresh) && std::mem::take(&mut slot.refused);
                self.counts.unserved_turns += counted * u64::from(unserved);
            }
            EventKind::SandboxRequested if event.reason == Reason::Blocked => {
                self.begins_to_wait(event);
            }
            EventKind::ClaimBlocked => self.begins_to_wait(event),
            EventKind::SandboxBusy => self.let_go(event, counted),
            EventKind::SandboxUnavailable => self.refused(event, counted),
            EventKind::SandboxReplaced => self.counts.lost_files += counted,
            EventKind::SandboxCreated | EventKind::SandboxAdopted => {}
            EventKind::SandboxFailed => self.counts.failed_starts += counted,
            EventKind::SandboxDied => self.counts.deaths += counted,
            EventKind::SandboxReclaimed => self.counts.reclaimed += counted,
            EventKind::DriftDetected => self.counts.drifts += counted,
            EventKind::OrphanRemoved => self.counts.orphans_removed += counted,
            EventKind::IllegalTransition => self.counts.illegal += 1,
            EventKind::SandboxStarting => self.counts.created += counted,
            EventKind::LimitLowered | EventKind::LimitRestored | EventKind::Reconfigured => {}
            _ => {}
        }
    }

    fn slot(&mut self, event: &Event) -> &mut ConversationSlot {
        let index = event.conversation.map_or(0, Id::index);
        if self.conversations.len() <= index {
            self.conversations.resize(index + 1, ConversationSlot::default());
        }
        &mut self.conversations[index]
    }

    fn account(&mut self, account: Option<AccountId>) -> &mut AccountCounts {
        let index = account.map_or(0, |account| account.0 as usize);
        if self.accounts.len() <= index {
            self.accounts.resize(index + 1, AccountCounts::default());
        }
        &mut self.accounts[index]
    }

    #[inline]
    fn set_waiting(&mut self, at: Time, change: i64) {
        let passed = self.measured(self.waiting_since, at).as_nanos();
        self.waiting_area += u128::from(self.waiting) * u128::from(passed);
        self.waiting_since = at;
        self.waiting = self.waiting.saturating_add_signed(change);
        if let Some(over_time) = &mut self.over_time {
            over_time.waiting(at, self.waiting);
        }
    }

    fn begins_to_wait(&mut self, event: &Event) {
        let slot = self.slot(event);
        if !slot.waiting {
            slot.waiting = true;
            self.set_waiting(event.at, 1);
        }
    }

    fn ends_to_wait(&mut self, event: &Event) {
        let slot = self.slot(event);
        if slot.waiting {
            slot.waiting = false;
            self.set_waiting(event.at, -1);
        }
    }

    #[inline]
    fn let_go(&mut self, event: &Event, counted: u64) {
        self.ends_to_wait(event);
        self.counts.served += counted;
        let fresh = std::mem::take(&mut self.slot(event).fresh);
        let waited = event.span.as_nanos();
        let account = self.account(event.account);
        account.served += counted;
        if !fresh || counted == 0 {
            return;
        }
        account.waited_nanos += u128::from(waited);
        account.waits += 1;
        self.exposed_wait.record(waited);
        self.exposed_nanos += u128::from(waited);
        self.waited_square_nanos += u128::from(waited).pow(2);
        self.exposed_waits += 1;
        self.exposed_waited += u64::from(waited > 0);
        if let Some(sandbox) = event.sandbox
            && let Some(Some(slot)) = self.sandboxes.get_mut(sandbox.index())
        {
            // Counts once for a start: at its first use.
            let start = std::mem::take(&mut slot.cold_start).as_nanos();
            self.start_nanos += u128::from(start);
            self.hidden_nanos += u128::from(start - start.min(waited));
        }
    }

    fn refused(&mut self, event: &Event, counted: u64) {
        self.ends_to_wait(event);
        let slot = self.slot(event);
        slot.refused |= slot.fresh && event.reason != Reason::Cancelled;
        let counts = &mut self.counts;
        let of_reason = match event.reason {
            Reason::Full => &mut counts.full,
            Reason::CouldNotStart => &mut counts.could_not_start,
            Reason::NeverFits => &mut counts.never_fits,
            Reason::QueueTooLong => &mut counts.queue_too_long,
            Reason::Cancelled => &mut counts.cancelled,
            _ => &mut counts.shutting_down,
        };
        *of_reason += counted;
        if event.reason != Reason::Cancelled {
            self.account(event.account).refused += counted;
        }
        if counted > 0 {
            self.refused_nanos += u128::from(event.span.as_nanos());
            self.refused_waits += 1;
            self.waited_square_nanos += u128::from(event.span.as_nanos()).pow(2);
            if let Some(over_time) = &mut self.over_time {
                over_time.refused(event.at);
            }
        }
    }

    #[inline]
    fn sandbox_event(&mut self, event: &Event) {
        let Some(id) = event.sandbox else { return };
        let index = id.index();
        if self.sandboxes.len() <= index {
            self.sandboxes.resize(index + 1, None);
        }
        let (before, since) = match &mut self.sandboxes[index] {
            None => {
                self.sandboxes[index] = Some(SandboxSlot {
                    state: event.state,
                    class: event.class,
                    since: event.at,
                    cold_start: Span::ZERO,
                    assigned: Span::ZERO,
                });
                (None, event.at)
            }
            Some(slot) => (Some(slot.state), slot.since),
        };
        if before != Some(event.state) {
            self.changed(index, before, event.state, since, event.at);
        }
        match event.kind {
            EventKind::SandboxReady => self.noted_start(index, event.span),
            EventKind::SandboxAssigned => {
                let counted = u64::from(self.counted(event.at));
                if event.reason == Reason::WarmHit {
                    self.counts.warm_hits += counted;
                    self.noted_start(index, Span::ZERO);
                } else {
                    self.counts.cold_starts += counted;
                }
            }
            EventKind::SandboxDeleted => self.sandboxes[index] = None,
            _ => {}
        }
    }

    fn noted_start(&mut self, index: usize, span: Span) {
        if let Some(slot) = &mut self.sandboxes[index] {
            slot.cold_start = span;
        }
    }

    /// The time in a state goes to the state's area and to what it is paid for.
    #[inline]
    fn changed(
        &mut self,
        index: usize,
        before: Option<SandboxState>,
        after: SandboxState,
        since: Time,
        at: Time,
    ) {
        if before == Some(SandboxState::Busy) || after == SandboxState::Busy {
            self.add_busy_square(at);
        }
        let passed = self.measured(since, at);
        if let Some(before) = before {
            self.by_state[before as usize] -= 1;
            self.state_area[before as usize] += u128::from(passed.as_nanos());
        }
        if after != SandboxState::Deleted {
            self.by_state[after as usize] += 1;
        }
        if let Some(over_time) = &mut self.over_time {
            over_time.changed(at, before, after);
        }
        if let Some(slot) = &mut self.sandboxes[index] {
            slot.state = after;
            slot.since = at;
            if let Some(before) = before {
                self.bill.stayed(slot.class, before, after, passed, &mut slot.assigned);
            }
        }
    }

    /// The number of busy sandboxes is about to change.
    #[inline]
    fn add_busy_square(&mut self, at: Time) {
        let passed = self.measured(self.busy_since, at).as_nanos();
        let busy = u128::from(self.by_state[SandboxState::Busy as usize]);
        self.busy_square_area += busy * busy * u128::from(passed);
        self.busy_since = at;
    }

    /// Our server crashed: what it knew of sandboxes and waiters is gone.
    pub(crate) fn crash(&mut self, at: Time) {
        for index in 0..self.sandboxes.len() {
            if let Some(slot) = self.sandboxes[index] {
                self.changed(index, Some(slot.state), SandboxState::Deleted, slot.since, at);
                self.sandboxes[index] = None;
            }
        }
        let waiting = self.waiting;
        for slot in &mut self.conversations {
            *slot = ConversationSlot::default();
        }
        self.set_waiting(at, -(waiting as i64));
        if self.counted(at) {
            self.counts.shutting_down += waiting;
        }
    }

    /// The provider's bills of sandboxes: when billing began and ended, by class.
    pub(crate) fn bill(&mut self, bills: impl Iterator<Item = (ClassId, Option<(Time, Time)>)>) {
        for (class, billed) in bills {
            if let Some((from, until)) = billed {
                let span = self.measured(from, until);
                self.bill.provider(class, span);
            }
        }
    }

    /// The run is over: what still stands is counted up to here.
    pub(crate) fn finish(&mut self, end: Time) {
        for index in 0..self.sandboxes.len() {
            if let Some(slot) = self.sandboxes[index] {
                self.changed(index, Some(slot.state), SandboxState::Deleted, slot.since, end);
            }
        }
        self.set_waiting(end, 0);
        self.add_busy_square(end);
        if let Some(over_time) = &mut self.over_time {
            over_time.finish(end);
        }
    }

    /// Seconds that are measured.
    #[must_use]
    pub fn measured_seconds(&self) -> f64 {
        self.end.since(self.from).as_secs_f64()
    }
}
