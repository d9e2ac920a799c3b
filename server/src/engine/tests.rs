//! The engine on paused time, with a ledger and hands that do as they are told.

use super::*;
use sandpool_core::{
    Config, EventKind, Id, Inventory, Operation, ProviderId, Reason, Recovery, Reply, SandboxName,
    Verb, WhyRejected,
};
use std::future::Future;
use std::sync::Mutex;
use std::time::Duration;
use tokio::sync::watch;

/// Keeps batches in memory; they are durable when the gate is open.
struct Memory {
    batches: Mutex<Vec<Batch>>,
    gate: watch::Sender<Gate>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gate {
    Open,
    Shut,
    Broken,
}

impl Memory {
    fn new() -> Arc<Self> {
        Arc::new(Self { batches: Mutex::default(), gate: watch::Sender::new(Gate::Open) })
    }

    fn count(&self, kind: EventKind) -> usize {
        let batches = self.batches.lock().unwrap();
        batches.iter().flat_map(|batch| &batch.events).filter(|event| event.kind == kind).count()
    }

    /// The sandboxes that may exist, by what is durable.
    fn may_exist(&self) -> Vec<SandboxName> {
        let mut names = Vec::new();
        for batch in self.batches.lock().unwrap().iter() {
            names.extend(batch.intents.iter().map(|intent| intent.name));
            names.retain(|name| batch.settled.iter().all(|settled| settled.name != *name));
        }
        names
    }

    fn bindings(&self) -> Vec<(ConversationId, Option<Binding>)> {
        self.batches.lock().unwrap().iter().flat_map(|batch| batch.bindings.clone()).collect()
    }
}

impl Ledger for Memory {
    fn commit(
        &self,
        batch: Batch,
    ) -> impl Future<Output = Result<(), LedgerError>> + Send + 'static {
        self.batches.lock().unwrap().push(batch);
        let mut gate = self.gate.subscribe();
        async move {
            let state = gate.wait_for(|gate| *gate != Gate::Shut).await;
            match state.map(|state| *state) {
                Ok(Gate::Open) => Ok(()),
                _ => Err(LedgerError("no space left on device".to_owned())),
            }
        }
    }
}

/// A provider that answers after a second.
#[derive(Default)]
struct Provider {
    asked: Mutex<Vec<Operation>>,
    inventory: Mutex<Vec<sandpool_core::InventoryItem>>,
}

impl Provider {
    fn asked(&self, verb: Verb) -> usize {
        self.asked.lock().unwrap().iter().filter(|operation| operation.verb == verb).count()
    }
}

impl Hands for Provider {
    async fn carry_out(&self, operation: Operation) -> Reply {
        self.asked.lock().unwrap().push(operation);
        tokio::time::sleep(Duration::from_secs(1)).await;
        match operation.verb {
            Verb::Create => Reply::Created { provider: ProviderId(operation.name.sequence) },
            Verb::Prepare => Reply::Prepared,
            Verb::Destroy => Reply::Destroyed,
            Verb::Probe | Verb::KeepAlive => Reply::Alive { quiet: true },
            Verb::Find => Reply::Absent,
            Verb::FindAll => Reply::Inventory(Inventory {
                complete: true,
                items: self.inventory.lock().unwrap().clone(),
            }),
            Verb::Relabel => Reply::Relabelled,
        }
    }
}

fn settings(change: impl FnOnce(&mut Config)) -> Settings {
    let mut config = Config::default();
    config.classes[0].warm_sandboxes = 0;
    change(&mut config);
    Settings { config, epoch: 1 }
}

type Running = tokio::task::JoinHandle<Result<(), LedgerError>>;

fn start(settings: Settings, found: Found) -> (Engine, Arc<Memory>, Arc<Provider>, Running) {
    let (ledger, provider) = (Memory::new(), Arc::new(Provider::default()));
    let clock = InstanceClock::start();
    let (engine, running) =
        Engine::start(settings, found, Arc::clone(&ledger), Arc::clone(&provider), clock);
    (engine, ledger, provider, running)
}

fn granted(answer: Result<Result<Granted, Refused>, Stopped>) -> Grant {
    match answer {
        Ok(Ok(Granted::Go(grant))) => grant,
        other => panic!("no sandbox: {other:?}"),
    }
}

const DEFAULT: ClassId = ClassId(0);

#[tokio::test(start_paused = true)]
async fn a_turn_gets_a_sandbox_uses_it_twice_and_leaves_it_idle() {
    let (engine, ledger, provider, _running) = start(settings(|_| {}), Found::default());
    let conversation = engine.open(7, AccountId(0)).await.unwrap();
    let turn = engine.begin_turn(conversation, DEFAULT, None).await.unwrap().unwrap();
    for number in 1..=2 {
        let grant = granted(engine.acquire(conversation, turn, None).await);
        assert_eq!(grant.execute, ExecuteId(number));
        let ended = engine
            .finish(conversation, grant.execute, ExecuteOutcome::Completed, Used::default())
            .await
            .unwrap();
        assert_eq!(ended, Reason::Completed);
    }
    engine.end_turn(conversation, turn, false).await.unwrap().unwrap();
    assert_eq!(provider.asked(Verb::Create), 1);
    assert_eq!(ledger.count(EventKind::ExecuteEnded), 2);
    let bindings = ledger.bindings();
    assert_eq!(bindings.len(), 1, "written once, at its first use: {bindings:?}");
    assert_eq!(bindings[0].1.unwrap().provider, Some(ProviderId(1)));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_created_before_it_is_durable_that_it_may_exist() {
    let on_execute = settings(|config| config.start_policy = sandpool_core::StartPolicy::OnExecute);
    let (engine, ledger, provider, _running) = start(on_execute, Found::default());
    let conversation = engine.open(1, AccountId(0)).await.unwrap();
    let turn = engine.begin_turn(conversation, DEFAULT, None).await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_secs(10)).await; // Recovery is over.
    ledger.gate.send_replace(Gate::Shut);
    let acquiring = tokio::spawn({
        let engine = engine.clone();
        async move { engine.acquire(conversation, turn, None).await }
    });
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(ledger.may_exist().len(), 1, "decided");
    assert_eq!(provider.asked(Verb::Create), 0);
    ledger.gate.send_replace(Gate::Open);
    granted(acquiring.await.unwrap());
    assert_eq!(provider.asked(Verb::Create), 1);
}

#[tokio::test(start_paused = true)]
async fn what_could_not_be_written_is_not_told_and_ends_the_engine() {
    let (engine, ledger, provider, running) = start(settings(|_| {}), Found::default());
    let conversation = engine.open(1, AccountId(0)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(10)).await;
    ledger.gate.send_replace(Gate::Broken);
    let begun = engine.begin_turn(conversation, DEFAULT, None).await;
    assert_eq!(begun, Err(Stopped));
    assert_eq!(provider.asked(Verb::Create), 0);
    drop(engine);
    let error = running.await.unwrap().unwrap_err();
    assert!(error.to_string().contains("no space left"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_full_pool_is_a_normal_answer_after_the_callers_patience() {
    let one = settings(|config| config.max.slots = 1);
    let (engine, _, _, _running) = start(one, Found::default());
    let holder = engine.open(1, AccountId(0)).await.unwrap();
    let turn = engine.begin_turn(holder, DEFAULT, None).await.unwrap().unwrap();
    granted(engine.acquire(holder, turn, None).await);
    let other = engine.open(2, AccountId(1)).await.unwrap();
    let turn = engine.begin_turn(other, DEFAULT, None).await.unwrap().unwrap();
    let patience = Span::from_secs(5);
    match engine.acquire(other, turn, Some(patience)).await {
        Ok(Ok(Granted::Unavailable(unavailable))) => {
            assert_eq!((unavailable.reason, unavailable.waited), (Reason::Full, patience));
            assert!(unavailable.retry_after.is_some());
        }
        answer => panic!("{answer:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn who_is_at_it_when_the_conversation_closes_is_cut_off() {
    let (engine, ledger, provider, _running) = start(settings(|_| {}), Found::default());
    let conversation = engine.open(1, AccountId(0)).await.unwrap();
    let turn = engine.begin_turn(conversation, DEFAULT, None).await.unwrap().unwrap();
    let grant = granted(engine.acquire(conversation, turn, None).await);
    let again = engine.acquire(conversation, turn, None).await.unwrap().unwrap_err();
    assert_eq!(again, Refused(WhyRejected::ExecuteInProgress));
    engine.close(conversation, true).await.unwrap().unwrap();
    assert_eq!(grant.cut_off.await, Ok(Reason::Cancelled));
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(provider.asked(Verb::Destroy), 1);
    assert_eq!(ledger.may_exist(), [], "confirmed gone");
}

#[tokio::test(start_paused = true)]
async fn what_an_earlier_instance_left_is_adopted_and_its_numbers_go_on() {
    let mut adopting = settings(|config| config.recovery = Recovery::Adopt);
    adopting.epoch = 2;
    let name = SandboxName { epoch: 1, sequence: 4 };
    let old = FoundConversation {
        number: 9,
        account: AccountId(3),
        last_turn: TurnId(5),
        last_execute: ExecuteId(11),
        sandbox: Some(FoundSandbox {
            name,
            class: DEFAULT,
            provider: Some(ProviderId(4)),
            turn_was_open: false,
        }),
    };
    let (engine, _, provider, _running) = start(adopting, Found { conversations: vec![old] });
    let conversation = ConversationId::new(9, 0);
    let turn = engine.begin_turn(conversation, DEFAULT, None).await.unwrap().unwrap();
    assert_eq!(turn, TurnId(6));
    let grant = granted(engine.acquire(conversation, turn, None).await);
    assert_eq!((grant.execute, grant.name), (ExecuteId(12), name));
    assert_eq!(grant.files_lost, None);
    assert_eq!(provider.asked(Verb::Create), 0);
}

#[tokio::test(start_paused = true)]
async fn with_destroy_the_next_use_says_that_the_files_are_lost() {
    let name = SandboxName { epoch: 1, sequence: 4 };
    let old = FoundConversation {
        number: 9,
        account: AccountId(3),
        last_turn: TurnId(5),
        last_execute: ExecuteId(11),
        sandbox: Some(FoundSandbox {
            name,
            class: DEFAULT,
            provider: Some(ProviderId(4)),
            turn_was_open: true,
        }),
    };
    let mut settings = settings(|_| {});
    settings.epoch = 2;
    let (engine, ledger, provider, _running) = start(settings, Found { conversations: vec![old] });
    let conversation = ConversationId::new(9, 0);
    let turn = engine.begin_turn(conversation, DEFAULT, None).await.unwrap().unwrap();
    let grant = granted(engine.acquire(conversation, turn, None).await);
    assert_eq!(grant.files_lost, Some(Reason::Recovery));
    assert_eq!(provider.asked(Verb::Destroy), 1);
    let settled: Vec<_> = {
        let batches = ledger.batches.lock().unwrap();
        batches.iter().flat_map(|batch| batch.settled.clone()).collect()
    };
    assert_eq!(settled[0].name, name, "by the name that it was created under");
    assert_eq!(ledger.bindings()[0], (conversation, None));
}

#[tokio::test(start_paused = true)]
async fn a_drain_answers_when_nothing_is_left() {
    let (engine, ledger, _, running) = start(settings(|_| {}), Found::default());
    let conversation = engine.open(1, AccountId(0)).await.unwrap();
    let turn = engine.begin_turn(conversation, DEFAULT, None).await.unwrap().unwrap();
    let grant = granted(engine.acquire(conversation, turn, None).await);
    let executing =
        engine.finish(conversation, grant.execute, ExecuteOutcome::Completed, Used::default());
    executing.await.unwrap();
    engine.drain(false).await.unwrap();
    assert_eq!(ledger.count(EventKind::Drained), 1);
    assert_eq!(ledger.may_exist(), []);
    drop(engine);
    running.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_journal_alone_rebuilds_the_scheduler() {
    let one = settings(|config| config.max.slots = 1);
    let (engine, ledger, _, running) = start(one.clone(), Found::default());
    for account in 0..3 {
        let conversation = engine.open(u64::from(account) + 1, AccountId(account)).await.unwrap();
        let turn = engine.begin_turn(conversation, DEFAULT, None).await.unwrap().unwrap();
        if let Ok(Ok(Granted::Go(grant))) =
            engine.acquire(conversation, turn, Some(Span::from_secs(20))).await
        {
            let outcome = ExecuteOutcome::Completed;
            engine.finish(conversation, grant.execute, outcome, Used::default()).await.unwrap();
        }
        engine.end_turn(conversation, turn, true).await.unwrap().unwrap();
    }
    engine.drain(false).await.unwrap();
    drop(engine);
    running.await.unwrap().unwrap();
    let batches = ledger.batches.lock().unwrap();
    let mut again = sandpool_core::Scheduler::new(one.config, 1, sandpool_core::Time::ZERO);
    let (mut events, mut expected) = (Vec::new(), Vec::new());
    for batch in batches.iter() {
        expected.extend(batch.events.iter().copied());
        for line in &batch.journal {
            match &line.what {
                sandpool_sim::What::Input(input) => again.handle(line.at, input.clone()),
                sandpool_sim::What::Timeout => again.handle_timeout(line.at),
                _ => continue,
            }
            while let Some(output) = again.poll() {
                if let sandpool_core::Output::Event(event) = output {
                    events.push(event);
                }
            }
        }
    }
    assert!(!events.is_empty());
    assert_eq!(events, expected);
}
