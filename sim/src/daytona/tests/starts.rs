//! Creating, preparing, looking after a sandbox.

use super::*;
use crate::daytona::record::{Labels, State};
use sandpool_core::{Failure, FoundState, Provider};

#[test]
fn a_create_is_answered_when_the_sandbox_has_started() {
    let mut caller = Caller::new(steady());
    let op = caller.ask(Verb::Create, 1);
    assert!(caller.wait_until(1.5).is_empty());
    assert_eq!(
        caller.call(Verb::Find, 1),
        Reply::Found {
            provider: caller.machine.cloud().find(name(1)).unwrap(),
            state: FoundState::Starting
        }
    );
    let (at, answered, reply) = caller.next_answer().unwrap();
    assert_eq!((at, answered), (Time::from_secs(2), op));
    let Reply::Created { provider } = reply else { panic!("{reply:?}") };
    assert_eq!(caller.call_id(Verb::Probe, provider), Reply::Alive { quiet: true });
}

#[test]
fn answers_that_take_no_time_need_no_advance() {
    let mut caller = Caller::new(Profile::instant());
    let create = caller.operation(Verb::Create, 1);
    Provider::submit(&mut caller.machine, Time::from_secs(5), create);
    let Some((op, Reply::Created { provider })) = caller.machine.poll() else { panic!() };
    assert_eq!(op, create.op);
    let mut destroy = caller.operation(Verb::Destroy, 1);
    destroy.provider = Some(provider);
    caller.machine.submit(Time::from_secs(5), destroy);
    assert_eq!(caller.machine.poll(), Some((destroy.op, Reply::Destroyed)));
    assert_eq!(caller.machine.next_at(), None, "nothing is left to happen");
}

#[test]
fn other_starts_under_way_lengthen_a_create() {
    let mut profile = steady();
    profile.latencies.create_slowdown = 0.5;
    let mut caller = Caller::new(profile);
    let ops: Vec<OpId> = (1..=3).map(|sequence| caller.ask(Verb::Create, sequence)).collect();
    for (op, seconds) in ops.into_iter().zip([2.0, 3.0, 4.0]) {
        let (_, answered, _) = caller.next_answer().unwrap();
        assert_eq!((answered, caller.seconds()), (op, seconds));
    }
}

#[test]
fn prepare_takes_its_time_by_class_and_keeps_the_sandbox_busy() {
    let mut profile = steady();
    profile.latencies.prepare_by_class = vec![(1, Distribution::Constant(4.0))];
    let mut caller = Caller::new(profile);
    let small = caller.started(1);
    let op = caller.ask_with(Verb::Create, 2, |operation| operation.class = ClassId(1));
    let Reply::Created { provider: large } = caller.answer_to(op) else { panic!() };
    let slow = caller.ask_id(Verb::Prepare, small);
    let quick = caller.ask_id(Verb::Prepare, large);
    assert_eq!(caller.call_id(Verb::Probe, small), Reply::Alive { quiet: false });
    assert_eq!(caller.next_answer(), Some((Time::from_secs(8), quick, Reply::Prepared)));
    assert_eq!(caller.next_answer(), Some((Time::from_secs(14), slow, Reply::Prepared)));
    assert_eq!(caller.call_id(Verb::Probe, small), Reply::Alive { quiet: true });
}

#[test]
fn what_is_starting_is_in_conflict_and_what_is_unknown_is_gone() {
    let mut caller = Caller::new(steady());
    caller.ask(Verb::Create, 1);
    for verb in [Verb::Destroy, Verb::Prepare, Verb::Probe, Verb::KeepAlive] {
        assert_eq!(caller.call(verb, 1), Reply::Failed(Failure::Conflict), "{verb:?}");
    }
    for verb in [Verb::Prepare, Verb::Probe, Verb::KeepAlive, Verb::Relabel] {
        assert_eq!(caller.call(verb, 2), Reply::Gone, "{verb:?}");
    }
    assert_eq!(caller.call(Verb::Find, 2), Reply::Absent);
    assert_eq!(caller.call(Verb::Destroy, 2), Reply::Destroyed);
}

#[test]
fn a_name_is_held_until_the_delete_is_accepted() {
    let mut caller = Caller::new(steady());
    let first = caller.started(1);
    assert_eq!(caller.call(Verb::Create, 1), Reply::Failed(Failure::NameExists));
    let destroy = caller.ask_id(Verb::Destroy, first);
    assert_eq!(caller.call(Verb::Find, 1), Reply::Absent, "a deleted sandbox is renamed");
    let second = caller.started(1);
    assert_ne!(first, second);
    assert_eq!(caller.answer_to(destroy), Reply::Destroyed);
    assert_eq!(caller.machine.cloud().find(name(1)), Some(second));
}

#[test]
fn an_unknown_class_is_rejected_until_it_is_added() {
    let mut caller = Caller::new(steady());
    let create = |caller: &mut Caller| {
        let op = caller.ask_with(Verb::Create, 1, |operation| operation.class = ClassId(2));
        caller.answer_to(op)
    };
    assert_eq!(create(&mut caller), Reply::Failed(Failure::Rejected));
    caller.machine.add_classes(&[Class::default(), Class::default(), Class::default()]);
    assert!(matches!(create(&mut caller), Reply::Created { .. }));
    assert_eq!(caller.machine.cloud().counted(), Class::default().resources);
}

#[test]
fn relabel_writes_the_instance_at_work_and_the_conversation() {
    let mut caller = Caller::new(steady());
    let provider = caller.started(1);
    // The next instance introduces itself by listing.
    let op = caller.ask_with(Verb::FindAll, 0, |operation| operation.name.epoch = 2);
    assert!(matches!(caller.answer_to(op), Reply::Inventory(_)));
    let op = caller.ask_with(Verb::Relabel, 1, |operation| {
        operation.provider = Some(provider);
        operation.conversation = Some(conversation(8));
    });
    assert_eq!(caller.answer_to(op), Reply::Relabelled);
    let sandbox = caller.machine.cloud().sandbox(provider).unwrap();
    assert_eq!(sandbox.labels, Labels { epoch: 2, conversation: Some(conversation(8)) });
    assert_eq!(sandbox.state, State::Started);
}
