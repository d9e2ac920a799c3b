//! Sandboxes that go without being asked: deaths, group deaths, auto-stop.

use super::*;
use crate::daytona::machine::Usability;
use crate::daytona::record::{Ending, Finished};

#[test]
fn silent_deaths_come_at_their_rate_and_are_learned_only_by_asking() {
    let mut profile = steady();
    profile.deaths_per_hour = 0.5;
    let mut caller = Caller::new(profile);
    let ids: Vec<ProviderId> = (0..400).map(|sequence| caller.started(sequence)).collect();
    let start = caller.seconds();
    assert!(caller.wait_until(start + 3600.0).is_empty(), "nobody is told");
    let dead: Vec<ProviderId> =
        ids.iter().copied().filter(|&id| !caller.machine.is_alive(caller.now, id)).collect();
    // Between 1 h and 1.22 h of life each: 39 % to 46 % are dead.
    assert!((130..=215).contains(&dead.len()), "{} of 400 died", dead.len());
    assert_eq!(caller.call_id(Verb::Probe, dead[0]), Reply::Gone);
    assert_eq!(caller.machine.usable(caller.now, dead[0]), Usability::Gone);
    let bills: Vec<Finished> = caller.machine.take_finished().collect();
    assert_eq!(bills.len() as u64, caller.machine.cloud().tally().died);
    for bill in bills {
        assert_eq!(bill.ending, Ending::Died);
        assert_eq!(bill.billed.unwrap().1, bill.ended_at);
    }
}

#[test]
fn a_sandbox_that_dies_while_it_is_prepared_is_gone() {
    let mut profile = steady();
    profile.deaths_per_hour = 3600.0;
    profile.latencies.prepare = Distribution::Constant(100.0);
    let mut caller = Caller::new(profile);
    let provider = caller.started(1);
    let op = caller.ask_id(Verb::Prepare, provider);
    assert_eq!(caller.next_answer(), Some((Time::from_secs(102), op, Reply::Gone)));
}

#[test]
fn a_group_death_takes_its_share_at_one_instant() {
    let mut profile = Profile::instant();
    profile.group_deaths_per_hour = 1.0;
    profile.group_death_share = 0.3;
    let mut caller = Caller::new(profile);
    for sequence in 0..300 {
        caller.started(sequence);
    }
    let at = caller.machine.next_at().expect("a machine will fail");
    caller.machine.advance(at);
    let bills: Vec<Finished> = caller.machine.take_finished().collect();
    assert!((60..=120).contains(&bills.len()), "{} of 300", bills.len());
    assert!(bills.iter().all(|bill| bill.ended_at == at && bill.ending == Ending::Died));
}

#[test]
fn without_activity_an_ephemeral_sandbox_is_stopped_and_gone() {
    let mut profile = steady();
    profile.auto_stop = Span::from_secs(600);
    let mut caller = Caller::new(profile);
    let idle = caller.started(1);
    let kept = caller.started(2);
    let busy = caller.started(3);
    caller.machine.execute_begun(caller.now, busy);
    caller.wait_until(500.0);
    assert_eq!(caller.call_id(Verb::KeepAlive, kept), Reply::Alive { quiet: true });
    assert_eq!(caller.call_id(Verb::Probe, idle), Reply::Alive { quiet: true });
    caller.wait_until(601.9);
    assert!(
        caller.machine.is_alive(caller.now, idle),
        "a probe is no activity, 600 s are not over"
    );
    caller.wait_until(1099.9);
    assert!(!caller.machine.is_alive(caller.now, idle));
    assert!(caller.machine.is_alive(caller.now, kept));
    caller.wait_until(1500.0);
    assert!(!caller.machine.is_alive(caller.now, kept));
    assert!(caller.machine.is_alive(caller.now, busy), "a running command is activity");
    assert_eq!(caller.call_id(Verb::Probe, busy), Reply::Alive { quiet: false });
    caller.wait_until(5000.0);
    caller.machine.execute_ended(caller.now, busy);
    caller.wait_until(5599.0);
    assert!(caller.machine.is_alive(caller.now, busy));
    caller.wait_until(5610.0);
    assert!(!caller.machine.is_alive(caller.now, busy));
    let bills: Vec<Finished> = caller.machine.take_finished().collect();
    let until: Vec<f64> = bills.iter().map(|bill| bill.billed.unwrap().1.as_secs_f64()).collect();
    assert_eq!(until, [602.0, 1100.0, 5600.0]);
    assert!(bills.iter().all(|bill| bill.ending == Ending::AutoStopped));
}
