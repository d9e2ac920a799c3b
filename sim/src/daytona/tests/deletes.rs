//! Deleting, billing, and our own server's crash.

use super::*;
use crate::daytona::record::{Ending, Finished, State};
use sandpool_core::{Failure, Resources};

#[test]
fn a_destroy_is_answered_when_the_sandbox_is_gone_to_whoever_asked() {
    let mut caller = Caller::new(steady());
    let provider = caller.started(1);
    let first = caller.ask_id(Verb::Destroy, provider);
    caller.wait_until(4.0);
    let second = caller.ask_id(Verb::Destroy, provider);
    assert_eq!(caller.call_id(Verb::Probe, provider), Reply::Gone);
    assert_eq!(caller.next_answer(), Some((Time::from_secs(5), first, Reply::Destroyed)));
    assert_eq!(caller.next_answer(), Some((Time::from_secs(5), second, Reply::Destroyed)));
    assert_eq!(caller.call_id(Verb::Destroy, provider), Reply::Destroyed);
}

#[test]
fn the_bill_tells_from_when_to_when_and_why_it_ended() {
    let mut caller = Caller::new(steady());
    let provider = caller.started(1);
    caller.wait_until(60.0);
    let sandbox = caller.machine.cloud().sandbox(provider).unwrap();
    assert_eq!(sandbox.billed_from, Some(Time::from_secs(2)));
    assert_eq!(sandbox.billed_until, None);
    assert_eq!(caller.call(Verb::Destroy, 1), Reply::Destroyed);
    let bills: Vec<Finished> = caller.machine.take_finished().collect();
    assert_eq!(bills.len(), 1);
    assert_eq!(bills[0].name, Some(name(1)));
    assert_eq!(bills[0].billed, Some((Time::from_secs(2), Time::from_secs(60))));
    assert_eq!(bills[0].ended_at, Time::from_secs(63));
    assert_eq!(bills[0].ending, Ending::Deleted);
    assert_eq!(caller.machine.take_finished().count(), 0);
    assert_eq!(caller.machine.cloud().living(), 0);
}

#[test]
fn a_stuck_delete_holds_quota_but_not_the_bill_nor_the_name() {
    let mut profile = steady();
    profile.stuck_destroying = 1.0;
    profile.stuck_for = Distribution::Constant(100.0);
    let mut caller = Caller::new(profile);
    let provider = caller.started(1);
    let op = caller.ask_id(Verb::Destroy, provider);
    caller.wait_until(50.0);
    let sandbox = caller.machine.cloud().sandbox(provider).unwrap();
    assert_eq!(sandbox.state, State::StuckDestroying);
    assert_eq!(sandbox.billed_until, Some(Time::from_secs(2)));
    assert_eq!(caller.machine.cloud().counted(), Class::default().resources);
    assert_eq!(caller.call(Verb::Find, 1), Reply::Absent);
    caller.wait_until(103.0);
    assert_eq!(caller.machine.cloud().counted(), Resources::ZERO);
    assert_eq!(caller.next_answer(), Some((Time::from_secs(105), op, Reply::Destroyed)));
}

#[test]
fn a_delete_that_hangs_for_ever_is_not_ended_by_the_auto_stop() {
    let mut profile = steady();
    profile.stuck_destroying = 1.0;
    profile.stuck_for = Distribution::Constant(f64::INFINITY);
    profile.auto_stop = Span::from_secs(60);
    let mut caller = Caller::new(profile);
    let provider = caller.started(1);
    caller.ask_id(Verb::Destroy, provider);
    assert!(caller.wait_until(1e6).is_empty());
    assert_eq!(caller.machine.cloud().counted(), Class::default().resources);
    assert_eq!(caller.machine.next_at(), None);
}

#[test]
fn an_errored_sandbox_holds_its_name_and_no_quota_until_it_is_deleted() {
    let mut caller =
        Caller::new(faulty(Verb::Create, VerbFaults { errored: 1.0, ..VerbFaults::default() }));
    assert_eq!(caller.call(Verb::Create, 1), Reply::Failed(Failure::Errored));
    assert_eq!(caller.seconds(), 2.0);
    assert_eq!(caller.machine.cloud().counted(), Resources::ZERO);
    assert_eq!(caller.call(Verb::Create, 1), Reply::Failed(Failure::NameExists));
    assert_eq!(caller.call(Verb::Probe, 1), Reply::Gone);
    let before = caller.seconds();
    assert_eq!(caller.call(Verb::Destroy, 1), Reply::Destroyed);
    assert!((caller.seconds() - before - 0.1).abs() < 1e-6, "gone with the answer");
    assert_eq!(caller.call(Verb::Find, 1), Reply::Absent);
    assert_eq!(caller.machine.take_finished().next().unwrap().billed, None);
}

#[test]
fn after_a_crash_nobody_is_answered_and_everything_goes_on() {
    let mut caller = Caller::new(steady());
    let kept = caller.started(1);
    let doomed = caller.started(2);
    caller.ask(Verb::Create, 3);
    caller.ask_id(Verb::Destroy, doomed);
    caller.ask_id(Verb::Prepare, kept);
    caller.ask_id(Verb::Probe, kept);
    caller.machine.forget_clients();
    assert!(caller.wait_until(10.0).is_empty());
    assert!(!caller.machine.is_alive(caller.now, doomed));
    let orphan = caller.machine.cloud().find(name(3)).expect("the create went on");
    assert!(caller.machine.is_alive(caller.now, orphan));
    assert_eq!(caller.call_id(Verb::Probe, kept), Reply::Alive { quiet: false });
    assert!(caller.wait_until(15.0).is_empty(), "the end of the prepare is nobody's business");
    assert_eq!(caller.call_id(Verb::Probe, kept), Reply::Alive { quiet: true });
}
