//! The provider without the adapter, as an HTTP server uses it.

use super::*;
use crate::daytona::cloud::{Change, Cloud, CreateRequest, Key, Refusal};
use crate::daytona::profile::RateLimits;
use crate::daytona::record::{Labels, State};
use sandpool_core::Resources;

fn request(sequence: u64) -> CreateRequest {
    CreateRequest {
        name: Some(name(sequence)),
        class: ClassId(0),
        labels: Labels::default(),
        ephemeral: false,
        auto_stop: Span::ZERO,
    }
}

fn run_until(cloud: &mut Cloud, seconds: u64) -> Vec<Change> {
    while cloud.step(Time::from_secs(seconds)) {}
    std::iter::from_fn(|| cloud.poll_change()).collect()
}

#[test]
fn a_stopped_sandbox_keeps_its_name_and_its_disk() {
    let mut cloud = Cloud::new(&steady(), &[Class::default()], 1, 0);
    let id = cloud.create(Time::ZERO, request(1)).outcome.unwrap();
    assert_eq!(
        run_until(&mut cloud, 5),
        [Change { at: Time::from_secs(2), provider: id, state: State::Started }]
    );
    assert_eq!(cloud.next_at(), None, "an auto-stop of zero is never");
    let key = Key::Name(name(1));
    assert_eq!(cloud.stop(Time::from_secs(9), key).outcome, Ok(id));
    let disk = Class::default().resources.disk_mb;
    assert_eq!(cloud.counted(), Resources { disk_mb: disk, ..Resources::ZERO });
    assert_eq!(cloud.sandbox(id).unwrap().billed_until, Some(Time::from_secs(9)));
    assert_eq!(cloud.stop(Time::from_secs(10), key).outcome, Err(Refusal::Rejected));
    assert_eq!(cloud.delete(Time::from_secs(11), key).outcome, Ok(id));
    assert_eq!(cloud.counted(), Resources::ZERO);
    assert_eq!(cloud.delete(Time::from_secs(12), key).outcome, Err(Refusal::NotFound));
    assert_eq!(cloud.delete(Time::from_secs(12), Key::Id(id)).outcome, Err(Refusal::Conflict));
    let states: Vec<State> = run_until(&mut cloud, 20).iter().map(|change| change.state).collect();
    assert_eq!(states, [State::Stopped, State::Gone]);
    assert_eq!(cloud.sandbox(id), None);
    assert_eq!(cloud.delete(Time::from_secs(20), Key::Id(id)).outcome, Err(Refusal::NotFound));
}

#[test]
fn a_refused_create_counts_in_the_rate_limit_and_an_id_is_never_used_again() {
    let mut profile = steady();
    profile.quota = Class::default().resources;
    profile.rate_limits = RateLimits { creates: 2, lifecycle: u32::MAX };
    let mut cloud = Cloud::new(&profile, &[Class::default()], 1, 0);
    let first = cloud.create(Time::ZERO, request(1)).outcome.unwrap();
    let full = cloud.create(Time::ZERO, request(2)).outcome;
    assert!(matches!(full, Err(Refusal::Full { .. })), "{full:?}");
    let limited = cloud.create(Time::ZERO, request(3)).outcome;
    assert!(matches!(limited, Err(Refusal::RateLimited { .. })), "{limited:?}");
    run_until(&mut cloud, 5);
    cloud.delete(Time::from_secs(5), Key::Id(first)).outcome.unwrap();
    run_until(&mut cloud, 100);
    let second = cloud.create(Time::from_secs(100), request(1)).outcome.unwrap();
    assert_ne!(first, second);
    assert_eq!(cloud.sandbox(first), None);
}

#[test]
fn memory_follows_the_living_not_the_dead() {
    let profile = Profile {
        rate_limits: Profile::instant().rate_limits,
        deaths_per_hour: 1.0,
        ..Profile::default()
    };
    let mut caller = Caller::new(profile);
    let mut sizes = Vec::new();
    for sequence in 0..20_000 {
        let provider = caller.started(sequence);
        caller.ask_id(Verb::Destroy, provider);
        while caller.next_answer().is_some_and(|(_, _, reply)| reply != Reply::Destroyed) {}
        caller.machine.take_finished();
        if sequence % 5_000 == 4_999 {
            sizes.push(caller.machine.footprint());
        }
    }
    assert!(sizes.iter().all(|&size| size <= 16), "{sizes:?}");
}
