//! The engine on paused time, with a ledger and hands that do as they are told.

use super::answers::Grant;
use super::*;
use crate::metrics::{Metrics, Prices};
use crate::store::{
    Account, OpenConversation, OpenExecute, OpenRequest, OpenTurn, Receipt, SandboxRef,
    SqliteOptions, SqliteStore, Store, Write,
};
use sandpool_core::{
    Event, EventKind, Id, Inventory, Operation, Output, ProviderId, Reply, SandboxName,
    SandboxState, Scheduler, StartPolicy, Time, Verb, WhyRejected,
};
use sandpool_sim::What;
use std::sync::Mutex;
use std::time::Duration;
use tokio::sync::watch;

/// Keeps batches in memory; they are safe when the gate is open.
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

    fn commit(&self, batch: Batch) -> Committing {
        self.batches.lock().unwrap().push(batch);
        let (answer, committing) = Committing::channel();
        let mut gate = self.gate.subscribe();
        tokio::spawn(async move {
            let state = gate.wait_for(|gate| *gate != Gate::Shut).await.map(|state| *state);
            answer.give(match state {
                Ok(Gate::Open) => Ok(Receipt { shared_by: 1 }),
                _ => Err(StoreError::DiskFull),
            });
        });
        committing
    }

    fn writes(&self) -> Vec<Write> {
        self.batches.lock().unwrap().iter().flat_map(|batch| batch.writes.clone()).collect()
    }

    fn count(&self, kind: EventKind) -> usize {
        let is_it = |write: &&Write| matches!(write, Write::AppendEvent(event) if event.kind == kind.name());
        self.writes().iter().filter(is_it).count()
    }

    /// What a real store makes of all that was written: it verifies every counter.
    async fn kept(&self) -> Recovery {
        // Now: while the disk is waited for, paused time goes on, and with it the engine.
        let batches = self.batches.lock().unwrap().clone();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pool.sqlite");
        let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
        store
            .commit(Batch::new(vec![account(0), account(1), account(2), account(3)]))
            .await
            .unwrap();
        for batch in batches {
            store.commit(batch).await.unwrap();
        }
        store.recovery().await.unwrap()
    }
}

fn account(number: u32) -> Write {
    Write::AddAccount(Account { number, name: format!("account-{number}"), added_ms: 0 })
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
    fn text_of(&self, provider: ProviderId) -> Option<String> {
        Some(format!("uuid-{}", provider.0))
    }

    fn number_of(&self, text: &str) -> ProviderId {
        ProviderId(text.trim_start_matches("uuid-").parse().unwrap())
    }

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

fn config(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = Config::default();
    config.classes[0].warm_sandboxes = 0;
    change(&mut config);
    config
}

fn start(config: Config, recovery: &Recovery) -> (Started, Arc<Memory>, Arc<Provider>) {
    let (memory, provider) = (Memory::new(), Arc::new(Provider::default()));
    let commit: Commit = Box::new({
        let memory = Arc::clone(&memory);
        move |batch| memory.commit(batch)
    });
    let clock = InstanceClock::start();
    let fold = Fold::new(Metrics::new(), Prices::default(), config.clone());
    let started = Engine::start(config, recovery, commit, Arc::clone(&provider), clock, fold);
    (started, memory, provider)
}

fn key(number: u8) -> ConversationKey {
    ConversationKey::from_bytes([number; 16])
}

async fn finish(engine: &Engine, conversation: ConversationId, grant: &Grant) -> Reason {
    let outcome = ExecuteOutcome::Completed;
    let result = r#"{"exit_code":0}"#.to_owned();
    let used = Used::default();
    let when = Answered::WhenSafe;
    engine.finish(conversation, grant.execute, outcome, used, result, when).await.unwrap()
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
    let (started, memory, provider) = start(config(|_| {}), &Recovery::default());
    let engine = started.engine;
    let conversation = engine.open(key(7), AccountId(0)).await.unwrap();
    let turn = engine.begin_turn(conversation, DEFAULT, None).await.unwrap().unwrap();
    for number in 1..=2 {
        let grant = granted(engine.acquire(conversation, Some(turn), None).await);
        assert_eq!(grant.execute, ExecuteId(number));
        assert_eq!(finish(&engine, conversation, &grant).await, Reason::Completed);
    }
    engine.end_turn(conversation, turn, false, Answered::WhenSafe).await.unwrap().unwrap();
    assert_eq!(provider.asked(Verb::Create), 1);
    let kept = memory.kept().await;
    assert_eq!((kept.turns.len(), kept.executes.len()), (0, 0));
    assert_eq!(kept.conversations[0].last_execute, 2);
    assert_eq!(kept.sandboxes.len(), 1);
    assert_eq!(kept.sandboxes[0].conversation, Some(1), "whose it is outlives this instance");
    assert_eq!(kept.sandboxes[0].provider_id.as_deref(), Some("uuid-1"));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_created_before_it_is_safe_that_it_may_exist() {
    let on_execute = config(|config| config.start_policy = StartPolicy::OnExecute);
    let (started, memory, provider) = start(on_execute, &Recovery::default());
    let engine = started.engine;
    let conversation = engine.open(key(1), AccountId(0)).await.unwrap();
    let turn = engine.begin_turn(conversation, DEFAULT, None).await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_secs(10)).await; // Recovery is over.
    memory.gate.send_replace(Gate::Shut);
    let acquiring = tokio::spawn({
        let engine = engine.clone();
        async move { engine.acquire(conversation, Some(turn), None).await }
    });
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(memory.count(EventKind::SandboxStarting), 1, "decided");
    assert_eq!(provider.asked(Verb::Create), 0);
    memory.gate.send_replace(Gate::Open);
    granted(acquiring.await.unwrap());
    assert_eq!(provider.asked(Verb::Create), 1);
}

#[tokio::test(start_paused = true)]
async fn what_could_not_be_written_is_not_told_and_ends_the_engine() {
    let (started, memory, provider) = start(config(|_| {}), &Recovery::default());
    let engine = started.engine;
    let conversation = engine.open(key(1), AccountId(0)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(10)).await;
    memory.gate.send_replace(Gate::Broken);
    let begun = engine.begin_turn(conversation, DEFAULT, None).await;
    assert_eq!(begun, Err(Stopped));
    assert_eq!(provider.asked(Verb::Create), 0);
    assert_eq!(engine.open(key(2), AccountId(0)).await, Err(Stopped));
    assert_eq!(started.running.await.unwrap(), Err(StoreError::DiskFull));
}

#[tokio::test(start_paused = true)]
async fn a_full_pool_is_a_normal_answer_after_the_callers_patience() {
    let (started, _, _) = start(config(|config| config.max.slots = 1), &Recovery::default());
    let engine = started.engine;
    let holder = engine.open(key(1), AccountId(0)).await.unwrap();
    let turn = engine.begin_turn(holder, DEFAULT, None).await.unwrap().unwrap();
    granted(engine.acquire(holder, Some(turn), None).await);
    let other = engine.open(key(2), AccountId(1)).await.unwrap();
    let turn = engine.begin_turn(other, DEFAULT, None).await.unwrap().unwrap();
    let patience = Span::from_secs(5);
    match engine.acquire(other, Some(turn), Some(patience)).await {
        Ok(Ok(Granted::Unavailable(unavailable))) => {
            assert_eq!((unavailable.reason, unavailable.waited), (Reason::Full, patience));
            assert!(unavailable.retry_after.is_some());
        }
        answer => panic!("{answer:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn who_is_at_it_when_the_conversation_closes_is_cut_off() {
    let (started, memory, provider) = start(config(|_| {}), &Recovery::default());
    let engine = started.engine;
    let conversation = engine.open(key(1), AccountId(0)).await.unwrap();
    let turn = engine.begin_turn(conversation, DEFAULT, None).await.unwrap().unwrap();
    let grant = granted(engine.acquire(conversation, Some(turn), None).await);
    let again = engine.acquire(conversation, Some(turn), None).await.unwrap().unwrap_err();
    assert_eq!(again, Refused(WhyRejected::ExecuteInProgress));
    engine.close(conversation, true).await.unwrap().unwrap();
    assert_eq!(grant.cut_off.await, Ok(Reason::Cancelled));
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(provider.asked(Verb::Destroy), 1);
    let kept = memory.kept().await;
    assert_eq!(kept.sandboxes, [], "confirmed gone");
    assert_eq!((kept.conversations.len(), kept.executes.len()), (0, 0));
}

/// Conversation 9 of account 3 with a sandbox and an open turn, as an earlier instance left it.
fn left() -> Recovery {
    Recovery {
        epoch: 1,
        last_conversation: 9,
        last_event: 40,
        last_journal: 70,
        conversations: vec![OpenConversation {
            number: 9,
            key: key(9),
            account: 3,
            last_message: 0,
            last_event: 12,
            last_turn: 5,
            last_execute: 11,
            files_lost: None,
        }],
        turns: vec![OpenTurn {
            conversation: 9,
            turn: 5,
            class: "default".to_owned(),
            began_ms: 0,
        }],
        executes: vec![OpenExecute { conversation: 9, execute: 11, turn: 5, started_ms: 0 }],
        sandboxes: vec![SandboxRef {
            name: SandboxName { epoch: 1, sequence: 4 },
            class: "default".to_owned(),
            provider_id: Some("uuid-4".to_owned()),
            conversation: Some(9),
            state: SandboxState::Idle,
            at_ms: 0,
        }],
        ..Recovery::default()
    }
}

#[tokio::test(start_paused = true)]
async fn what_an_earlier_instance_left_is_adopted_and_its_numbers_go_on() {
    let adopting = config(|config| config.recovery = sandpool_core::Recovery::Adopt);
    let (started, memory, provider) = start(adopting, &left());
    let [(_, account, conversation)] = started.open[..] else { panic!("{:?}", started.open) };
    assert_eq!((account, conversation.sequence()), (AccountId(3), 9));
    let engine = started.engine;
    let turn = engine.begin_turn(conversation, DEFAULT, None).await.unwrap().unwrap();
    assert_eq!(turn, TurnId(6));
    let grant = granted(engine.acquire(conversation, Some(turn), None).await);
    assert_eq!(grant.execute, ExecuteId(12));
    assert_eq!(grant.name, SandboxName { epoch: 1, sequence: 4 });
    assert_eq!((grant.provider, grant.files_lost), (ProviderId(4), None));
    assert_eq!(provider.asked(Verb::Create), 0);
    let ended = memory.writes().into_iter().find_map(|write| match write {
        Write::EndTurn { turn, reason, .. } => Some((turn, reason)),
        _ => None,
    });
    assert_eq!(ended, Some((5, "recovery".to_owned())), "turns do not survive");
}

#[tokio::test(start_paused = true)]
async fn what_a_kill_cut_off_has_its_end_among_the_events() {
    let (started, memory, _) = start(config(|_| {}), &left());
    started.engine.safe().await.unwrap();
    let ends: Vec<_> = memory
        .writes()
        .into_iter()
        .filter_map(|write| match write {
            Write::AppendEvent(event) => event.conversation.map(|place| (place, event.kind)),
            _ => None,
        })
        .collect();
    let told = |sequence, kind: &str| ends.contains(&((9, sequence), kind.to_owned()));
    assert!(told(13, "execute_ended") && told(14, "turn_ended"), "{ends:?}");
}

#[tokio::test(start_paused = true)]
async fn with_destroy_the_next_use_says_that_the_files_are_lost() {
    let (started, memory, provider) = start(config(|_| {}), &left());
    let [(_, _, conversation)] = started.open[..] else { panic!("{:?}", started.open) };
    let engine = started.engine;
    let turn = engine.begin_turn(conversation, DEFAULT, None).await.unwrap().unwrap();
    let grant = granted(engine.acquire(conversation, Some(turn), None).await);
    assert_eq!(grant.files_lost, Some(Reason::Recovery));
    assert_eq!(provider.asked(Verb::Destroy), 1);
    let writes = memory.writes();
    let old = SandboxName { epoch: 1, sequence: 4 };
    assert!(writes.contains(&Write::RemoveSandbox { name: old }));
    let notice = writes.iter().find_map(|write| match write {
        Write::AppendMessage { message, .. } => Some(message.clone()),
        _ => None,
    });
    let notice = notice.expect("the history says it, too");
    assert_eq!((notice.kind, notice.sequence), (MessageKind::Notice, 1));
}

#[tokio::test(start_paused = true)]
async fn a_loss_that_nobody_was_told_of_outlives_a_second_restart() {
    let earlier = |lost| {
        let mut recovery = left();
        recovery.sandboxes.clear();
        recovery.conversations[0].files_lost = lost;
        recovery
    };
    // The first instance destroys what it finds, and keeps that nobody knows yet.
    let (first, memory, _) = start(config(|_| {}), &left());
    first.engine.safe().await.unwrap();
    let kept = Write::SetFilesLost { conversation: 9, reason: Some(Reason::Recovery) };
    assert!(memory.writes().contains(&kept), "{:?}", memory.writes());
    // The second one tells, once, and keeps that as well.
    let (second, memory, _) = start(config(|_| {}), &earlier(Some(Reason::Recovery)));
    let [(_, _, conversation)] = second.open[..] else { panic!("{:?}", second.open) };
    let turn = second.engine.begin_turn(conversation, DEFAULT, None).await.unwrap().unwrap();
    let grant = granted(second.engine.acquire(conversation, Some(turn), None).await);
    assert_eq!(grant.files_lost, Some(Reason::Recovery));
    let told = Write::SetFilesLost { conversation: 9, reason: None };
    assert!(memory.writes().contains(&told), "{:?}", memory.writes());
    // Where nothing was lost, nothing is told.
    let (third, ..) = start(config(|_| {}), &earlier(None));
    let [(_, _, conversation)] = third.open[..] else { panic!("{:?}", third.open) };
    let turn = third.engine.begin_turn(conversation, DEFAULT, None).await.unwrap().unwrap();
    assert_eq!(
        granted(third.engine.acquire(conversation, Some(turn), None).await).files_lost,
        None
    );
}

#[tokio::test(start_paused = true)]
async fn a_drain_answers_when_nothing_is_left() {
    let (started, memory, _) = start(config(|_| {}), &Recovery::default());
    let engine = started.engine;
    let conversation = engine.open(key(1), AccountId(0)).await.unwrap();
    let turn = engine.begin_turn(conversation, DEFAULT, None).await.unwrap().unwrap();
    let grant = granted(engine.acquire(conversation, Some(turn), None).await);
    finish(&engine, conversation, &grant).await;
    engine.drain(false).await.unwrap();
    assert_eq!(memory.count(EventKind::Drained), 1);
    drop(engine);
    started.running.await.unwrap().unwrap();
    assert_eq!(memory.kept().await.sandboxes, []);
}

#[tokio::test(start_paused = true)]
async fn messages_are_counted_and_refused_after_the_end() {
    let (started, memory, _) = start(config(|_| {}), &Recovery::default());
    let engine = started.engine;
    let conversation = engine.open(key(1), AccountId(0)).await.unwrap();
    for sequence in 1..=3 {
        let said = engine
            .append(conversation, TurnId(0), MessageKind::User, None, format!("no. {sequence}"))
            .await;
        assert_eq!(said, Ok(Ok(sequence)));
    }
    engine.close(conversation, false).await.unwrap().unwrap();
    let said = engine
        .append(conversation, TurnId(0), MessageKind::User, None, "too late".to_owned())
        .await;
    assert_eq!(said, Ok(Err(Refused(WhyRejected::UnknownConversation))));
    memory.kept().await; // The store agrees with every number.
}

#[tokio::test(start_paused = true)]
async fn the_journal_alone_rebuilds_the_scheduler() {
    let one = config(|config| config.max.slots = 1);
    let (started, memory, _) = start(one.clone(), &Recovery::default());
    let engine = started.engine;
    for number in 0..3_u8 {
        let account = AccountId(u32::from(number));
        let conversation = engine.open(key(number), account).await.unwrap();
        let turn = engine.begin_turn(conversation, DEFAULT, None).await.unwrap().unwrap();
        if let Ok(Ok(Granted::Go(grant))) =
            engine.acquire(conversation, Some(turn), Some(Span::from_secs(20))).await
        {
            finish(&engine, conversation, &grant).await;
        }
        engine.end_turn(conversation, turn, true, Answered::WhenSafe).await.unwrap().unwrap();
    }
    engine.drain(false).await.unwrap();
    drop(engine);
    started.running.await.unwrap().unwrap();
    let mut again = Scheduler::new(one, 1, Time::ZERO);
    let (mut events, mut expected) = (Vec::new(), Vec::new());
    for write in memory.writes() {
        match write {
            Write::AppendEvent(event) => {
                expected.push(serde_json::from_str::<Event>(&event.body).unwrap());
            }
            Write::AppendJournal(line) => {
                let at = Time::from_nanos(line.at_ns);
                match serde_json::from_slice(&line.body).unwrap() {
                    What::Input(input) => again.handle(at, input),
                    What::Timeout => again.handle_timeout(at),
                    _ => continue,
                }
                while let Some(output) = again.poll() {
                    if let Output::Event(event) = output {
                        events.push(event);
                    }
                }
            }
            _ => {}
        }
    }
    assert!(events.len() > 30);
    assert_eq!(events, expected);
    memory.kept().await;
}

#[tokio::test(start_paused = true)]
async fn a_failed_commit_ends_all_who_wait_without_another_command() {
    let (started, memory, _) = start(config(|_| {}), &Recovery::default());
    let engine = started.engine;
    let mut conversations = Vec::new();
    for number in 0..6 {
        conversations.push(engine.open(key(number), AccountId(0)).await.unwrap());
    }
    memory.gate.send_replace(Gate::Shut);
    // More than may be under way at once: the last ones only gather.
    let mut waiting = Vec::new();
    for conversation in conversations {
        let engine = engine.clone();
        waiting.push(tokio::spawn(
            async move { engine.begin_turn(conversation, DEFAULT, None).await },
        ));
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    memory.gate.send_replace(Gate::Broken);
    for answer in waiting {
        let answer = tokio::time::timeout(Duration::from_millis(1), answer).await;
        assert_eq!(answer.expect("at once").unwrap(), Err(Stopped));
    }
}

#[tokio::test(start_paused = true)]
async fn what_nobody_takes_over_and_nobody_has_is_forgotten_and_frees_its_conversation() {
    let mut left = left();
    left.turns.clear();
    left.sandboxes[0].class = "no_more".to_owned();
    let (started, memory, _) = start(config(|_| {}), &left);
    let [(_, _, conversation)] = started.open[..] else { panic!("{:?}", started.open) };
    let engine = started.engine;
    let turn = engine.begin_turn(conversation, DEFAULT, None).await.unwrap().unwrap();
    granted(engine.acquire(conversation, Some(turn), None).await);
    let old = SandboxName { epoch: 1, sequence: 4 };
    let about_it: Vec<bool> = memory
        .writes()
        .iter()
        .filter_map(|write| match write {
            Write::PutSandbox(sandbox) if sandbox.name == old => {
                assert_eq!(sandbox.conversation, None);
                Some(false)
            }
            Write::RemoveSandbox { name } if *name == old => Some(true),
            _ => None,
        })
        .collect();
    assert_eq!(about_it, [false, true], "freed before another is bound, then forgotten");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_was_interrupted_is_answered_and_not_begun_again() {
    let requests = vec![OpenRequest { account: 3, key: "once".to_owned() }];
    let (started, memory, _) = start(config(|_| {}), &Recovery { requests, ..left() });
    started.engine.capacity().await.unwrap();
    let answered = memory.writes().into_iter().find_map(|write| match write {
        Write::FinishIdempotent { account, key, status, body } => {
            Some((account, key, status, serde_json::from_slice::<serde_json::Value>(&body)))
        }
        _ => None,
    });
    let (account, key, status, body) = answered.expect("it is answered");
    assert_eq!((account, key.as_str(), status), (3, "once", 500));
    assert_eq!(body.unwrap()["code"], "internal");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_an_execute_is_told_at_once_or_when_it_is_safe_as_its_caller_wants() {
    let (started, memory, _) = start(config(|_| {}), &Recovery::default());
    let engine = started.engine;
    let conversation = engine.open(key(1), AccountId(1)).await.unwrap();
    let turn = engine.begin_turn(conversation, DEFAULT, None).await.unwrap().unwrap();
    // The first use waits for the disk whatever the caller says.
    let grant = granted(engine.acquire(conversation, Some(turn), None).await);
    finish(&engine, conversation, &grant).await;
    memory.gate.send_replace(Gate::Shut);
    let grant = granted(engine.acquire(conversation, Some(turn), None).await);
    let end = |answered| {
        let (engine, execute) = (engine.clone(), grant.execute);
        let outcome = ExecuteOutcome::Completed;
        async move {
            let used = Used::default();
            engine.finish(conversation, execute, outcome, used, "{}".to_owned(), answered).await
        }
    };
    assert_eq!(end(Answered::AtOnce).await, Ok(Reason::Completed), "the disk is not waited for");
    // It is written all the same.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let finished = |execute: u32| {
        memory.writes().into_iter().any(|write| {
            matches!(write, Write::FinishExecute { execute: it, .. } if it == u64::from(execute))
        })
    };
    assert!(finished(grant.execute.0));
    let grant = granted(engine.acquire(conversation, Some(turn), None).await);
    let (again, execute) = (engine.clone(), grant.execute);
    let kept = tokio::spawn(async move {
        let (outcome, used) = (ExecuteOutcome::Completed, Used::default());
        let result = "{}".to_owned();
        again.finish(conversation, execute, outcome, used, result, Answered::WhenSafe).await
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!kept.is_finished(), "nothing is safe yet");
    memory.gate.send_replace(Gate::Open);
    assert_eq!(kept.await.unwrap(), Ok(Reason::Completed));
}
