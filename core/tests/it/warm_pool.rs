//! The warm pool: filled, hit, trimmed, kept young.

use crate::harness::{Pool, on_execute};
use sandpool_core::{ClassId, EventKind, Reason, SandboxState, Verb};

fn warm(target: i64) -> sandpool_core::Config {
    let mut config = on_execute();
    config.classes[0].warm_sandboxes = target;
    config
}

#[test]
fn a_warm_hit_is_served_in_the_same_step_and_refilled() {
    let mut pool = Pool::new(warm(1));
    pool.created();
    let conversation = pool.blocked(0);
    assert_eq!(pool.state(conversation), Some(SandboxState::Busy));
    let assigned = pool.of(conversation, EventKind::SandboxAssigned);
    assert_eq!(assigned[0].reason, Reason::WarmHit);
    assert_eq!(pool.asked(Verb::Create), 1, "the next one");
}

#[test]
fn with_an_empty_target_starts_are_made_on_demand() {
    let mut pool = Pool::new(warm(0));
    assert_eq!(pool.asked(Verb::Create), 0);
    let conversation = pool.blocked(0);
    pool.created();
    let assigned = pool.of(conversation, EventKind::SandboxAssigned);
    assert_eq!(assigned[0].reason, Reason::ColdStart);
}

#[test]
fn warm_ones_above_target_end_after_the_surplus_time() {
    let mut config = warm(1);
    config.start_policy = sandpool_core::StartPolicy::OnTurn;
    let mut pool = Pool::new(config);
    pool.serve_all();
    let unused: Vec<_> = (0..2).map(|account| pool.open(account)).collect();
    for &conversation in &unused {
        pool.begin(conversation);
    }
    pool.serve_all();
    for &conversation in &unused {
        pool.end(conversation);
    }
    assert_eq!(pool.scheduler.class_view(ClassId(0)).unwrap().warm, 3);
    pool.wait_served(59.0);
    assert_eq!(pool.scheduler.class_view(ClassId(0)).unwrap().warm, 3);
    pool.wait_served(1.0);
    assert_eq!(pool.scheduler.class_view(ClassId(0)).unwrap().warm, 1);
}

#[test]
fn a_warm_one_that_is_too_old_is_replaced() {
    let mut pool = Pool::new(warm(1));
    pool.serve_all();
    pool.wait_served(3_601.0);
    let aged = pool.events.iter().filter(|event| {
        event.kind == EventKind::SandboxDestroying && event.reason == Reason::WarmAge
    });
    assert_eq!(aged.count(), 1);
    assert_eq!(pool.scheduler.class_view(ClassId(0)).unwrap().warm, 1);
}

#[test]
fn warm_ones_are_kept_alive() {
    let mut pool = Pool::new(warm(1));
    pool.created();
    pool.wait(300.0);
    assert_eq!(pool.asked(Verb::KeepAlive), 1);
}

#[test]
fn a_used_sandbox_never_returns_to_the_pool() {
    let mut pool = Pool::new(warm(2));
    pool.serve_all();
    let conversation = pool.idle(0);
    let used = pool.scheduler.conversation(conversation).unwrap().sandbox.unwrap();
    pool.close(conversation);
    assert_eq!(pool.scheduler.sandbox(used).unwrap().state, SandboxState::Destroying);
}
