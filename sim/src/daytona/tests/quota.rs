//! Quota, other tenants, rate limits.

use super::*;
use crate::daytona::profile::OtherTenants;
use sandpool_core::{Dimension, Failure, Resources};

fn full(dimension: Dimension) -> Reply {
    Reply::Failed(Failure::Full { dimension: Some(dimension) })
}

#[test]
fn the_first_tier_holds_ten_default_sandboxes_and_a_delete_frees_at_once() {
    let mut profile = steady();
    profile.quota = Profile::default().quota;
    let mut caller = Caller::new(profile);
    let first = caller.started(1);
    for sequence in 2..=10 {
        caller.started(sequence);
    }
    let before = caller.seconds();
    assert_eq!(caller.call(Verb::Create, 11), full(Dimension::Cpu));
    assert!((caller.seconds() - before - 0.1).abs() < 1e-6);
    assert_eq!(caller.machine.cloud().living(), 10);
    let op = caller.ask_id(Verb::Destroy, first);
    let create = caller.ask(Verb::Create, 12);
    assert!(matches!(caller.answer_to(create), Reply::Created { .. }), "destroying counts nothing");
    assert_eq!(caller.answer_to(op), Reply::Destroyed);
}

#[test]
fn memory_is_refused_though_sandboxes_are_few() {
    let mut profile = steady();
    profile.quota = Resources { memory_mb: 10 * 1024, ..Profile::instant().quota };
    let mut caller = Caller::new(profile);
    let mut create = |sequence, class| {
        let op =
            caller.ask_with(Verb::Create, sequence, |operation| operation.class = ClassId(class));
        caller.answer_to(op)
    };
    for (sequence, class) in [(1, 0), (2, 0), (3, 1), (4, 1)] {
        assert!(matches!(create(sequence, class), Reply::Created { .. }));
    }
    assert_eq!(create(5, 0), full(Dimension::Memory));
}

#[test]
fn other_tenants_take_from_the_same_quota() {
    let mut profile = steady();
    profile.quota = Profile::default().quota;
    profile.other_tenants = OtherTenants {
        sandboxes: Some(Distribution::Constant(8.0)),
        step: Distribution::Constant(60.0),
    };
    let mut caller = Caller::new(profile);
    caller.started(1);
    caller.started(2);
    assert_eq!(caller.call(Verb::Create, 3), full(Dimension::Cpu));
}

#[test]
fn creates_and_deletes_are_limited_each_for_itself() {
    let mut profile = Profile::instant();
    profile.rate_limits.creates = 3;
    profile.rate_limits.lifecycle = 1;
    let mut caller = Caller::new(profile);
    let ids: Vec<ProviderId> = (1..=3).map(|sequence| caller.started(sequence)).collect();
    let limited =
        |seconds| Reply::Failed(Failure::RateLimited { retry_after: Span::from_secs(seconds) });
    assert_eq!(caller.call(Verb::Create, 4), limited(60));
    assert_eq!(caller.call_id(Verb::Destroy, ids[0]), Reply::Destroyed);
    caller.wait_until(20.0);
    assert_eq!(caller.call_id(Verb::Destroy, ids[1]), limited(60));
    assert_eq!(caller.call(Verb::Create, 4), limited(40));
    assert_eq!(caller.call_id(Verb::Probe, ids[1]), Reply::Alive { quiet: true });
    caller.wait_until(60.0);
    caller.started(4);
    assert_eq!(caller.call_id(Verb::Destroy, ids[1]), limited(20));
}
