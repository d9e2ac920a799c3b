//! Starts that fail, hang, are limited, and what that costs whom.

use crate::harness::{Pool, class, on_execute};
use sandpool_core::{
    ClassId, EventKind, Failure, Reason, Resources, SandboxState, Span, Verb, WaitReason,
};

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
    config.sandbox_wait = Span::from_secs(600);
    config.start_timeout = Span::from_secs(3_000);
    config.limbo_hold = Span::from_secs(3_000);
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

#[test]
fn failures_of_starts_that_began_before_the_breaker_opened_say_nothing_new() {
    let mut config = on_execute();
    config.max_starting = 20;
    config.max.slots = 50;
    config.max.memory_mb = Resources::UNLIMITED;
    let mut pool = Pool::new(config);
    for account in 0..20 {
        pool.blocked(account);
    }
    for _ in 0..20 {
        pool.fail(Verb::Create, Failure::Unavailable);
    }
    assert_eq!(pool.count(EventKind::BreakerOpened), 1);
    let view = pool.scheduler.class_view(ClassId(0)).unwrap();
    assert_eq!(view.not_before.since(pool.now), pool.scheduler.config().breaker_open);
}

#[test]
fn a_broken_template_does_not_keep_other_classes_from_capacity() {
    let mut config = on_execute();
    config.classes.push(class("broken", 1.0));
    config.breaker_open = Span::from_secs(60);
    let mut pool = Pool::new(config);
    let broken_claim = |pool: &mut Pool, account| {
        let conversation = pool.open(account);
        pool.begin_class(conversation, ClassId(1));
        pool.execute(conversation);
        conversation
    };
    // Ten claims take all ten slots; then the first starts fail, and the breaker opens.
    let waits: Vec<_> = (0..10).map(|account| broken_claim(&mut pool, 100 + account)).collect();
    while pool.asked(Verb::Create) > 0 {
        pool.fail(Verb::Create, Failure::Unavailable);
    }
    assert!(pool.scheduler.class_view(ClassId(1)).unwrap().is_breaker_open);
    let late = broken_claim(&mut pool, 200);
    let good = pool.blocked(0);
    pool.serve_all();
    assert_eq!(pool.state(good), Some(SandboxState::Busy));
    let claim = pool.scheduler.conversation(late).unwrap().claim.unwrap().0;
    assert_eq!(pool.scheduler.explain(claim).unwrap().reason, WaitReason::StartPaused);
    // Their patience ends before the breaker lets a trial through: none is told that it is full.
    pool.wait_served(30.0);
    for conversation in waits.into_iter().chain([late]) {
        assert_eq!(pool.refusal(conversation), Some(Reason::CouldNotStart));
    }
}

#[test]
fn one_claim_is_admitted_for_the_trial_and_all_when_it_has_worked() {
    let mut config = on_execute();
    config.sandbox_wait = Span::from_secs(300);
    let mut pool = Pool::new(config);
    let waits: Vec<_> = (0..6).map(|account| pool.blocked(account)).collect();
    while pool.asked(Verb::Create) > 0 {
        pool.fail(Verb::Create, Failure::Unavailable);
    }
    assert!(pool.scheduler.class_view(ClassId(0)).unwrap().is_breaker_open);
    pool.wait(29.0);
    assert_eq!(pool.asked(Verb::Create), 0);
    pool.wait(2.0);
    assert_eq!(pool.asked(Verb::Create), 1, "one trial");
    let capacity = pool.scheduler.capacity();
    assert_eq!(capacity.used.slots, 1, "and nobody else holds capacity: {capacity:?}");
    pool.serve_all();
    let served = waits.iter().filter(|&&it| pool.state(it) == Some(SandboxState::Busy)).count();
    assert_eq!(served, 6);
}

#[test]
fn a_provider_that_asks_for_an_endless_pause_is_asked_again() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.busy(0);
    pool.close(conversation);
    pool.fail(Verb::Destroy, Failure::RateLimited { retry_after: Span::MAX });
    pool.wait_served(2.0 * 3_600.0);
    assert_eq!(pool.used_slots(), 0, "no slot is lost to it");
    pool.blocked(0);
    pool.fail(Verb::Create, Failure::RateLimited { retry_after: Span::MAX });
    pool.wait_served(2.0 * 3_600.0);
    pool.busy(1);
}
