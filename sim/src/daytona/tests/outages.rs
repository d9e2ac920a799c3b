//! Windows in which every call fails while sandboxes live on.

use super::*;
use crate::daytona::machine::Usability;
use crate::daytona::profile::Outage;
use sandpool_core::Failure;

fn out(start: u64, duration: u64, silent: bool) -> Profile {
    let outage =
        Outage { start: Span::from_secs(start), duration: Span::from_secs(duration), silent };
    Profile { outages: vec![outage], ..steady() }
}

#[test]
fn calls_fail_loudly_or_silently_and_change_nothing() {
    for silent in [false, true] {
        let mut caller = Caller::new(out(10, 100, silent));
        let provider = caller.started(1);
        caller.wait_until(20.0);
        let ops: Vec<OpId> = Verb::ALL.map(|verb| caller.ask_id(verb, provider)).to_vec();
        let answers = caller.wait_until(21.0);
        if silent {
            assert_eq!(answers, []);
        } else {
            let expected: Vec<_> =
                ops.iter().map(|&op| (op, Reply::Failed(Failure::Unavailable))).collect();
            assert_eq!(answers, expected);
        }
        assert_eq!(caller.machine.usable(caller.now, provider), Usability::Unreachable);
        assert!(caller.machine.is_alive(caller.now, provider));
        assert!(caller.wait_until(110.0).is_empty());
        assert_eq!(caller.machine.usable(caller.now, provider), Usability::Yes);
        assert_eq!(caller.call_id(Verb::Probe, provider), Reply::Alive { quiet: true });
    }
}

#[test]
fn an_end_that_falls_into_an_outage_is_learned_after_it() {
    let mut caller = Caller::new(out(4, 20, true));
    let doomed = caller.started(1);
    caller.wait_until(3.0);
    let create = caller.ask(Verb::Create, 2);
    let destroy = caller.ask_id(Verb::Destroy, doomed);
    let (at, first, reply) = caller.next_answer().unwrap();
    assert_eq!((at, first), (Time::from_secs(24), create));
    let Reply::Created { provider } = reply else { panic!("{reply:?}") };
    let sandbox = caller.machine.cloud().sandbox(provider).unwrap();
    assert_eq!(sandbox.billed_from, Some(Time::from_secs(5)), "it started on time");
    assert_eq!(caller.next_answer(), Some((Time::from_secs(24), destroy, Reply::Destroyed)));
}

#[test]
fn prepare_steps_that_end_in_an_outage_are_lost() {
    for (silent, expected) in [(false, vec![Reply::Failed(Failure::Lost)]), (true, vec![])] {
        let mut caller = Caller::new(out(5, 30, silent));
        let provider = caller.started(1);
        caller.ask_id(Verb::Prepare, provider);
        let replies: Vec<Reply> =
            caller.wait_until(100.0).into_iter().map(|(_, reply)| reply).collect();
        assert_eq!(replies, expected);
    }
}
