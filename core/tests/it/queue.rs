//! Waiting: order, overtaking, bounds, explanation.

use crate::harness::{Pool, class, on_execute};
use sandpool_core::{
    ClassId, Dimension, EventKind, QueuePolicy, Reason, Resources, SandboxState, Span, WaitReason,
};

fn one() -> sandpool_core::Config {
    let mut config = on_execute();
    config.max.slots = 1;
    config
}

#[test]
fn who_waited_longest_is_served_first() {
    let mut pool = Pool::new(one());
    let busy = pool.busy(0);
    let waiting: Vec<_> = (1..5).map(|account| pool.blocked(account)).collect();
    pool.finish(busy);
    pool.close(busy);
    for &next in &waiting {
        pool.serve_all();
        assert_eq!(pool.state(next), Some(SandboxState::Busy));
        pool.finish(next);
        pool.close(next);
    }
}

#[test]
fn with_fewest_held_a_light_account_goes_before_a_heavy_one() {
    let mut config = on_execute();
    config.max.slots = 3;
    config.max_sandboxes_per_account = 10;
    config.queue_policy = QueuePolicy::FewestHeld;
    let mut pool = Pool::new(config);
    let busy = pool.busy(0);
    pool.busy(0);
    pool.busy(0);
    let heavy = pool.blocked(0);
    let light = pool.blocked(1);
    pool.finish(busy);
    pool.close(busy);
    pool.serve_all();
    assert_eq!(pool.state(light), Some(SandboxState::Busy));
    assert!(pool.is_waiting(heavy));
}

#[test]
fn a_large_claim_is_overtaken_a_bounded_number_of_times() {
    let mut config = on_execute();
    config.classes = vec![class("small", 1.0), class("large", 4.0)];
    config.max = Resources { slots: 10, memory_mb: 4 * 1024, ..Resources::ZERO };
    config.max.cpu_milli = Resources::UNLIMITED;
    config.max.disk_mb = Resources::UNLIMITED;
    config.max_sandboxes_per_account = 10;
    config.max_overtakes = 3;
    config.sandbox_wait = Span::MAX;
    let mut pool = Pool::new(config);
    let busy: Vec<_> = (0..3).map(|_| pool.busy(0)).collect();
    let large = pool.open(1);
    pool.begin_class(large, ClassId(1));
    pool.execute(large);
    let mut overtaking = Vec::new();
    for _ in 0..3 {
        let small = pool.blocked(2);
        pool.serve_all();
        assert_eq!(pool.state(small), Some(SandboxState::Busy));
        pool.finish(small);
        pool.close(small);
        pool.serve_all();
        overtaking.push(small);
    }
    let fourth = pool.blocked(2);
    assert!(pool.is_waiting(fourth), "1 GB is free, and held for the large one");
    let claim = pool.scheduler.conversation(fourth).unwrap().claim.unwrap().0;
    assert_eq!(pool.scheduler.explain(claim).unwrap().reason, WaitReason::HeldForOlder);
    for conversation in busy {
        pool.finish(conversation);
        pool.close(conversation);
    }
    pool.serve_all();
    assert_eq!(pool.state(large), Some(SandboxState::Busy));
    assert!(pool.is_waiting(fourth));
}

#[test]
fn a_borrowers_wait_never_holds_back_who_is_within_its_share() {
    let mut config = on_execute();
    config.max.slots = 6;
    config.max_sandboxes_per_account = 2;
    config.max_overtakes = 0;
    config.sandbox_wait = Span::MAX;
    let mut pool = Pool::new(config);
    for _ in 0..4 {
        pool.busy(0);
    }
    let borrower = pool.blocked(0);
    assert!(pool.is_waiting(borrower));
    for account in 1..=2 {
        pool.busy(account);
    }
}

#[test]
fn one_more_than_the_queues_depth_is_refused_at_once() {
    let mut config = one();
    config.max_waiting = 2;
    let mut pool = Pool::new(config);
    pool.busy(0);
    let waiting: Vec<_> = (1..=2).map(|account| pool.blocked(account)).collect();
    let refused = pool.blocked(3);
    assert_eq!(pool.refusal(refused), Some(Reason::QueueTooLong));
    assert!(waiting.iter().all(|&c| pool.is_waiting(c)));
}

#[test]
fn with_a_depth_of_zero_who_fits_is_still_served() {
    let mut config = one();
    config.max_waiting = 0;
    let mut pool = Pool::new(config);
    pool.busy(0);
    let refused = pool.blocked(1);
    assert_eq!(pool.refusal(refused), Some(Reason::QueueTooLong));
}

#[test]
fn with_no_patience_who_fits_is_still_served() {
    let mut config = one();
    config.sandbox_wait = Span::ZERO;
    let mut pool = Pool::new(config);
    pool.busy(0);
    let refused = pool.blocked(1);
    assert_eq!(pool.refusal(refused), Some(Reason::Full));
}

#[test]
fn what_can_never_fit_is_refused_at_once() {
    let mut config = on_execute();
    config.classes = vec![class("default", 1.0), class("huge", 11.0)];
    let mut pool = Pool::new(config);
    let conversation = pool.open(0);
    pool.begin_class(conversation, ClassId(1));
    pool.execute(conversation);
    assert_eq!(pool.refusal(conversation), Some(Reason::NeverFits));
}

#[test]
fn every_blocked_execute_gets_exactly_one_answer() {
    let mut pool = Pool::new(one());
    pool.busy(0);
    let conversations: Vec<_> = (1..20).map(|account| pool.blocked(account)).collect();
    pool.wait_served(3_600.0);
    for conversation in conversations {
        assert_eq!(pool.of(conversation, EventKind::SandboxUnavailable).len(), 1);
        assert_eq!(pool.of(conversation, EventKind::SandboxBusy).len(), 0);
    }
    assert_eq!(pool.scheduler.pending().2, 0, "no claim is left");
}

#[test]
fn a_wait_is_explained_with_position_reason_and_estimate() {
    let mut pool = Pool::new(one());
    let explain = |pool: &Pool, conversation| {
        let (claim, _) = pool.scheduler.conversation(conversation).unwrap().claim.unwrap();
        pool.scheduler.explain(claim).unwrap()
    };
    // Two leases end ten seconds apart: a pace to estimate from.
    for _ in 0..3 {
        let conversation = pool.busy(0);
        pool.wait(10.0);
        pool.finish(conversation);
        pool.close(conversation);
        pool.serve_all();
    }
    pool.busy(0);
    let first = pool.blocked(1);
    pool.wait(4.0);
    let second = pool.blocked(2);
    let explanation = explain(&pool, second);
    assert_eq!(explanation.reason, WaitReason::Capacity(Dimension::Slots));
    assert_eq!(explanation.position, Some(1));
    assert_eq!(explanation.patience_left, Some(Span::from_secs(30)));
    let estimate = explanation.estimate.unwrap().as_secs_f64();
    assert!((20.0..40.0).contains(&estimate), "two leases of ten seconds, and a start: {estimate}");
    let explanation = explain(&pool, first);
    assert_eq!(explanation.position, Some(0));
    assert_eq!(explanation.waited, Span::from_secs(4));
    // Admitted: it waits for its start only.
    let mut pool = Pool::new(on_execute());
    let starting = pool.blocked(0);
    let explanation = explain(&pool, starting);
    assert_eq!((explanation.reason, explanation.position), (WaitReason::Starting, None));
    assert!(explanation.estimate.is_some());
}
