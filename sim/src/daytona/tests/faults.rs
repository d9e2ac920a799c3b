//! Calls that go wrong.

use super::*;
use sandpool_core::{Failure, FoundState};

fn certain(edit: impl FnOnce(&mut VerbFaults)) -> VerbFaults {
    let mut faults = VerbFaults::default();
    edit(&mut faults);
    faults
}

#[test]
fn a_lost_create_answer_leaves_a_sandbox_and_a_lost_request_none() {
    let mut caller = Caller::new(faulty(Verb::Create, certain(|f| f.lost_answer = 1.0)));
    caller.ask(Verb::Create, 1);
    assert!(caller.wait_until(3600.0).is_empty());
    let Reply::Found { state, .. } = caller.call(Verb::Find, 1) else { panic!() };
    assert_eq!(state, FoundState::Running);
    assert_eq!(caller.call(Verb::Destroy, 1), Reply::Destroyed);

    let mut caller = Caller::new(faulty(Verb::Create, certain(|f| f.lost_request = 1.0)));
    caller.ask(Verb::Create, 1);
    assert!(caller.wait_until(3600.0).is_empty());
    assert_eq!(caller.call(Verb::Find, 1), Reply::Absent);
}

#[test]
fn a_call_that_was_not_carried_out_says_so_and_changes_nothing() {
    for (faults, failure) in [
        (certain(|f| f.unavailable = 1.0), Failure::Unavailable),
        (certain(|f| f.rejected = 1.0), Failure::Rejected),
    ] {
        let mut caller = Caller::new(faulty(Verb::Create, faults));
        assert_eq!(caller.call(Verb::Create, 1), Reply::Failed(failure));
        assert_eq!(caller.machine.cloud().living(), 0);
        let mut caller = Caller::new(faulty(Verb::Destroy, faults));
        let provider = caller.started(1);
        assert_eq!(caller.call_id(Verb::Destroy, provider), Reply::Failed(failure));
        assert!(caller.machine.is_alive(caller.now, provider));
    }
}

#[test]
fn a_delete_whose_answer_is_lost_is_carried_out() {
    let mut caller = Caller::new(faulty(Verb::Destroy, certain(|f| f.lost_answer = 1.0)));
    let provider = caller.started(1);
    caller.ask_id(Verb::Destroy, provider);
    assert!(caller.wait_until(3600.0).is_empty());
    assert_eq!(caller.machine.cloud().living(), 0);
}

#[test]
fn failing_prepare_steps_fail_at_their_end() {
    let mut caller = Caller::new(faulty(Verb::Prepare, certain(|f| f.errored = 1.0)));
    let provider = caller.started(1);
    assert_eq!(caller.call_id(Verb::Prepare, provider), Reply::Failed(Failure::Errored));
    assert_eq!(caller.seconds(), 12.0);
    assert_eq!(caller.call_id(Verb::Probe, provider), Reply::Alive { quiet: true });
}

#[test]
fn a_stuck_create_refuses_deletes_until_it_ends_one_way_or_the_other() {
    let mut profile = steady();
    profile.stuck_creating = 1.0;
    profile.stuck_for = Distribution::Constant(900.0);
    let mut caller = Caller::new(profile);
    let ops: Vec<OpId> = (1..=40).map(|sequence| caller.ask(Verb::Create, sequence)).collect();
    caller.wait_until(880.0);
    assert_eq!(caller.call(Verb::Destroy, 1), Reply::Failed(Failure::Conflict));
    let mut created = 0;
    for op in ops {
        match caller.next_answer().unwrap() {
            (at, answered, Reply::Created { .. }) => {
                assert_eq!((at, answered), (Time::from_secs(900), op));
                created += 1;
            }
            (_, answered, reply) => {
                assert_eq!((answered, reply), (op, Reply::Failed(Failure::Errored)));
            }
        }
    }
    assert!((5..=35).contains(&created), "{created} of 40 were started after all");
}
