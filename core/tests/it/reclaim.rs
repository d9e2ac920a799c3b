//! When capacity is full: what is taken, from whom, and what is never taken.

use crate::harness::{Pool, class, on_execute};
use sandpool_core::{ClassId, EventKind, Reason, ReclaimPolicy, SandboxState, Span, Verb};

fn full(slots: i64) -> sandpool_core::Config {
    let mut config = on_execute();
    config.max.slots = slots;
    config.max_sandboxes_per_account = 1;
    config.borrow_keep_free = 0;
    config
}

#[test]
fn an_idle_sandbox_is_reclaimed_only_after_its_protection() {
    let mut pool = Pool::new(full(1));
    let idle = pool.idle(0);
    pool.wait(2.0);
    let blocked = pool.blocked(1);
    pool.wait(7.9);
    assert_eq!(pool.state(idle), Some(SandboxState::Idle));
    pool.wait(0.1);
    assert_eq!(pool.state(idle), None, "ten seconds after its last use");
    assert_eq!(pool.of(idle, EventKind::SandboxReclaimed).len(), 1, "its conversation is told");
    assert!(pool.is_waiting(blocked), "the capacity is on its way");
    pool.serve_all();
    assert_eq!(pool.state(blocked), Some(SandboxState::Busy));
}

#[test]
fn no_more_is_taken_than_is_needed_counting_what_is_on_its_way() {
    let mut pool = Pool::new(full(3));
    let idle: Vec<_> = (0..3).map(|account| pool.idle(account)).collect();
    pool.wait(20.0);
    let first = pool.blocked(3);
    assert_eq!(pool.count(EventKind::SandboxReclaimed), 1);
    pool.wait(5.0);
    assert_eq!(pool.count(EventKind::SandboxReclaimed), 1, "one is on its way, one waits");
    let second = pool.blocked(4);
    assert_eq!(pool.count(EventKind::SandboxReclaimed), 2);
    assert_eq!(pool.state(idle[2]), Some(SandboxState::Idle));
    pool.serve_all();
    assert!([first, second].iter().all(|&c| pool.state(c) == Some(SandboxState::Busy)));
}

#[test]
fn borrowers_lose_first_then_the_least_recently_used() {
    let mut pool = Pool::new(full(4));
    let oldest = pool.idle(0);
    pool.wait(20.0);
    let borrowed: Vec<_> = (0..2).map(|_| pool.idle(1)).collect();
    pool.wait(20.0);
    pool.busy(2);
    pool.blocked(3);
    assert_eq!(pool.state(borrowed[0]), None, "the borrower's older one");
    assert_eq!(pool.state(oldest), Some(SandboxState::Idle));
    pool.blocked(4);
    assert_eq!(pool.state(oldest), None, "nobody borrows any more: the least recently used");
    assert_eq!(pool.state(borrowed[1]), Some(SandboxState::Idle));
}

#[test]
fn the_lru_policy_does_not_look_at_who_borrows() {
    let mut config = full(3);
    config.reclaim_policy = ReclaimPolicy::Lru;
    let mut pool = Pool::new(config);
    let oldest = pool.idle(0);
    pool.wait(1.0);
    let borrowed: Vec<_> = (0..2).map(|_| pool.idle(1)).collect();
    pool.wait(20.0);
    pool.blocked(3);
    assert_eq!(pool.state(oldest), None);
    assert!(borrowed.iter().all(|&c| pool.state(c) == Some(SandboxState::Idle)));
}

#[test]
fn a_sandbox_with_an_open_turn_is_never_reclaimed() {
    let mut pool = Pool::new(full(1));
    let idle = pool.idle(0);
    pool.wait(60.0);
    pool.begin(idle);
    let blocked = pool.blocked(1);
    pool.wait(30.0);
    assert_eq!(pool.refusal(blocked), Some(Reason::Full));
    assert_eq!(pool.state(idle), Some(SandboxState::Idle));
}

#[test]
fn a_borrower_may_reclaim_only_its_own() {
    let mut pool = Pool::new(full(2));
    let other = pool.idle(1);
    pool.busy(0);
    pool.wait(20.0);
    let borrower = pool.blocked(0);
    assert!(pool.is_waiting(borrower));
    assert_eq!(pool.state(other), Some(SandboxState::Idle));
    pool.wait(30.0);
    assert_eq!(pool.refusal(borrower), Some(Reason::Full));
    // With an idle one of its own it may.
    let mut pool = Pool::new(full(2));
    let own = pool.idle(0);
    pool.busy(1);
    pool.wait(20.0);
    let next = pool.blocked(0);
    assert_eq!(pool.state(own), None);
    pool.serve_all();
    assert_eq!(pool.state(next), Some(SandboxState::Busy));
}

#[test]
fn only_a_set_that_makes_the_claim_admissible_is_taken() {
    let mut config = full(4);
    config.classes = vec![class("small", 1.0), class("large", 4.0)];
    config.max.memory_mb = 5 * 1024;
    let mut pool = Pool::new(config);
    // Three small idle ones, and one busy: all three together do not make room for a large one.
    let idle: Vec<_> = (0..3).map(|account| pool.idle(account)).collect();
    let busy = pool.busy(3);
    pool.wait(20.0);
    let large = pool.open(9);
    pool.begin_class(large, ClassId(1));
    pool.execute(large);
    assert_eq!(pool.count(EventKind::SandboxReclaimed), 3, "1 free + 3 is enough for 4");
    pool.serve_all();
    assert_eq!(pool.state(large), Some(SandboxState::Busy));
    assert!(idle.iter().all(|&c| pool.state(c).is_none()));
    assert_eq!(pool.state(busy), Some(SandboxState::Busy));
    // Now nothing that could be taken would be enough.
    let another = pool.open(10);
    pool.begin_class(another, ClassId(1));
    pool.execute(another);
    assert!(pool.is_waiting(another));
    assert_eq!(pool.asked(Verb::Destroy), 0);
}

#[test]
fn three_small_ones_stay_where_a_large_one_is_enough() {
    let mut config = full(10);
    config.classes = vec![class("small", 1.0), class("large", 4.0)];
    config.max.memory_mb = 7 * 1024;
    config.reclaim_policy = ReclaimPolicy::Lru;
    let mut pool = Pool::new(config);
    let small: Vec<_> = (0..3).map(|account| pool.idle(account)).collect();
    let large = pool.busy_class(3, ClassId(1));
    pool.finish(large);
    pool.end(large);
    pool.wait(20.0);
    let next = pool.open(9);
    pool.begin_class(next, ClassId(1));
    pool.execute(next);
    assert_eq!(pool.state(large), None);
    assert!(small.iter().all(|&c| pool.state(c) == Some(SandboxState::Idle)));
}

#[test]
fn a_warm_sandbox_of_another_class_is_evicted_before_anything_is_reclaimed() {
    let mut config = full(2);
    config.classes = vec![class("default", 1.0), class("other", 1.0)];
    config.classes[1].warm_sandboxes = 1;
    let mut pool = Pool::new(config);
    pool.serve_all();
    let idle = pool.idle(0);
    pool.wait(20.0);
    let blocked = pool.blocked(1);
    assert_eq!(pool.state(idle), Some(SandboxState::Idle));
    let evicted = pool.events.iter().filter(|event| event.reason == Reason::Evicted).count();
    assert_eq!(evicted, 1);
    pool.serve_all();
    assert_eq!(pool.state(blocked), Some(SandboxState::Busy));
}

#[test]
fn the_warm_pool_does_not_yield_to_a_claim_that_it_would_not_admit() {
    let mut config = full(2);
    config.classes[0].warm_sandboxes = 1;
    config.borrow_keep_free = 1;
    let mut pool = Pool::new(config);
    pool.serve_all();
    pool.busy(0);
    pool.serve_all();
    assert_eq!(pool.used_slots(), 2);
    // Taking the warm one would leave nothing free, evicting it would leave it nothing to take.
    let borrower = pool.blocked(0);
    assert!(pool.is_waiting(borrower));
    assert_eq!(pool.scheduler.class_view(ClassId(0)).unwrap().warm, 1);
    pool.wait(29.0);
    assert_eq!(pool.count(EventKind::SandboxDestroying), 0);
}

#[test]
fn a_claim_with_no_patience_takes_only_what_is_there_at_once() {
    let mut pool = Pool::new(full(1));
    let idle = pool.idle(0);
    pool.wait(20.0);
    let hurried = pool.open(1);
    pool.begin(hurried);
    pool.execute_with(hurried, Some(Span::ZERO));
    assert_eq!(pool.refusal(hurried), Some(Reason::Full));
    assert_eq!(pool.state(idle), Some(SandboxState::Idle), "nobody loses anything for nothing");
}

#[test]
fn a_swap_is_looked_at_again_as_soon_as_an_idle_sandbox_may_be_taken() {
    let mut config = on_execute();
    config.classes.push(class("large", 4.0));
    config.max.memory_mb = 5 * 1024;
    let mut pool = Pool::new(config);
    let small = pool.idle(0);
    let large = pool.busy_class(1, ClassId(1));
    pool.finish(large);
    pool.end(large); // Idle, and protected for ten seconds.
    pool.begin_class(small, ClassId(1));
    pool.execute(small);
    pool.wait_served(11.0);
    assert_eq!(pool.state(small), Some(SandboxState::Busy), "refused: {:?}", pool.refusal(small));
}

#[test]
fn under_pressure_only_as_many_idle_ones_end_early_as_are_wanted_free() {
    let mut config = on_execute();
    config.idle_policy = sandpool_core::IdlePolicy::Pressure;
    let mut pool = Pool::new(config);
    for account in 0..9 {
        pool.idle(account);
    }
    let short = pool.scheduler.config().idle_pressure;
    pool.wait(short.as_secs_f64() + 1.0);
    assert_eq!(pool.asked(Verb::Destroy), 1, "one is free, two are wanted");
}
