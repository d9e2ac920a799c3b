//! Histories that once went wrong, each as small as it could be made and named for what it shows.

use sandpool_core::{
    AccountId, ClassId, Config, ConversationId, Event, EventKind, ExecuteId, Id, Input, Inventory,
    Operation, Output, ProviderId, Reply, Scheduler, Span, Time, TurnId, Verb,
};

/// A scheduler that is told things by hand; remembers what it said.
struct Hand {
    scheduler: Scheduler,
    now: Time,
    asked: Vec<Operation>,
    events: Vec<Event>,
}

impl Hand {
    /// A scheduler that has found nothing at the provider and is ready.
    fn new(config: Config) -> Self {
        let mut hand = Self::starting(config);
        hand.tell(Input::Recovered);
        let list = Inventory { complete: true, items: Vec::new() };
        hand.reply(Verb::FindAll, Reply::Inventory(list));
        hand
    }

    /// A scheduler that reads its store.
    fn starting(config: Config) -> Self {
        Self {
            scheduler: Scheduler::new(config, 1, Time::ZERO),
            now: Time::ZERO,
            asked: Vec::new(),
            events: Vec::new(),
        }
    }

    fn drain(&mut self) {
        while let Some(output) = self.scheduler.poll() {
            match output {
                Output::Event(event) => self.events.push(event),
                Output::Operation(operation) => self.asked.push(operation),
                Output::Rejected(rejection) => panic!("rejected: {rejection:?}"),
            }
        }
        self.scheduler.invariants().expect("every invariant holds");
    }

    fn tell(&mut self, input: Input) {
        self.scheduler.handle(self.now, input);
        self.drain();
    }

    /// Answers the oldest question of the verb.
    fn reply(&mut self, verb: Verb, reply: Reply) {
        let place = self.asked.iter().position(|asked| asked.verb == verb);
        let place = place.unwrap_or_else(|| panic!("no {verb:?} is under way"));
        let op = self.asked.remove(place).op;
        self.tell(Input::Reply { op, reply });
    }

    /// Lets time pass, deadline by deadline.
    fn wait_until(&mut self, until: Time) {
        while let Some(deadline) = self.scheduler.next_deadline().filter(|it| it.at <= until) {
            self.now = self.now.max(deadline.at);
            self.scheduler.handle_timeout(self.now);
            self.drain();
        }
        self.now = until;
    }

    fn open(&mut self, conversation: u64, account: u32) -> ConversationId {
        let id = ConversationId::new(conversation, conversation as u32);
        self.tell(Input::OpenConversation { conversation: id, account: AccountId(account) });
        id
    }

    fn begin(&mut self, conversation: ConversationId, turn: u32, class: u16) {
        self.tell(Input::BeginTurn {
            conversation,
            turn: TurnId(turn),
            class: ClassId(class),
            likely_percent: None,
        });
    }

    fn execute(&mut self, conversation: ConversationId, turn: u32, execute: u32) {
        self.tell(Input::StartExecute {
            conversation,
            turn: TurnId(turn),
            execute: ExecuteId(execute),
            patience: None,
        });
    }

    fn count(&self, kind: EventKind) -> usize {
        self.events.iter().filter(|event| event.kind == kind).count()
    }
}

/// One class without a prepare step and without a warm pool.
fn plain() -> Config {
    let mut config = Config::default();
    config.classes[0].prepares = false;
    config.classes[0].warm_sandboxes = 0;
    config
}

#[test]
fn an_adopted_limbo_sandbox_frees_what_was_promised() {
    let mut config = plain();
    config.max.slots = 2;
    config.start_timeout = Span::from_secs(1);
    let mut hand = Hand::new(config);
    let (first, second) = (hand.open(1, 1), hand.open(2, 2));
    hand.begin(first, 1, 0);
    hand.execute(first, 1, 1);
    // The create is never answered in time: its sandbox is in limbo, the execute is refused.
    hand.wait_until(Time::from_secs(1));
    assert_eq!(hand.count(EventKind::SandboxLimbo), 1);
    hand.execute(first, 1, 2);
    hand.begin(second, 1, 0);
    hand.execute(second, 1, 1);
    // Too late, but true: what was promised to the first claim is free for the second.
    hand.reply(Verb::Create, Reply::Created { provider: ProviderId(1) });
    assert_eq!(hand.count(EventKind::SandboxBusy), 1);
    let account = hand.scheduler.account_view(AccountId(2)).expect("it has a conversation");
    assert_eq!(account.held, 1, "the second claim fits and is admitted in the same step");
}

#[test]
fn a_lowered_bound_on_overtaking_blames_nobody_for_the_past() {
    let mut config = plain();
    config.max.memory_mb = 3 * 1024;
    let mut small = config.classes[0].clone();
    small.name = "small".to_owned();
    small.resources.memory_mb = 512;
    config.classes[0].resources.memory_mb = 2 * 1024;
    config.classes.push(small);
    let mut hand = Hand::new(config.clone());
    let conversations = [hand.open(1, 1), hand.open(2, 2), hand.open(3, 3)];
    hand.begin(conversations[0], 1, 0);
    hand.execute(conversations[0], 1, 1);
    hand.begin(conversations[1], 1, 0);
    hand.execute(conversations[1], 1, 1);
    hand.begin(conversations[2], 1, 1);
    hand.execute(conversations[2], 1, 1);
    assert_eq!(hand.count(EventKind::ClaimAdmitted), 2, "the small one overtakes");
    config.max_overtakes = 0;
    // Every invariant holds after it.
    hand.tell(Input::Reconfigure(Box::new(config)));
}

#[test]
fn a_borrower_that_lacks_the_reserve_destroys_nothing_in_vain() {
    let mut config = plain();
    config.max.slots = 6;
    config.max_sandboxes_per_account = 1;
    config.borrow_keep_free = 3;
    config.classes[0].warm_sandboxes = 2;
    let mut hand = Hand::new(config);
    for provider in 1..=2 {
        hand.reply(Verb::Create, Reply::Created { provider: ProviderId(provider) });
    }
    let (waiter, other, holder) = (hand.open(1, 0), hand.open(2, 3), hand.open(3, 0));
    let late = hand.open(4, 2);
    hand.begin(holder, 1, 0);
    hand.execute(holder, 1, 1);
    hand.begin(other, 1, 0);
    hand.begin(waiter, 1, 0);
    hand.begin(late, 1, 0);
    hand.execute(waiter, 1, 1);
    // The provider works perfectly; what is destroyed must come to an end.
    for step in 0..200_u64 {
        let Some(asked) = hand.asked.first().copied() else { break };
        assert!(step < 50, "{} sandboxes were started", hand.count(EventKind::SandboxStarting));
        hand.reply(
            asked.verb,
            match asked.verb {
                Verb::Create => Reply::Created { provider: ProviderId(100 + step) },
                Verb::Destroy => Reply::Destroyed,
                _ => Reply::Alive { quiet: true },
            },
        );
    }
    let started = hand.count(EventKind::SandboxStarting);
    assert!(started <= 6, "{started} sandboxes were started for two users and two warm ones");
}

#[test]
fn a_drain_with_an_unused_and_a_starting_sandbox_does_not_panic() {
    let mut hand = Hand::new(plain());
    let (idler, worker) = (hand.open(1, 2), hand.open(2, 2));
    hand.begin(idler, 1, 0);
    hand.reply(Verb::Create, Reply::Created { provider: ProviderId(1) });
    hand.begin(worker, 1, 0);
    hand.execute(worker, 1, 1);
    hand.tell(Input::Drain { leave_sandboxes: false });
    assert_eq!(hand.count(EventKind::SandboxUnavailable), 1);
    hand.reply(Verb::Create, Reply::Created { provider: ProviderId(2) });
    while hand.asked.iter().any(|asked| asked.verb == Verb::Destroy) {
        hand.reply(Verb::Destroy, Reply::Destroyed);
    }
    assert_eq!(hand.count(EventKind::Drained), 1);
    assert_eq!(hand.scheduler.capacity().sandboxes, 0);
}

#[test]
fn a_swap_that_raises_what_a_borrower_holds_leaves_the_reserve() {
    let mut config = plain();
    config.max.slots = 5;
    config.max_memory_mb_per_account = 2048;
    config.borrow_keep_free = 3;
    config.classes[0].resources.memory_mb = 512;
    let mut large = config.classes[0].clone();
    large.name = "large".to_owned();
    large.resources.memory_mb = 2048;
    config.classes.push(large);
    let mut hand = Hand::new(config);
    let (swapper, other) = (hand.open(1, 1), hand.open(2, 1));
    hand.begin(swapper, 1, 0);
    hand.execute(swapper, 1, 1);
    hand.reply(Verb::Create, Reply::Created { provider: ProviderId(1) });
    hand.begin(other, 1, 0);
    hand.execute(other, 1, 1);
    hand.reply(Verb::Create, Reply::Created { provider: ProviderId(2) });
    hand.tell(Input::EndTurn { conversation: swapper, turn: TurnId(1), cancel: true });
    hand.begin(swapper, 2, 1);
    // 512 + 2,048 MB is more than the share: a borrower, who must leave three of five slots free.
    hand.execute(swapper, 2, 2);
    let free = hand.scheduler.capacity().free.slots;
    let is_admitted = hand.scheduler.account_view(AccountId(1)).is_some_and(|it| it.held == 2);
    assert!(!is_admitted || free >= 3, "admitted, and {free} slots are free");
}

/// Slots 4, share 1, keep free 1, no patience: one worker, an unused sandbox of the same account, a
/// start for account 3 and an admitted claim of account 0 without a start.
fn full_house() -> (Hand, ConversationId) {
    let mut config = plain();
    config.max.slots = 4;
    config.max_sandboxes_per_account = 1;
    config.borrow_keep_free = 1;
    config.sandbox_wait = Span::ZERO;
    config.max_starting = 1;
    let mut hand = Hand::new(config);
    let (worker, idler) = (hand.open(1, 2), hand.open(2, 2));
    hand.begin(worker, 1, 0);
    hand.execute(worker, 1, 1);
    hand.reply(Verb::Create, Reply::Created { provider: ProviderId(1) });
    hand.begin(idler, 1, 0);
    hand.reply(Verb::Create, Reply::Created { provider: ProviderId(2) });
    let (first, second, third) = (hand.open(3, 3), hand.open(4, 0), hand.open(5, 3));
    hand.begin(first, 1, 0);
    hand.begin(third, 1, 0);
    hand.begin(second, 1, 0);
    (hand, third)
}

#[test]
fn what_is_taken_for_a_claim_that_cannot_wait_serves_it() {
    let (mut hand, third) = full_house();
    hand.execute(third, 1, 1);
    let refused = hand.count(EventKind::SandboxUnavailable);
    let revoked = hand.count(EventKind::ClaimRevoked);
    let doomed = hand.count(EventKind::SandboxDoomed) + hand.count(EventKind::SandboxDestroying);
    assert_eq!(doomed, 0, "nothing is destroyed for a claim that cannot wait");
    assert!(refused == 0 || revoked == 0, "refused, and {revoked} claims were revoked for it");
}

#[test]
fn a_swap_whose_sandbox_died_queues_like_everybody_else() {
    let mut config = plain();
    config.max.memory_mb = 6 * 1024;
    config.max_overtakes = 0;
    config.keep_alive = Span::from_secs(2);
    config.classes[0].resources.memory_mb = 2048;
    let mut small = config.classes[0].clone();
    small.name = "small".to_owned();
    small.resources.memory_mb = 1024;
    config.classes.push(small);
    let mut hand = Hand::new(config);
    // Two large ones on their way out and a small one make 5 of 6 GB.
    let swapper = hand.open(1, 1);
    hand.begin(swapper, 1, 1);
    hand.execute(swapper, 1, 1);
    hand.reply(Verb::Create, Reply::Created { provider: ProviderId(1) });
    hand.tell(Input::EndTurn { conversation: swapper, turn: TurnId(1), cancel: true });
    for leaver in [2, 3] {
        let id = hand.open(leaver, leaver as u32);
        hand.begin(id, 1, 0);
        hand.execute(id, 1, 1);
        hand.reply(Verb::Create, Reply::Created { provider: ProviderId(leaver) });
        hand.tell(Input::CloseConversation { conversation: id, cancel: true });
    }
    let older = hand.open(4, 4);
    hand.begin(older, 1, 0);
    hand.execute(older, 1, 1);
    hand.begin(swapper, 2, 0);
    hand.execute(swapper, 2, 2);
    hand.wait_until(Time::from_secs(2));
    hand.reply(Verb::KeepAlive, Reply::Gone);
    let small_one = hand.asked.iter().rposition(|asked| asked.verb == Verb::Destroy);
    let op = hand.asked[small_one.expect("the dead one is made sure of")].op;
    hand.tell(Input::Reply { op, reply: Reply::Destroyed });
    let held = |account| hand.scheduler.account_view(AccountId(account)).map(|it| it.held);
    assert_eq!((held(4), held(1)), (Some(1), Some(0)), "who blocked first is served first");
}

#[test]
fn a_rate_limit_that_is_told_late_is_heeded() {
    let mut config = plain();
    config.start_timeout = Span::from_secs(1);
    config.classes[0].warm_sandboxes = 0;
    let mut hand = Hand::new(config);
    let (first, second) = (hand.open(1, 1), hand.open(2, 2));
    hand.begin(first, 1, 0);
    hand.wait_until(Time::from_secs(1));
    assert_eq!(hand.count(EventKind::SandboxLimbo), 1);
    hand.wait_until(Time::from_secs(10));
    let retry_after = Span::from_secs(30);
    let failure = sandpool_core::Failure::RateLimited { retry_after };
    hand.reply(Verb::Create, Reply::Failed(failure));
    hand.begin(second, 1, 0);
    let creates = hand.asked.iter().filter(|asked| asked.verb == Verb::Create).count();
    assert_eq!(creates, 0, "the provider asked for a pause of {retry_after}");
}

#[test]
fn an_execute_that_waits_for_a_restored_sandbox_keeps_its_own_patience() {
    let mut config = plain();
    config.recovery = sandpool_core::Recovery::Adopt;
    config.sandbox_wait = Span::ZERO;
    config.max.slots = 1;
    let mut hand = Hand::starting(config);
    let worker = hand.open(1, 1);
    let sandbox = sandpool_core::SandboxName { epoch: 0, sequence: 1 };
    hand.tell(Input::Restore {
        conversation: worker,
        sandbox,
        provider: Some(ProviderId(1)),
        class: ClassId(0),
        unresolved_execute: true,
    });
    hand.tell(Input::Recovered);
    hand.reply(Verb::FindAll, Reply::Inventory(Inventory { complete: true, items: Vec::new() }));
    hand.begin(worker, 1, 0);
    hand.tell(Input::StartExecute {
        conversation: worker,
        turn: TurnId(1),
        execute: ExecuteId(1),
        patience: Some(Span::from_secs(12)),
    });
    // The sandbox is gone, and its slot is not free yet: the execute waits for up to 12 s.
    hand.reply(Verb::Probe, Reply::Gone);
    assert_eq!(hand.count(EventKind::SandboxDied), 1);
    assert_eq!(hand.count(EventKind::SandboxUnavailable), 0, "its patience is not the default");
    hand.reply(Verb::Destroy, Reply::Destroyed);
    assert_eq!(hand.count(EventKind::ClaimAdmitted), 1);
}

/// A claim with a start under way, then other settings, then the provider says that it is full.
fn full_after(before: Config, after: Config) -> Hand {
    let mut hand = Hand::new(before);
    let worker = hand.open(1, 1);
    hand.begin(worker, 1, 0);
    hand.execute(worker, 1, 1);
    hand.tell(Input::Reconfigure(Box::new(after)));
    let failure = sandpool_core::Failure::Full { dimension: None };
    hand.reply(Verb::Create, Reply::Failed(failure));
    hand
}

#[test]
fn an_admission_taken_back_waits_by_the_settings_in_force() {
    let mut nobody_waits = plain();
    nobody_waits.max_waiting = 0;
    nobody_waits.start_policy = sandpool_core::StartPolicy::OnExecute;
    let mut all_may_wait = plain();
    all_may_wait.full_hold = Span::ZERO;
    let hand = full_after(nobody_waits, all_may_wait);
    assert_eq!(hand.count(EventKind::SandboxUnavailable), 0, "it may wait for 30 s");
}

#[test]
fn an_admission_taken_back_that_can_never_fit_any_more_is_refused() {
    let mut nothing_fits = plain();
    nothing_fits.max.memory_mb = 0;
    let hand = full_after(plain(), nothing_fits);
    assert_eq!(hand.count(EventKind::SandboxUnavailable), 1);
}
