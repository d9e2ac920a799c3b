//! The state machine. Each file is one subject: a rule of the design can be found by its name.

mod admission;
mod backoff;
mod claims;
mod conversations;
mod death;
mod destroying;
mod drain;
mod executes;
mod explain;
mod idling;
mod invariants;
mod ledger;
mod limbo;
mod matching;
mod outputs;
mod queue;
mod reconcile;
mod reconfigure;
mod recovery;
mod relief;
mod replies;
mod small_set;
mod starting;
mod state;
mod timers;
mod views;
mod warm_pool;

pub use explain::{Explanation, WaitReason};
pub use timers::Due;
pub use views::{AccountView, Capacity, ClassView, ConversationView, SandboxView};

use crate::config::Config;
use crate::event::{Actor, Event, EventKind, Reason};
use crate::id::{
    AccountId, Arena, ClaimId, ClassId, ConversationId, ExecuteId, Id, OpId, ProviderId, SandboxId,
    TurnId,
};
use crate::input::Input;
use crate::lifecycle::{SandboxState, is_legal};
use crate::output::{Output, Rejection, WhyRejected};
use crate::provider::{Operation, SandboxName, Verb};
use crate::resources::Resources;
use crate::time::{Span, Time};
use idling::Idling;
use ledger::ProviderLedger;
use outputs::Outputs;
use queue::Queue;
use small_set::SmallSet;
use state::{Account, Claim, ClassState, Conversation, PendingOperation, Sandbox};
use std::collections::{BTreeMap, BTreeSet};
use timers::{Timer, Timers};

/// When the scheduler wants [`Scheduler::handle_timeout`] to be called, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// The instant.
    pub at: Time,
    /// The reason.
    pub reason: Due,
}

/// Where the scheduler itself is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The store is being read; nothing may be asked of the provider.
    Restoring,
    /// The provider's inventory is awaited; nothing may be admitted.
    Recovering,
    /// Business as usual.
    Running,
    /// Shutting down.
    Draining { leave_sandboxes: bool, until: Time },
    /// Shut down.
    Drained,
}

/// The scheduler: fed with inputs, polled for outputs. See the crate's documentation for the loop
/// around it.
#[derive(Clone, Debug)]
pub struct Scheduler {
    config: Config,
    epoch: u32,
    now: Time,
    phase: Phase,
    accounts: Vec<Account>,
    /// Accounts that hold more than their share.
    borrowers: usize,
    conversations: Vec<Option<Conversation>>,
    open_conversations: usize,
    claims: Arena<ClaimId, Claim>,
    sandboxes: Arena<SandboxId, Sandbox>,
    operations: Arena<OpId, PendingOperation>,
    classes: Vec<ClassState>,
    ledger: ProviderLedger,
    queue: Queue,
    /// Claims that only want another class in place of the sandbox that they have; few.
    swaps: Vec<ClaimId>,
    /// Claims that are refused unless the step in which they blocked serves them.
    cannot_wait: Vec<ClaimId>,
    /// Speculative holdings that a blocked claim may take: borrowers' first, latest first.
    revocable: SmallSet<(bool, std::cmp::Reverse<u64>, ClaimId)>,
    /// What they hold together.
    revocable_resources: Resources,
    idling: Idling,
    timers: Timers,
    /// Start permits in use.
    starting: i64,
    /// Sandboxes bound to a conversation, and those of them that are busy.
    leases: usize,
    busy: usize,
    /// How fast leases end.
    lease_ends: explain::Pace,
    /// The provider asked for a pause of all creates until then.
    create_not_before: Time,
    /// Unknown sandboxes seen at the provider, and since when.
    sightings: BTreeMap<ProviderId, Time>,
    /// While the store is read: the names that it has given.
    restored: BTreeSet<SandboxName>,
    /// When inventories are compared next.
    reconcile_at: Time,
    /// The inventory asked for, if one is under way.
    inventory: Option<OpId>,
    /// Counts orders of arrival and of admission.
    next_order: u64,
    /// Whether something changed that an admission, a start or the warm pool may depend on.
    dirty: bool,
    outputs: Outputs,
}

impl Scheduler {
    /// A scheduler of the pool's instance number `epoch` (durable: each restart uses a higher
    /// one). It asks nothing of the provider until [`Input::Recovered`].
    ///
    /// # Panics
    /// When `config` has no class or more than 64.
    #[must_use]
    pub fn new(config: Config, epoch: u32, now: Time) -> Self {
        assert!((1..=64).contains(&config.classes.len()), "1 to 64 classes");
        let classes = config.classes.iter().map(ClassState::new).collect::<Vec<_>>();
        let mut scheduler = Self {
            epoch,
            now,
            phase: Phase::Restoring,
            accounts: Vec::new(),
            borrowers: 0,
            conversations: Vec::new(),
            open_conversations: 0,
            claims: Arena::default(),
            sandboxes: Arena::default(),
            operations: Arena::default(),
            ledger: ProviderLedger::new(config.max),
            queue: Queue::new(config.queue_policy, classes.len()),
            swaps: Vec::new(),
            cannot_wait: Vec::new(),
            revocable: SmallSet::default(),
            revocable_resources: Resources::ZERO,
            idling: Idling::default(),
            timers: Timers::default(),
            starting: 0,
            leases: 0,
            busy: 0,
            lease_ends: explain::Pace::default(),
            create_not_before: Time::ZERO,
            sightings: BTreeMap::new(),
            restored: BTreeSet::new(),
            reconcile_at: Time::MAX,
            inventory: None,
            next_order: 1,
            dirty: false,
            outputs: Outputs::default(),
            classes,
            config,
        };
        scheduler.reconcile_next_at(now.plus(scheduler.config.reconcile));
        scheduler
    }

    /// Tells the scheduler that something happened. Drain [`Scheduler::poll`] to `None` before the
    /// next call. A `now` earlier than one given before counts as that one.
    pub fn handle(&mut self, now: Time, input: Input) {
        self.begin_step(now);
        match input {
            Input::OpenConversation { conversation, account } => {
                self.open_conversation(conversation, account);
            }
            Input::CloseConversation { conversation, cancel } => {
                self.close_conversation(conversation, cancel);
            }
            Input::BeginTurn { conversation, turn, class, likely_percent } => {
                self.begin_turn(conversation, turn, class, likely_percent);
            }
            Input::EndTurn { conversation, turn, cancel } => {
                self.end_turn_asked(conversation, turn, cancel);
            }
            Input::StartExecute { conversation, turn, execute, patience } => {
                self.start_execute(conversation, turn, execute, patience);
            }
            Input::FinishExecute { conversation, execute, outcome, used } => {
                self.finish_execute(conversation, execute, outcome, used);
            }
            Input::CancelExecute { conversation, execute } => {
                self.cancel_execute_asked(conversation, execute);
            }
            Input::Reply { op, reply } => self.reply(op, reply),
            Input::Restore { conversation, sandbox, provider, class, unresolved_execute } => {
                self.restore(conversation, sandbox, provider, class, unresolved_execute);
            }
            Input::FilesLost { conversation, reason } => self.files_lost(conversation, reason),
            Input::Recovered => self.recovered(),
            Input::Reconcile => self.reconcile_is_due(),
            Input::Reconfigure(config) => self.reconfigure(*config),
            Input::Drain { leave_sandboxes } => self.drain(leave_sandboxes),
        }
        self.end_step();
    }

    /// Lets everything happen that is due at `now`.
    pub fn handle_timeout(&mut self, now: Time) {
        self.begin_step(now);
        while let Some(deadline) = self.next_deadline()
            && deadline.at <= self.now
        {
            match deadline.reason {
                Due::IdleEnd => self.end_longest_idle(),
                Due::Reclaimable => {
                    self.unprotect_idle();
                    self.dirty = true;
                }
                _ => {
                    let (at, timer) = self.timers.first().expect("the deadline is a timer's");
                    self.timers.remove_first();
                    if self.is_live(at, timer) {
                        self.fire(timer);
                    }
                }
            }
        }
        self.end_step();
    }

    /// The next output, in the order in which things were decided.
    #[inline]
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.take().copied()
    }

    /// As [`Scheduler::poll`], but without a copy.
    #[inline]
    pub fn poll_ref(&mut self) -> Option<&Output> {
        self.outputs.take()
    }

    /// When to call [`Scheduler::handle_timeout`] next, unless an input comes first.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Deadline> {
        if self.phase == Phase::Drained {
            return None; // What was left is the next instance's.
        }
        let mut next = self.timers.first().map(|(at, timer)| Deadline { at, reason: timer.due() });
        for other in [self.idle_deadline(), self.reclaimable_deadline()].into_iter().flatten() {
            if next.is_none_or(|next| other.at < next.at) {
                next = Some(other);
            }
        }
        next
    }

    /// The settings in force.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The instant of the last step.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The instance number.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    fn begin_step(&mut self, now: Time) {
        debug_assert!(self.outputs.is_empty(), "drain the outputs before the next input");
        self.now = self.now.max(now);
    }

    fn end_step(&mut self) {
        if self.dirty {
            self.settle();
        }
        self.drop_stale_timers();
        self.prune_idling();
    }

    /// Makes the earliest timer a live one. One that goes stale at the front later only makes for a
    /// call in vain.
    fn drop_stale_timers(&mut self) {
        while let Some((at, timer)) = self.timers.unchecked_first()
            && !self.is_live(at, timer)
        {
            self.timers.pop_first();
            // Most timers are never needed, so that the next ones of its kind are nearly always
            // stale too: dropping them all at once saves looking for the earliest after each.
            let kind = timer.due();
            while let Some((at, timer)) = self.timers.front(kind)
                && !self.is_live(at, timer)
            {
                self.timers.pop_front(kind);
            }
            self.timers.look_for_first();
        }
    }

    /// Brings supply and demand together after anything changed: the one place where capacity is
    /// given out.
    fn settle(&mut self) {
        if self.phase == Phase::Running {
            loop {
                self.dirty = false;
                self.admit_blocked();
                // Whatever was taken, and whoever was refused, changes what others may have.
                if !self.relieve() && !self.refuse_who_cannot_wait() {
                    break;
                }
            }
            self.admit_speculative();
            self.start_admitted();
            self.replenish();
            self.watch_surplus();
        } else {
            self.refuse_who_cannot_wait();
            self.go_on_draining();
        }
        self.dirty = false;
    }

    /// Whether a timer still means something.
    fn is_live(&self, at: Time, timer: Timer) -> bool {
        match timer {
            Timer::Patience(id) => self.is_patience_live(id, at),
            Timer::ProbePatience(id) => self.is_probe_patience_live(id, at),
            Timer::ClaimStart(id) => self.is_claim_start_live(id, at),
            Timer::Start(id) => self
                .sandboxes
                .get(id)
                .is_some_and(|s| s.state.is_starting() && s.start_deadline == at),
            Timer::TurnTimeout(id) => {
                self.conversation_ref(id).is_some_and(|c| c.turn_timer_at == at)
            }
            Timer::KeepAlive(id) => self.sandboxes.get(id).is_some_and(|s| {
                s.keep_alive_at == at && (s.state.is_leased() || s.state == SandboxState::Warm)
            }),
            Timer::Operation(id) => self.operations.get(id).is_some_and(|op| op.deadline == at),
            Timer::Retry(id) => self.sandboxes.get(id).is_some_and(|s| s.retry_at == at),
            Timer::WarmAge(id) => self
                .sandboxes
                .get(id)
                .is_some_and(|s| s.state == SandboxState::Warm && s.warm_age_at == at),
            Timer::WarmSurplus(class) => {
                self.class(class).surplus_since.plus(self.config.warm_surplus) == at
            }
            Timer::StartGate(_) => true,
            Timer::Reconcile => self.reconcile_at == at,
            Timer::LimitRestore => self.ledger.lowered_until() == at,
            Timer::DrainGrace => matches!(self.phase, Phase::Draining { until, .. } if until == at),
        }
    }

    fn fire(&mut self, timer: Timer) {
        match timer {
            Timer::ProbePatience(id) => {
                self.refuse_without_claim(id, Reason::Recovery, Actor::Timer);
            }
            Timer::Patience(id) => {
                let reason = self.why_in_vain(self.claims[id].class);
                self.refuse(id, reason, Actor::Timer);
            }
            Timer::ClaimStart(id) => self.give_up_start(id, Actor::Timer),
            Timer::Start(id) => self.start_took_too_long(id),
            Timer::TurnTimeout(id) => self.turn_may_have_timed_out(id),
            Timer::KeepAlive(id) => self.keep_alive(id),
            Timer::Operation(id) => self.operation_took_too_long(id),
            Timer::Retry(id) => self.try_again(id),
            Timer::WarmAge(id) => self.destroy(id, Reason::WarmAge, Actor::Timer),
            Timer::WarmSurplus(class) => self.end_surplus(class),
            Timer::StartGate(_) => self.dirty = true,
            Timer::Reconcile => self.reconcile_is_due(),
            Timer::LimitRestore => self.restore_limit(),
            Timer::DrainGrace => self.drain_grace_ended(),
        }
    }

    // ---- small helpers that every subject uses ----

    #[inline]
    fn class(&self, class: ClassId) -> &ClassState {
        &self.classes[class.0 as usize]
    }

    #[inline]
    fn class_mut(&mut self, class: ClassId) -> &mut ClassState {
        &mut self.classes[class.0 as usize]
    }

    fn class_ids(&self) -> impl Iterator<Item = ClassId> + use<> {
        (0..self.classes.len() as u16).map(ClassId)
    }

    #[inline]
    fn account(&self, account: AccountId) -> &Account {
        &self.accounts[account.0 as usize]
    }

    #[inline]
    fn account_mut(&mut self, account: AccountId) -> &mut Account {
        &mut self.accounts[account.0 as usize]
    }

    #[inline]
    fn conversation_ref(&self, id: ConversationId) -> Option<&Conversation> {
        self.conversations.get(id.index())?.as_ref().filter(|conversation| conversation.id == id)
    }

    #[inline]
    fn conversation_mut(&mut self, id: ConversationId) -> Option<&mut Conversation> {
        self.conversations
            .get_mut(id.index())?
            .as_mut()
            .filter(|conversation| conversation.id == id)
    }

    /// A conversation that the scheduler itself refers to, so that it must be open.
    #[inline]
    fn known_conversation(&mut self, id: ConversationId) -> &mut Conversation {
        self.conversation_mut(id).expect("a referenced conversation is open")
    }

    fn order(&mut self) -> u64 {
        let order = self.next_order;
        self.next_order += 1;
        order
    }

    /// Says that something happened that concerns no conversation and no sandbox.
    fn tell(&mut self, kind: EventKind, reason: Reason, actor: Actor, span: Span) {
        self.outputs.event(self.now, kind, reason, actor).span = span;
    }

    fn tell_class(&mut self, kind: EventKind, reason: Reason, class: ClassId, span: Span) {
        let event = self.outputs.event(self.now, kind, reason, Actor::Scheduler);
        event.span = span;
        event.class = class;
    }

    /// Gives the event, for what else there is to tell.
    #[inline]
    fn tell_conversation(
        &mut self,
        kind: EventKind,
        reason: Reason,
        actor: Actor,
        id: ConversationId,
    ) -> &mut Event {
        let event = self.outputs.event(self.now, kind, reason, actor);
        about_conversation(event, &self.conversations, id);
        event
    }

    fn tell_claim(
        &mut self,
        kind: EventKind,
        reason: Reason,
        actor: Actor,
        id: ClaimId,
        span: Span,
    ) {
        let claim = &self.claims[id];
        let event = self.outputs.event(self.now, kind, reason, actor);
        event.claim = Some(id);
        event.class = claim.class;
        event.span = span;
        about_conversation(event, &self.conversations, claim.conversation);
    }

    /// Says that something happened to a sandbox, in the state that it has now.
    fn tell_sandbox(
        &mut self,
        kind: EventKind,
        reason: Reason,
        actor: Actor,
        id: SandboxId,
        claim: Option<ClaimId>,
        span: Span,
    ) {
        let sandbox = &self.sandboxes[id];
        let event = self.outputs.event(self.now, kind, reason, actor);
        event.sandbox = Some(id);
        event.class = sandbox.class;
        event.state = sandbox.state;
        event.claim = claim;
        event.span = span;
        if let Some(conversation) = sandbox.conversation {
            about_conversation(event, &self.conversations, conversation);
        }
    }

    /// Changes a sandbox's state along an edge of the life-cycle table. An edge that the table does
    /// not have is a bug: tests and fault search stop, production reports it and goes on, except
    /// that capacity is not given back on such an edge.
    #[track_caller]
    fn transition(&mut self, id: SandboxId, to: SandboxState) {
        let from = self.sandboxes[id].state;
        if !is_legal(from, to) {
            debug_assert!(false, "illegal transition of sandbox {id}: {from:?} -> {to:?}");
            self.tell_sandbox(
                EventKind::IllegalTransition,
                Reason::None,
                Actor::Scheduler,
                id,
                None,
                Span::ZERO,
            );
            if to == SandboxState::Deleted {
                return;
            }
        }
        self.leases = self.leases + usize::from(to.is_leased()) - usize::from(from.is_leased());
        let is_busy = |state| usize::from(state == SandboxState::Busy);
        self.busy = self.busy + is_busy(to) - is_busy(from);
        self.sandboxes[id].state = to;
    }

    /// Asks something about a sandbox of the provider. `deadline` bounds the wait for the answer.
    fn submit(&mut self, verb: Verb, id: SandboxId, deadline: Time) -> OpId {
        let now = self.now;
        let op = self.operations.insert_with(|_| PendingOperation {
            verb,
            sandbox: Some(id),
            submitted_at: now,
            deadline,
        });
        self.timers.set(deadline, Timer::Operation(op));
        let sandbox = &self.sandboxes[id];
        self.outputs.operation(Operation {
            op,
            verb,
            sandbox: Some(id),
            name: sandbox.name,
            provider: sandbox.provider,
            class: sandbox.class,
            conversation: sandbox.conversation,
        });
        op
    }

    /// Forgets the operation under way that decides the sandbox's fate: whatever comes of it does
    /// not matter any more.
    fn drop_operation(&mut self, id: SandboxId) {
        if let Some(op) = self.sandboxes[id].op.take() {
            self.operations.remove(op);
        }
    }

    fn submit_find_all(&mut self) {
        let deadline = self.now.plus(self.config.operation_timeout);
        let now = self.now;
        let op = self.operations.insert_with(|_| PendingOperation {
            verb: Verb::FindAll,
            sandbox: None,
            submitted_at: now,
            deadline,
        });
        self.timers.set(deadline, Timer::Operation(op));
        self.inventory = Some(op);
        self.outputs.operation(Operation {
            op,
            verb: Verb::FindAll,
            sandbox: None,
            name: SandboxName { epoch: self.epoch, sequence: 0 },
            provider: None,
            class: ClassId(0),
            conversation: None,
        });
    }

    fn reject(&mut self, why: WhyRejected, conversation: ConversationId) {
        self.reject_with(why, Some(conversation), TurnId(0), ExecuteId(0));
    }

    fn reject_with(
        &mut self,
        why: WhyRejected,
        conversation: Option<ConversationId>,
        turn: TurnId,
        execute: ExecuteId,
    ) {
        self.outputs.rejection(Rejection { why, conversation, turn, execute });
    }
}

/// Whose conversation it is, and what is under way in it.
#[inline]
fn about_conversation(
    event: &mut Event,
    conversations: &[Option<Conversation>],
    id: ConversationId,
) {
    event.conversation = Some(id);
    if let Some(Some(conversation)) = conversations.get(id.index())
        && conversation.id == id
    {
        event.account = Some(conversation.account);
        if let Some(turn) = &conversation.turn {
            event.turn = turn.id;
            event.execute = turn.execute.map_or(ExecuteId(0), |execute| execute.id);
        }
    }
}
