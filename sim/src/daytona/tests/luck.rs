//! Common random numbers, determinism, and the default profile's figures.

use super::*;
use crate::random::{Purpose, Stream};

/// Everything at once: the fault search's daily bread.
fn rough() -> Profile {
    let mut profile = Profile::default();
    let some = VerbFaults {
        unavailable: 0.05,
        errored: 0.05,
        lost_request: 0.03,
        lost_answer: 0.05,
        rejected: 0.01,
    };
    profile.faults = Verb::ALL.iter().map(|&verb| (verb, some)).collect();
    profile.stuck_creating = 0.03;
    profile.stuck_destroying = 0.05;
    profile.deaths_per_hour = 2.0;
    profile.group_deaths_per_hour = 3.0;
    profile.group_death_share = 0.4;
    profile.list_partial = 0.2;
    profile.rate_limits.creates = 20;
    profile.auto_stop = Span::from_secs(300);
    profile.other_tenants.sandboxes = Some(Distribution::Uniform { min: 0.0, max: 6.0 });
    profile
}

#[test]
fn the_nth_create_is_equally_lucky_whatever_else_happens() {
    let mut profile = Profile::default();
    profile.latencies.create_slowdown = 0.0;
    profile.quota = Profile::instant().quota;
    let latencies = |busy: bool| -> Vec<u64> {
        let mut caller = Caller::with_seed(profile.clone(), 9);
        (1..=20)
            .map(|sequence| {
                let before = caller.now;
                let provider = caller.started(sequence);
                let took = caller.now.since(before).as_nanos();
                if busy {
                    caller.call_id(Verb::Prepare, provider);
                    caller.call(Verb::FindAll, 0);
                    caller.call_id(Verb::Destroy, provider);
                }
                took
            })
            .collect()
    };
    assert_eq!(latencies(true), latencies(false));
}

#[test]
fn a_cold_start_takes_about_eleven_seconds_by_default() {
    let profile = Profile { quota: Profile::instant().quota, ..Profile::default() };
    let mut caller = Caller::new(profile);
    let (mut starts, mut deletes, n) = (0.0, 0.0, 500);
    for sequence in 0..n {
        let begun = caller.seconds();
        let provider = caller.started(sequence);
        assert_eq!(caller.call_id(Verb::Prepare, provider), Reply::Prepared);
        starts += caller.seconds() - begun;
        let begun = caller.seconds();
        assert_eq!(caller.call_id(Verb::Destroy, provider), Reply::Destroyed);
        deletes += caller.seconds() - begun;
    }
    let (start, delete) = (starts / n as f64, deletes / n as f64);
    assert!((10.7..11.3).contains(&start), "{start}");
    assert!((1.3..1.5).contains(&delete), "{delete}");
}

/// Random calls every three seconds for an hour, with the clock stopping every `pace` seconds in
/// between; returns every answer.
fn wander(seed: u64, pace: u64) -> (Caller, Vec<(OpId, Reply)>) {
    let mut caller = Caller::with_seed(rough(), seed);
    let mut dice = Stream::new(seed, 77, Purpose::Oracle, 0);
    let mut log = Vec::new();
    let mut known: Vec<ProviderId> = Vec::new();
    for second in 1..=3600_u64 {
        let asks = second % 3 == 0;
        if !asks && second % pace != 0 {
            continue;
        }
        for (op, reply) in caller.wait_until(second as f64) {
            if let Reply::Created { provider } = reply {
                known.push(provider);
                if known.len() > 12 {
                    known.remove(0);
                }
            }
            log.push((op, reply));
        }
        if asks {
            let verb = Verb::ALL[(dice.bits() % 8) as usize];
            let pick = dice.bits();
            match known.get((pick % 16) as usize) {
                Some(&provider) if verb != Verb::Create => caller.ask_id(verb, provider),
                _ => caller.ask(verb, second),
            };
            if pick.is_multiple_of(500) {
                caller.machine.forget_clients();
            }
        }
        check(&caller, seed);
    }
    (caller, log)
}

/// What must hold at every instant, whatever goes wrong.
fn check(caller: &Caller, seed: u64) {
    let cloud = caller.machine.cloud();
    let sizes = [1_i64, 4].map(|gb| gb * 1024);
    let mut memory = 0;
    for sandbox in cloud.sandboxes() {
        use crate::daytona::record::State;
        if sandbox.state.counts_whole() {
            memory += sizes[usize::from(sandbox.class.0)];
        }
        if let Some(name) = sandbox.name {
            assert_eq!(cloud.find(name), Some(sandbox.provider), "seed {seed}");
        }
        assert_ne!(sandbox.state, State::Gone, "seed {seed}");
    }
    assert_eq!(cloud.counted().memory_mb, memory, "seed {seed}");
    assert!(memory <= 10 * 1024, "seed {seed}");
    let tally = cloud.tally();
    assert_eq!(tally.created, tally.gone + cloud.living() as u64, "seed {seed}");
}

#[test]
fn a_rough_hour_keeps_the_books_and_is_the_same_at_any_pace() {
    for seed in 0..20 {
        let (mut caller, log) = wander(seed, 1);
        let (_, again) = wander(seed, 60);
        assert!(log.len() > 300, "seed {seed}: {} answers", log.len());
        assert_eq!(log, again, "seed {seed}");
        let tally = caller.machine.cloud().tally();
        assert_eq!(caller.machine.take_finished().count() as u64, tally.gone, "seed {seed}");
        assert!(tally.died > 0 && tally.auto_stopped > 0, "seed {seed}: {tally:?}");
    }
}
