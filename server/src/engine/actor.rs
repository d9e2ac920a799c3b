//! The task that owns the scheduler.

use super::Stopped;
use super::answers::{Grant, Granted, Unavailable, UnderWay, UnderWays};
use super::command::{Command, Refused, Settings};
use super::ledger::{Batch, Binding, Intent, Ledger, LedgerError};
use super::operations::Hands;
use super::recovery::Found;
use super::release::{self, Effect, Pending};
use super::slots::Slots;
use super::step::{Outbox, Step};
use crate::clock::InstanceClock;
use sandpool_core::{
    Clock, ConversationId, Driver, Event, EventKind, ExecuteId, Id, Input, Operation, Reason,
    SandboxId, Scheduler, Span, Time, TurnId, Verb, WhyRejected,
};
use sandpool_sim::{Line, What};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

/// Inputs that are handled before what they caused is handed to the ledger.
const MOST_IN_A_BATCH: usize = 256;

/// What nothing waits for is written at the latest after this long.
const LAZY: Span = Span::from_millis(50);

/// What the engine remembers of an open conversation beside the scheduler.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    last_turn: TurnId,
    last_execute: ExecuteId,
    /// The used sandbox that the ledger has for it.
    bound: Option<SandboxId>,
}

pub(super) struct Actor<L, H> {
    driver: Driver<InstanceClock, Outbox>,
    ledger: Arc<L>,
    hands: Arc<H>,
    inbox: mpsc::Receiver<Command>,
    replies: mpsc::WeakSender<Command>,
    pending: mpsc::UnboundedSender<Pending>,
    releasing: JoinHandle<Result<(), LedgerError>>,
    slots: Slots,
    numbers: Vec<Numbers>,
    under_way: UnderWays,
    step: Step,
    effects: Vec<Effect>,
    /// Sandboxes that may exist, by name: when one is gone, the scheduler has forgotten it.
    names: BTreeMap<SandboxId, Intent>,
    /// When what nothing waits for is written.
    lazy_at: Option<Time>,
    drains: Vec<oneshot::Sender<()>>,
}

impl<L: Ledger, H: Hands> Actor<L, H> {
    pub(super) fn new(
        settings: Settings,
        found: Found,
        ledger: Arc<L>,
        hands: Arc<H>,
        clock: InstanceClock,
        inbox: mpsc::Receiver<Command>,
        replies: mpsc::WeakSender<Command>,
    ) -> Self {
        let scheduler = Scheduler::new(settings.config, settings.epoch, clock.now());
        let (pending, to_release) = mpsc::unbounded_channel();
        let releasing =
            tokio::spawn(release::release(to_release, Arc::clone(&hands), replies.clone()));
        let mut actor = Self {
            driver: Driver::new(scheduler, clock, Outbox::default()),
            ledger,
            hands,
            inbox,
            replies,
            pending,
            releasing,
            slots: Slots::default(),
            numbers: Vec::new(),
            under_way: UnderWays::default(),
            step: Step::default(),
            effects: Vec::new(),
            names: BTreeMap::new(),
            lazy_at: None,
            drains: Vec::new(),
        };
        let at = actor.driver.clock().now();
        actor.step.batch.journal.push(Line { at, what: What::Instance(settings.epoch) });
        actor.recover(found);
        actor
    }

    /// Runs until it has drained and nobody holds a handle any more, or until something could not
    /// be written.
    pub(super) async fn run(mut self) -> Result<(), LedgerError> {
        while self.flush().is_ok() {
            let wake = self.wake_at();
            tokio::select! {
                biased;
                command = self.inbox.recv() => match command {
                    None => break,
                    Some(command) => self.take_batch(command),
                },
                () = wait_until(wake) => {}
            }
            self.driver.timeout(&mut self.step);
            self.look_at_events();
        }
        // Whatever is still lazy is written before the end.
        let last = self.flush_all();
        drop(self.pending);
        let released =
            self.releasing.await.unwrap_or_else(|failed| Err(LedgerError(failed.to_string())));
        released.and(last.map_err(|Stopped| LedgerError("an earlier commit failed".to_owned())))
    }

    fn wake_at(&self) -> Option<Instant> {
        let deadline = self.driver.next_deadline().map(|deadline| deadline.at);
        let first = [deadline, self.lazy_at].into_iter().flatten().min()?;
        Some(self.driver.clock().instant(first))
    }

    fn take_batch(&mut self, first: Command) {
        self.take(first);
        for _ in 1..MOST_IN_A_BATCH {
            let Ok(command) = self.inbox.try_recv() else { break };
            self.take(command);
        }
    }

    fn input(&mut self, input: Input) -> Result<(), Refused> {
        self.step.rejection = None;
        self.driver.input(input, &mut self.step);
        self.look_at_events();
        match self.step.rejection.take() {
            None => Ok(()),
            Some(rejection) => Err(Refused(rejection.why)),
        }
    }

    /// Tells the scheduler what the store has of earlier instances.
    fn recover(&mut self, found: Found) {
        for old in found.conversations {
            let conversation = self.slots.take(old.number);
            self.remember(conversation, old.last_turn, old.last_execute);
            // Neither can be refused: the places are fresh and recovery has not ended.
            let _ = self.input(Input::OpenConversation { conversation, account: old.account });
            if let Some(sandbox) = old.sandbox {
                let _ = self.input(Input::Restore {
                    conversation,
                    sandbox: sandbox.name,
                    provider: sandbox.provider,
                    class: sandbox.class,
                    unresolved_execute: sandbox.turn_was_open,
                });
                let bound = self.driver.scheduler().conversation(conversation);
                self.numbers[conversation.index()].bound = bound.and_then(|view| view.sandbox);
                if self.numbers[conversation.index()].bound.is_none() {
                    self.step.batch.bindings.push((conversation, None));
                }
            }
        }
        let _ = self.input(Input::Recovered);
    }

    fn remember(&mut self, id: ConversationId, last_turn: TurnId, last_execute: ExecuteId) {
        if self.numbers.len() <= id.index() {
            self.numbers.resize_with(id.index() + 1, Numbers::default);
        }
        self.numbers[id.index()] = Numbers { last_turn, last_execute, bound: None };
    }

    fn is_open(&self, id: ConversationId) -> bool {
        self.driver.scheduler().conversation(id).is_some()
    }

    fn take(&mut self, command: Command) {
        match command {
            Command::Open { number, account, answer } => {
                let id = self.slots.take(number);
                self.remember(id, TurnId(0), ExecuteId(0));
                if self.input(Input::OpenConversation { conversation: id, account }).is_ok() {
                    self.effects.push(Effect::Opened(answer, id));
                } else {
                    self.slots.give_back(id);
                }
            }
            Command::Close { conversation, cancel, answer } => {
                match self.input(Input::CloseConversation { conversation, cancel }) {
                    Ok(()) => {
                        self.slots.give_back(conversation);
                        self.effects.push(Effect::Done(answer));
                    }
                    Err(refused) => drop(answer.send(Err(refused))),
                }
            }
            Command::BeginTurn { conversation, class, likely_percent, answer } => {
                let last = self.numbers.get(conversation.index()).map(|numbers| numbers.last_turn);
                let turn = TurnId(last.unwrap_or_default().0 + 1);
                match self.input(Input::BeginTurn { conversation, turn, class, likely_percent }) {
                    Ok(()) => {
                        self.numbers[conversation.index()].last_turn = turn;
                        self.effects.push(Effect::Began(answer, turn));
                    }
                    Err(refused) => drop(answer.send(Err(refused))),
                }
            }
            Command::EndTurn { conversation, turn, cancel, answer } => {
                match self.input(Input::EndTurn { conversation, turn, cancel }) {
                    Ok(()) => self.effects.push(Effect::Done(answer)),
                    Err(refused) => drop(answer.send(Err(refused))),
                }
            }
            Command::Acquire { conversation, turn, patience, answer } => {
                self.acquire(conversation, turn, patience, answer);
            }
            Command::Finish { conversation, execute, outcome, used, answer } => {
                // Whoever finishes is not cut off.
                let running = self.under_way.take(conversation, execute);
                if running.is_some() {
                    self.under_way.set(conversation, UnderWay::Ending { execute, answer });
                    let input = Input::FinishExecute { conversation, execute, outcome, used };
                    if self.input(input).is_err() {
                        self.ended(conversation, execute, Reason::None);
                    }
                } else {
                    // It was cut off before, and its end is told already.
                    self.effects.push(Effect::Ended(answer, Reason::Cancelled));
                }
            }
            Command::Cancel { conversation, execute, answer } => {
                // One that is over already needs no cancelling.
                let _ = self.input(Input::CancelExecute { conversation, execute });
                self.effects.push(Effect::Heard(answer));
            }
            Command::Explain { conversation, answer } => {
                let scheduler = self.driver.scheduler();
                let claim = scheduler.conversation(conversation).and_then(|view| view.claim);
                let _ = answer.send(claim.and_then(|(claim, _)| scheduler.explain(claim)));
            }
            Command::Capacity { answer } => {
                let _ = answer.send(self.driver.scheduler().capacity());
            }
            Command::Drain { leave_sandboxes, answer } => {
                self.drains.push(answer);
                let _ = self.input(Input::Drain { leave_sandboxes });
                self.answer_drains();
            }
            Command::Reply { op, reply } => {
                let _ = self.input(Input::Reply { op, reply });
            }
        }
    }

    fn acquire(
        &mut self,
        conversation: ConversationId,
        turn: TurnId,
        patience: Option<Span>,
        answer: oneshot::Sender<Result<Granted, Refused>>,
    ) {
        if !self.is_open(conversation) {
            drop(answer.send(Err(Refused(WhyRejected::UnknownConversation))));
            return;
        }
        let numbers = &mut self.numbers[conversation.index()];
        let execute = ExecuteId(numbers.last_execute.0 + 1);
        let busy = self.under_way.is_busy(conversation);
        if busy {
            drop(answer.send(Err(Refused(WhyRejected::ExecuteInProgress))));
            return;
        }
        self.under_way.set(conversation, UnderWay::Waiting { execute, answer });
        let input = Input::StartExecute { conversation, turn, execute, patience };
        match self.input(input) {
            Ok(()) => self.numbers[conversation.index()].last_execute = execute,
            Err(refused) => {
                if let Some(UnderWay::Waiting { answer, .. }) =
                    self.under_way.take(conversation, execute)
                {
                    drop(answer.send(Err(refused)));
                }
            }
        }
    }

    /// Draws the consequences of what the scheduler has said since the last look.
    fn look_at_events(&mut self) {
        let mut files_lost = None;
        while let Some(event) = self.step.batch.events.get(self.step.looked_at).copied() {
            self.step.looked_at += 1;
            if event.kind == EventKind::SandboxReplaced {
                files_lost = event.conversation.map(|id| (id, event.reason));
            }
            self.look_at(&event, files_lost);
        }
        let operations = std::mem::take(&mut self.driver.provider_mut().operations);
        for operation in operations {
            self.operation(operation);
        }
    }

    fn operation(&mut self, operation: Operation) {
        if operation.verb == Verb::Create {
            self.effects.push(Effect::Operation(operation));
        } else {
            // It changes nothing that the ledger does not know already.
            release::carry_out(Effect::Operation(operation), &self.hands, &self.replies);
        }
    }

    fn look_at(&mut self, event: &Event, files_lost: Option<(ConversationId, Reason)>) {
        match event.kind {
            EventKind::SandboxBusy if event.execute != ExecuteId(0) => {
                if let (Some(id), Some(sandbox)) = (event.conversation, event.sandbox) {
                    let lost = files_lost.filter(|&(whose, _)| whose == id);
                    self.go(id, event, sandbox, lost.map(|(_, reason)| reason));
                }
            }
            EventKind::SandboxUnavailable => {
                if let Some(id) = event.conversation
                    && let Some(UnderWay::Waiting { answer, .. }) =
                        self.under_way.take(id, event.execute)
                {
                    let unavailable = Unavailable {
                        reason: event.reason,
                        waited: event.span,
                        retry_after: self.retry_after(event.reason),
                    };
                    self.effects.push(Effect::Granted(answer, Granted::Unavailable(unavailable)));
                }
            }
            EventKind::ExecuteEnded => {
                if let Some(id) = event.conversation {
                    self.ended(id, event.execute, event.reason);
                }
            }
            EventKind::SandboxStarting | EventKind::OrphanFound => self.may_exist(event),
            EventKind::SandboxDied | EventKind::SandboxDestroying => {
                self.may_exist(event);
                if let Some(id) = event.conversation {
                    self.unbound(id, event.sandbox);
                }
            }
            EventKind::SandboxDeleted => {
                let gone = event.sandbox.and_then(|sandbox| self.names.remove(&sandbox));
                self.step.batch.settled.extend(gone);
            }
            EventKind::Drained => self.answer_drains(),
            _ => {}
        }
    }

    /// Notes a sandbox's name, for the moment in which it is confirmed gone.
    fn may_exist(&mut self, event: &Event) {
        if let Some(view) = event.sandbox.and_then(|id| self.driver.scheduler().sandbox(id)) {
            self.names.insert(view.id, Intent { name: view.name, class: view.class });
        }
    }

    /// A sandbox may be used.
    fn go(
        &mut self,
        id: ConversationId,
        event: &Event,
        sandbox: SandboxId,
        files_lost: Option<Reason>,
    ) {
        let Some(view) = self.driver.scheduler().sandbox(sandbox) else { return };
        let is_first_use = self.numbers[id.index()].bound != Some(sandbox);
        if is_first_use {
            self.numbers[id.index()].bound = Some(sandbox);
            let binding = Binding { name: view.name, class: view.class, provider: view.provider };
            self.step.batch.bindings.push((id, Some(binding)));
        }
        let Some(UnderWay::Waiting { execute, answer }) = self.under_way.take(id, event.execute)
        else {
            return;
        };
        let (cut_off, on_cut_off) = oneshot::channel();
        self.under_way.set(id, UnderWay::Running { execute, cut_off });
        let grant = Grant {
            execute,
            name: view.name,
            provider: view.provider.expect("a sandbox that is used was created"),
            class: view.class,
            waited: event.span,
            files_lost,
            cut_off: on_cut_off,
        };
        let effect = Effect::Granted(answer, Granted::Go(grant));
        if is_first_use {
            self.effects.push(effect); // Not before the next instance would know whose it is.
        } else {
            release::carry_out(effect, &self.hands, &self.replies);
        }
    }

    /// An execute is over: its end is told to who finished it, or cuts off who is still at it.
    fn ended(&mut self, id: ConversationId, execute: ExecuteId, reason: Reason) {
        match self.under_way.take(id, execute) {
            Some(UnderWay::Ending { answer, .. }) => {
                self.effects.push(Effect::Ended(answer, reason));
            }
            // Nobody listens any more: nobody needs to be cut off.
            Some(UnderWay::Running { cut_off, .. }) => {
                let _ = cut_off.send(reason);
            }
            Some(UnderWay::Waiting { .. }) | None => {}
        }
    }

    fn unbound(&mut self, id: ConversationId, sandbox: Option<SandboxId>) {
        if let Some(numbers) = self.numbers.get_mut(id.index())
            && numbers.bound.is_some()
            && numbers.bound == sandbox
        {
            numbers.bound = None;
            self.step.batch.bindings.push((id, None));
        }
    }

    /// When asking again makes sense: when somebody's lease has likely ended.
    fn retry_after(&self, reason: Reason) -> Option<Span> {
        let config = self.driver.scheduler().config();
        match reason {
            Reason::Full | Reason::QueueTooLong => {
                Some(config.reclaim_idle.max(Span::from_secs(1)))
            }
            Reason::CouldNotStart | Reason::ProviderFull | Reason::Recovery => {
                Some(config.retry_base.max(Span::from_secs(1)))
            }
            _ => None,
        }
    }

    fn answer_drains(&mut self) {
        if self.driver.scheduler().is_drained() {
            let drains = std::mem::take(&mut self.drains);
            self.effects.extend(drains.into_iter().map(Effect::Heard));
        }
    }

    /// Hands over what must be durable soon, with what follows from it.
    fn flush(&mut self) -> Result<(), Stopped> {
        let now = self.driver.clock().now();
        if self.step.batch.is_empty() && self.effects.is_empty() {
            self.lazy_at = None;
            return self.still_releasing();
        }
        let is_urgent = !self.effects.is_empty() || self.step.batch.must_be_durable();
        let lazy_at = *self.lazy_at.get_or_insert(now.plus(LAZY));
        if is_urgent || now >= lazy_at { self.flush_all() } else { self.still_releasing() }
    }

    fn still_releasing(&self) -> Result<(), Stopped> {
        if self.pending.is_closed() { Err(Stopped) } else { Ok(()) }
    }

    fn flush_all(&mut self) -> Result<(), Stopped> {
        self.lazy_at = None;
        let batch: Batch = std::mem::take(&mut self.step.batch);
        self.step.looked_at = 0;
        let effects = std::mem::take(&mut self.effects);
        if batch.is_empty() && effects.is_empty() {
            return self.still_releasing();
        }
        let commit = (!batch.is_empty()).then(|| {
            let commit: std::pin::Pin<Box<dyn Future<Output = Result<(), LedgerError>> + Send>> =
                Box::pin(self.ledger.commit(batch));
            commit
        });
        self.pending.send(Pending { commit, effects }).map_err(|_| Stopped)
    }
}

async fn wait_until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
