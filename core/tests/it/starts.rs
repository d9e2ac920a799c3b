//! Starts that fail, hang, are limited, and what that costs whom.

use crate::harness::{Pool, class, on_execute};
use sandpool_core::{ClassId, EventKind, Failure, Reason, SandboxState, Verb};

#[test]
fn at_most_max_starting_at_once_and_the_rest_follow() {
    let mut config = on_execute();
    config.max_starting = 2;
    config.max_sandboxes_per_account = 10;
    config.borrow_keep_free = 0;
    let mut pool = Pool::new(config);
    let all: Vec<_> = (0..6).map(|_| pool.blocked(0)).collect();
    for started in 0..6 {
        assert_eq!(pool.asked(Verb::Create), 2.min(6 - started));
        pool.created();
    }
    assert!(all.iter().all(|&c| pool.state(c) == Some(SandboxState::Busy)));
}

#[test]
fn a_claim_survives_failed_starts_up_to_its_bound() {
    let mut pool = Pool::new(on_execute());
    let lucky = pool.blocked(0);
    for _ in 0..2 {
        pool.fail(Verb::Create, Failure::Errored);
        pool.wait(5.0);
    }
    pool.created();
    assert_eq!(pool.state(lucky), Some(SandboxState::Busy));
    let mut pool = Pool::new(on_execute());
    let unlucky = pool.blocked(0);
    for _ in 0..3 {
        assert_eq!(pool.refusal(unlucky), None);
        pool.fail(Verb::Create, Failure::Errored);
        pool.wait(5.0);
    }
    assert_eq!(pool.refusal(unlucky), Some(Reason::CouldNotStart));
    pool.wait_served(100.0);
    assert_eq!((pool.used_slots(), pool.held(0)), (0, 0), "leftovers are removed by name");
}

#[test]
fn a_request_that_stays_wrong_is_not_tried_again() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.blocked(0);
    pool.fail(Verb::Create, Failure::Rejected);
    assert_eq!(pool.refusal(conversation), Some(Reason::CouldNotStart));
}

#[test]
fn an_admitted_claim_waits_for_its_start_no_longer_than_the_bound() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.blocked(0);
    pool.wait(59.9);
    assert_eq!(pool.refusal(conversation), None, "its patience does not bound the start");
    pool.wait(0.2);
    assert_eq!(pool.refusal(conversation), Some(Reason::CouldNotStart));
}

#[test]
fn a_start_that_hangs_in_prepare_frees_its_permit_and_is_destroyed() {
    let mut config = on_execute();
    config.classes[0].prepares = true;
    config.max_starting = 1;
    let mut pool = Pool::new(config);
    pool.blocked(0);
    pool.created();
    pool.wait(60.0);
    assert_eq!(pool.count(EventKind::SandboxFailed), 1);
    assert_eq!(pool.scheduler.capacity().starting, 0);
    assert_eq!(pool.asked(Verb::Destroy), 1);
    assert_eq!(pool.used_slots(), 1, "its capacity is not free");
}

#[test]
fn after_failures_in_a_row_the_breaker_opens_lets_a_trial_through_and_closes() {
    let mut config = on_execute();
    config.classes = vec![class("broken", 1.0), class("fine", 1.0)];
    config.max_sandboxes_per_account = 10;
    config.max_start_attempts = 100;
    config.breaker_failures = 3;
    config.start_timeout = sandpool_core::Span::from_secs(3_000);
    config.limbo_hold = sandpool_core::Span::from_secs(3_000);
    let mut pool = Pool::new(config);
    pool.blocked(0);
    pool.blocked(0);
    for _ in 0..3 {
        if pool.asked(Verb::Create) == 0 {
            pool.wait(6.0);
        }
        pool.fail(Verb::Create, Failure::Unavailable);
    }
    assert_eq!(pool.count(EventKind::BreakerOpened), 1);
    while pool.asked(Verb::Create) > 0 {
        pool.fail(Verb::Create, Failure::Unavailable);
    }
    assert!(pool.scheduler.class_view(ClassId(0)).unwrap().is_breaker_open);
    // The other class is not concerned.
    pool.busy_class(1, ClassId(1));
    pool.wait(20.0);
    assert_eq!(pool.asked(Verb::Create), 0, "open");
    pool.wait(100.0);
    assert_eq!(pool.asked(Verb::Create), 1, "one trial, though two claims want a start");
    pool.created();
    assert_eq!(pool.count(EventKind::BreakerClosed), 1);
    assert_eq!(pool.asked(Verb::Create), 1, "closed again");
}

#[test]
fn a_taken_name_is_not_adopted_without_an_unanswered_attempt_of_ones_own() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.blocked(0);
    pool.fail(Verb::Create, Failure::NameExists);
    assert_eq!(pool.asked(Verb::Destroy) + pool.asked(Verb::Find), 0, "it is not ours");
    assert_eq!(pool.count(EventKind::DriftDetected), 1);
    pool.wait(3.0);
    let second = pool.operations.iter().find(|op| op.verb == Verb::Create).unwrap().name;
    assert_eq!(second.sequence, 2, "another name");
    pool.created();
    assert_eq!(pool.state(conversation), Some(SandboxState::Busy));
}

#[test]
fn warm_starts_that_keep_failing_are_delayed_ever_longer() {
    let mut config = on_execute();
    config.classes[0].warm_sandboxes = 1;
    let mut pool = Pool::new(config);
    let mut asked = 0;
    for _ in 0..3_600 {
        while pool.asked(Verb::Create) > 0 {
            pool.fail(Verb::Create, Failure::Unavailable);
            asked += 1;
        }
        pool.wait(1.0);
        pool.operations.retain(|op| op.verb == Verb::Create);
    }
    assert!((5..40).contains(&asked), "{asked} attempts in an hour");
    assert!(pool.count(EventKind::BreakerOpened) >= 1, "and an alarm");
}
