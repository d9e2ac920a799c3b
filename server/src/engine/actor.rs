//! The task that owns the scheduler.

use super::answers::{Answered, Grant, Granted, Unavailable, UnderWay, UnderWays};
use super::command::{Command, Refused};
use super::operations::Hands;
use super::release::{self, Effect, Pending};
use super::scribe::{Named, Scribe};
use super::slots::Slots;
use super::step::{Outbox, Step};
use super::{Commit, Stopped};
use crate::clock::InstanceClock;
use crate::metrics::Fold;
use crate::store::{
    ConversationKey, NewConversation, OpenConversation, Recovery, StoreError, Write,
};
use sandpool_core::{
    AccountId, Clock, Config, ConversationId, Driver, Event, EventKind, ExecuteId, Id, Input,
    Operation, ProviderId, Reason, SandboxId, Scheduler, Span, Time, TurnId, Verb, WhyRejected,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

/// Inputs that are handled before what they caused is looked at for writing.
const MOST_IN_A_BATCH: usize = 256;

/// What nothing waits for is written at the latest after this long.
const LAZY: Span = Span::from_millis(10);

/// Commits under way at once: while one is synced, the next one gathers.
const MOST_IN_FLIGHT: usize = 2;

/// The last numbers of an open conversation: they count on from instance to instance.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    last_turn: TurnId,
    last_execute: ExecuteId,
}

pub(super) struct Actor<H> {
    driver: Driver<InstanceClock, Outbox>,
    commit: Commit,
    hands: Arc<H>,
    inbox: mpsc::Receiver<Command>,
    replies: mpsc::WeakSender<Command>,
    pending: mpsc::UnboundedSender<Pending>,
    releasing: JoinHandle<Result<(), StoreError>>,
    one_is_safe: Arc<Notify>,
    in_flight: Arc<AtomicUsize>,
    scribe: Scribe,
    slots: Slots,
    last_conversation: u64,
    numbers: Vec<Numbers>,
    under_way: UnderWays,
    events: VecDeque<Event>,
    effects: Vec<Effect>,
    fold: Fold,
    /// When what nothing waits for is written.
    lazy_at: Option<Time>,
    drains: Vec<oneshot::Sender<()>>,
}

type OpenOnes = Vec<(ConversationKey, AccountId, ConversationId)>;

impl<H: Hands> Actor<H> {
    #[expect(clippy::too_many_arguments, reason = "the parts of one engine, put together once")]
    pub(super) fn new(
        config: Config,
        recovery: &Recovery,
        commit: Commit,
        hands: Arc<H>,
        clock: InstanceClock,
        fold: Fold,
        inbox: mpsc::Receiver<Command>,
        replies: mpsc::WeakSender<Command>,
        safe_events: watch::Sender<u64>,
    ) -> (Self, OpenOnes) {
        let epoch = recovery.epoch + 1;
        let scribe = Scribe::new(epoch, clock, &config, recovery.last_event, recovery.last_journal);
        let (pending, to_release) = mpsc::unbounded_channel();
        let (one_is_safe, in_flight) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
        let releasing = tokio::spawn(release::release(
            to_release,
            Arc::clone(&hands),
            replies.clone(),
            Arc::clone(&one_is_safe),
            Arc::clone(&in_flight),
            safe_events,
            fold.metrics(),
        ));
        let scheduler = Scheduler::new(config, epoch, clock.now());
        let mut actor = Self {
            driver: Driver::new(scheduler, clock, Outbox::default()),
            commit,
            hands,
            inbox,
            replies,
            pending,
            releasing,
            one_is_safe,
            in_flight,
            scribe,
            slots: Slots::default(),
            last_conversation: recovery.last_conversation,
            numbers: Vec::new(),
            under_way: UnderWays::default(),
            events: VecDeque::new(),
            effects: Vec::new(),
            fold,
            lazy_at: None,
            drains: Vec::new(),
        };
        let open = actor.recover(recovery);
        (actor, open)
    }

    /// Runs until nobody holds a handle any more, or until something could not be written.
    pub(super) async fn run(mut self) -> Result<(), StoreError> {
        while self.flush().is_ok() {
            let wake = self.wake_at();
            let one_is_safe = Arc::clone(&self.one_is_safe);
            tokio::select! {
                biased;
                command = self.inbox.recv() => match command {
                    None => break,
                    Some(command) => self.take_batch(command),
                },
                () = one_is_safe.notified() => {}
                () = wait_until(wake) => {}
            }
            self.timeout();
        }
        // Whatever is still lazy is written before the end.
        let last = self.flush_all();
        drop(self.pending);
        let released = self.releasing.await;
        released.unwrap_or(Err(StoreError::Stopped))?;
        last.map_err(|Stopped| StoreError::Stopped)
    }

    pub(super) fn scheduler(&self) -> &Scheduler {
        self.driver.scheduler()
    }

    pub(super) fn provider_text(&self, provider: Option<ProviderId>) -> Option<String> {
        provider.and_then(|provider| self.hands.text_of(provider))
    }

    pub(super) fn seconds_in_state(&self, sandbox: SandboxId) -> Option<f64> {
        let since = self.fold.since(sandbox)?;
        Some(self.driver.clock().now().since(since).as_secs_f64())
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
        let mut step = Step { scribe: &mut self.scribe, events: &mut self.events, rejection: None };
        self.driver.input(input, &mut step);
        let rejection = step.rejection;
        self.look_at_events();
        rejection.map_or(Ok(()), |rejection| Err(Refused(rejection.why)))
    }

    fn timeout(&mut self) {
        let mut step = Step { scribe: &mut self.scribe, events: &mut self.events, rejection: None };
        self.driver.timeout(&mut step);
        self.look_at_events();
    }

    /// Tells the scheduler what the store has of earlier instances. Turns do not survive a
    /// restart: those that were open are ended.
    fn recover(&mut self, recovery: &Recovery) -> OpenOnes {
        let at_ms = self.driver.clock().wall_clock_ms();
        for execute in &recovery.executes {
            self.scribe.write(Write::FinishExecute {
                conversation: execute.conversation,
                execute: execute.execute,
                outcome: "unknown".to_owned(),
                result: "{}".to_owned(),
                at_ms,
            });
        }
        for turn in &recovery.turns {
            self.scribe.write(Write::EndTurn {
                conversation: turn.conversation,
                turn: turn.turn,
                reason: Reason::Recovery.name().to_owned(),
                at_ms,
            });
        }
        for request in &recovery.requests {
            self.scribe.interrupted(request);
        }
        let had_turn: BTreeSet<u64> = recovery.turns.iter().map(|turn| turn.conversation).collect();
        let mut by_number = BTreeMap::new();
        let mut open = Vec::new();
        for old in &recovery.conversations {
            let id = self.reopen(old);
            by_number.insert(old.number, id);
            open.push((old.key.clone(), AccountId(old.account), id));
        }
        self.tell_what_was_cut_off(recovery, &by_number);
        for sandbox in &recovery.sandboxes {
            let provider = sandbox.provider_id.as_deref().map(|text| self.hands.number_of(text));
            let class = self.driver.scheduler().config().class_named(&sandbox.class);
            let whose = sandbox.conversation.and_then(|number| by_number.get(&number).copied());
            // One that is nobody's, or of a class that is no more, is found by the inventory.
            let (Some(conversation), Some(class)) = (whose, class) else {
                self.scribe.left_over(sandbox, at_ms);
                if let Some(conversation) = whose {
                    self.lose_files(conversation, Reason::Recovery);
                }
                continue;
            };
            let unresolved = had_turn.contains(&conversation.sequence());
            // Neither can be refused: the conversations are fresh, and recovery has not ended.
            let _ = self.input(Input::Restore {
                conversation,
                sandbox: sandbox.name,
                provider,
                class,
                unresolved_execute: unresolved,
            });
            let view = self.driver.scheduler().conversation(conversation);
            if let Some(bound) = view.and_then(|view| view.sandbox) {
                self.scribe.was_bound(conversation, bound);
            } else {
                // It is destroyed, and the next instance would not know of it any more.
                self.scribe.files_lost(conversation, Some(Reason::Recovery));
            }
        }
        self.scribe.recovered();
        let _ = self.input(Input::Recovered);
        open
    }

    /// Ends of executes and turns that no instance has seen: the scheduler that knew them is gone,
    /// so that their events are made here.
    fn tell_what_was_cut_off(
        &mut self,
        recovery: &Recovery,
        by_number: &BTreeMap<u64, ConversationId>,
    ) {
        let number = |kept: u64| u32::try_from(kept).unwrap_or(u32::MAX);
        let executes = recovery
            .executes
            .iter()
            .map(|it| (it.conversation, TurnId(number(it.turn)), ExecuteId(number(it.execute))));
        let turns = recovery
            .turns
            .iter()
            .map(|it| (it.conversation, TurnId(number(it.turn)), ExecuteId(0)));
        for (whose, turn, execute) in executes.chain(turns) {
            if let Some(&id) = by_number.get(&whose) {
                let account = self.driver.scheduler().conversation(id).map(|view| view.account);
                let at = self.driver.clock().now();
                self.scribe.cut_off(id, account, turn, execute, at);
            }
        }
    }

    fn reopen(&mut self, old: &OpenConversation) -> ConversationId {
        let id = self.slots.take(old.number);
        let turn = TurnId(u32::try_from(old.last_turn).unwrap_or(u32::MAX));
        let execute = ExecuteId(u32::try_from(old.last_execute).unwrap_or(u32::MAX));
        self.remember(id, Numbers { last_turn: turn, last_execute: execute });
        self.scribe.remember(id, old.last_message, old.last_event);
        let account = AccountId(old.account);
        let _ = self.input(Input::OpenConversation { conversation: id, account });
        if let Some(reason) = old.files_lost {
            let _ = self.input(Input::FilesLost { conversation: id, reason });
        }
        id
    }

    fn lose_files(&mut self, conversation: ConversationId, reason: Reason) {
        let _ = self.input(Input::FilesLost { conversation, reason });
        self.scribe.files_lost(conversation, Some(reason));
    }

    fn remember(&mut self, id: ConversationId, numbers: Numbers) {
        if self.numbers.len() <= id.index() {
            self.numbers.resize_with(id.index() + 1, Numbers::default);
        }
        self.numbers[id.index()] = numbers;
    }

    fn is_open(&self, id: ConversationId) -> bool {
        self.driver.scheduler().conversation(id).is_some()
    }

    fn take(&mut self, command: Command) {
        match command {
            Command::Open { key, account, answer } => self.open(key, account, answer),
            Command::Append { conversation, turn, kind, call, text, answer } => {
                if self.is_open(conversation) {
                    let turn = u64::from(turn.0);
                    let sequence = self.scribe.append(conversation, turn, kind, call, text);
                    self.effects.push(Effect::Appended(answer, sequence));
                } else {
                    let _ = answer.send(Err(Refused(WhyRejected::UnknownConversation)));
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
            Command::EndTurn { conversation, turn, cancel, answered, answer } => {
                match self.input(Input::EndTurn { conversation, turn, cancel }) {
                    Ok(()) => self.follow(answered, Effect::Done(answer)),
                    Err(refused) => drop(answer.send(Err(refused))),
                }
            }
            Command::Acquire { conversation, turn, patience, answer } => {
                self.acquire(conversation, turn, patience, answer);
            }
            Command::Finish { conversation, execute, outcome, used, result, answered, answer } => {
                // Whoever finishes is not cut off.
                if self.under_way.take(conversation, execute).is_some() {
                    let ending = UnderWay::Ending { execute, result, answered, answer };
                    self.under_way.set(conversation, ending);
                    let input = Input::FinishExecute { conversation, execute, outcome, used };
                    if self.input(input).is_err() {
                        let now = self.driver.clock().now();
                        self.ended(conversation, execute, Reason::None, now);
                    }
                } else {
                    // It was cut off before, and its end is told already.
                    self.follow(answered, Effect::Ended(answer, Reason::Cancelled));
                }
            }
            Command::Cancel { conversation, answer } => {
                let numbers = self.numbers.get(conversation.index());
                let execute = numbers.map_or(ExecuteId(0), |numbers| numbers.last_execute);
                if self.is_open(conversation) && self.under_way.is_busy(conversation) {
                    // One that is over in the scheduler's eyes already needs no cancelling.
                    let _ = self.input(Input::CancelExecute { conversation, execute });
                }
                self.effects.push(Effect::Heard(answer));
            }
            Command::Safe { answer } => self.effects.push(Effect::Heard(answer)),
            Command::Explain { conversation, answer } => {
                let scheduler = self.driver.scheduler();
                let claim = scheduler.conversation(conversation).and_then(|view| view.claim);
                let _ = answer.send(claim.and_then(|(claim, _)| scheduler.explain(claim)));
            }
            Command::Settle { answer } => {
                let now = self.driver.clock().now();
                self.fold.settle(now, &self.driver.scheduler().capacity());
                let _ = answer.send(());
            }
            Command::Status { open, answer } => {
                let _ = answer.send(self.status(&open));
            }
            Command::Reconcile { answer } => {
                let _ = self.input(Input::Reconcile);
                let _ = answer.send(());
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

    fn open(
        &mut self,
        key: ConversationKey,
        account: AccountId,
        answer: oneshot::Sender<ConversationId>,
    ) {
        let number = self.last_conversation + 1;
        let id = self.slots.take(number);
        if account.0 >= sandpool_core::MAX_ACCOUNTS {
            self.slots.give_back(id);
            return; // The caller sees that nobody answers; accounts are made by the store.
        }
        self.last_conversation = number;
        self.remember(id, Numbers::default());
        let opened_ms = self.driver.clock().wall_clock_ms();
        self.scribe.open(id, NewConversation { number, key, account: account.0, opened_ms });
        let _ = self.input(Input::OpenConversation { conversation: id, account });
        self.effects.push(Effect::Opened(answer, id));
    }

    fn acquire(
        &mut self,
        conversation: ConversationId,
        turn: Option<TurnId>,
        patience: Option<Span>,
        answer: oneshot::Sender<Result<Granted, Refused>>,
    ) {
        let turn = match self.driver.scheduler().conversation(conversation) {
            None => Err(WhyRejected::UnknownConversation),
            Some(_) if self.under_way.is_busy(conversation) => Err(WhyRejected::ExecuteInProgress),
            Some(view) => turn.or(view.turn).ok_or(WhyRejected::NoSuchTurn),
        };
        let turn = match turn {
            Ok(turn) => turn,
            Err(why) => return drop(answer.send(Err(Refused(why)))),
        };
        let execute = ExecuteId(self.numbers[conversation.index()].last_execute.0 + 1);
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

    /// Draws the consequences of what the scheduler has just said.
    fn look_at_events(&mut self) {
        let mut files_lost = None;
        while let Some(event) = self.events.pop_front() {
            if event.kind == EventKind::SandboxReplaced {
                files_lost = event.conversation.map(|id| (id, event.reason));
            }
            let is_bound = event
                .conversation
                .zip(event.sandbox)
                .is_some_and(|(id, sandbox)| self.scribe.is_bound(id, sandbox));
            let sandbox = event.sandbox.and_then(|id| self.named(id));
            self.fold.event(&event);
            self.scribe.event(&event, sandbox.as_ref());
            self.look_at(&event, sandbox, is_bound, files_lost);
        }
        let operations = std::mem::take(&mut self.driver.provider_mut().operations);
        for operation in operations {
            self.operation(operation);
        }
    }

    fn named(&self, id: SandboxId) -> Option<Named> {
        let view = self.driver.scheduler().sandbox(id)?;
        let provider_id = view.provider.and_then(|provider| self.hands.text_of(provider));
        Some(Named { view, provider_id })
    }

    /// Lets something follow when all that was said before is safe, or at once.
    fn follow(&mut self, answered: Answered, effect: Effect) {
        match answered {
            Answered::WhenSafe => self.effects.push(effect),
            Answered::AtOnce => release::carry_out(effect, &self.hands, &self.replies),
        }
    }

    fn operation(&mut self, operation: Operation) {
        if operation.verb == Verb::Create {
            self.effects.push(Effect::Operation(operation));
        } else {
            // It makes nothing of which the store does not know.
            release::carry_out(Effect::Operation(operation), &self.hands, &self.replies);
        }
    }

    fn look_at(
        &mut self,
        event: &Event,
        sandbox: Option<Named>,
        is_bound: bool,
        files_lost: Option<(ConversationId, Reason)>,
    ) {
        match event.kind {
            EventKind::SandboxBusy if event.execute != ExecuteId(0) => {
                if let (Some(id), Some(sandbox)) = (event.conversation, sandbox) {
                    let lost = files_lost.filter(|&(whose, _)| whose == id);
                    self.go(id, event, &sandbox, !is_bound, lost.map(|(_, reason)| reason));
                }
            }
            EventKind::SandboxUnavailable => {
                if let Some(id) = event.conversation
                    && let Some(UnderWay::Waiting { answer, .. }) =
                        self.under_way.take(id, event.execute)
                {
                    let unavailable = Unavailable {
                        turn: event.turn,
                        reason: event.reason,
                        waited: event.span,
                        retry_after: self.retry_after(event.reason),
                    };
                    self.effects.push(Effect::Granted(answer, Granted::Unavailable(unavailable)));
                }
            }
            EventKind::ExecuteEnded => {
                if let Some(id) = event.conversation {
                    self.ended(id, event.execute, event.reason, event.at);
                }
            }
            EventKind::Drained => self.answer_drains(),
            _ => {}
        }
    }

    /// A sandbox may be used.
    fn go(
        &mut self,
        id: ConversationId,
        event: &Event,
        sandbox: &Named,
        is_first_use: bool,
        files_lost: Option<Reason>,
    ) {
        let Some(UnderWay::Waiting { execute, answer }) = self.under_way.take(id, event.execute)
        else {
            return;
        };
        let (cut_off, on_cut_off) = oneshot::channel();
        self.under_way.set(id, UnderWay::Running { execute, cut_off });
        let grant = Grant {
            turn: event.turn,
            execute,
            name: sandbox.view.name,
            provider: sandbox.view.provider.expect("a sandbox that is used was created"),
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
    fn ended(&mut self, id: ConversationId, execute: ExecuteId, reason: Reason, at: Time) {
        let result = match self.under_way.take(id, execute) {
            Some(UnderWay::Ending { answer, answered, result, .. }) => {
                self.follow(answered, Effect::Ended(answer, reason));
                result
            }
            Some(UnderWay::Running { cut_off, .. }) => {
                // Nobody may listen any more; then nobody needs to be cut off.
                let _ = cut_off.send(reason);
                "{}".to_owned()
            }
            Some(UnderWay::Waiting { .. }) | None => return,
        };
        self.scribe.finish_execute(id, execute, reason.name(), result, at);
    }

    /// When asking again makes sense.
    fn retry_after(&self, reason: Reason) -> Option<Span> {
        let config = self.driver.scheduler().config();
        let second = Span::from_secs(1);
        match reason {
            Reason::Full | Reason::QueueTooLong => Some(config.reclaim_idle.max(second)),
            Reason::CouldNotStart | Reason::ProviderFull | Reason::Recovery => {
                Some(config.retry_base.max(second))
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

    /// Hands over what must be safe soon, with what follows from it. While enough commits are
    /// under way, it gathers.
    fn flush(&mut self) -> Result<(), Stopped> {
        if self.pending.is_closed() {
            return Err(Stopped);
        }
        if self.scribe.is_empty() && self.effects.is_empty() {
            self.lazy_at = None;
            return Ok(());
        }
        let now = self.driver.clock().now();
        let is_urgent = !self.effects.is_empty() || self.scribe.is_urgent();
        let lazy_at = *self.lazy_at.get_or_insert(now.plus(LAZY));
        if !is_urgent && now < lazy_at {
            return Ok(());
        }
        if self.in_flight.load(Ordering::Acquire) >= MOST_IN_FLIGHT {
            self.lazy_at = None; // The next one that is safe wakes us.
            return Ok(());
        }
        self.flush_all()
    }

    fn flush_all(&mut self) -> Result<(), Stopped> {
        self.lazy_at = None;
        let effects = std::mem::take(&mut self.effects);
        if self.scribe.is_empty() && effects.is_empty() {
            return Ok(());
        }
        let commit = (!self.scribe.is_empty()).then(|| {
            self.in_flight.fetch_add(1, Ordering::AcqRel);
            ((self.commit)(self.scribe.take()), Instant::now())
        });
        let last_event = self.scribe.last_event();
        self.pending.send(Pending { commit, last_event, effects }).map_err(|_| Stopped)
    }
}

async fn wait_until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
