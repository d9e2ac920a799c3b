//! A speculative holding is revocable until first use.

use crate::harness::{Pool, config};
use sandpool_core::{EventKind, SandboxState, StartPolicy, Verb};

fn roomy() -> sandpool_core::Config {
    let mut config = config();
    config.max_sandboxes_per_account = 20;
    config.borrow_keep_free = 0;
    config.max_starting = 20;
    config
}

#[test]
fn ten_speculative_claims_that_never_execute_do_not_make_the_eleventh_blocked_wait() {
    // Whether the ten are unstarted, starting or bound.
    for (max_starting, serve) in [(1, false), (20, false), (20, true)] {
        let mut config = roomy();
        config.max_starting = max_starting;
        let mut pool = Pool::new(config);
        let ahead: Vec<_> = (0..10).map(|account| pool.open(account)).collect();
        for &conversation in &ahead {
            pool.begin(conversation);
        }
        if serve {
            pool.serve_all();
            assert!(ahead.iter().all(|&c| pool.state(c) == Some(SandboxState::Assigned)));
        }
        let eleventh = pool.blocked(10);
        assert!(!pool.is_waiting(eleventh), "max_starting {max_starting}, served {serve}");
        assert_eq!(pool.count(EventKind::ClaimRevoked), 1);
        assert!(pool.is_waiting(ahead[9]), "the latest one loses");
        assert!(!pool.is_waiting(ahead[8]));
        if serve {
            assert_eq!(pool.state(eleventh), Some(SandboxState::Busy), "handed over at once");
            assert_eq!(pool.asked(Verb::Create) + pool.asked(Verb::Destroy), 0);
        } else {
            // The first sandbox that becomes ready is the blocked one's.
            pool.created();
            assert_eq!(pool.state(eleventh), Some(SandboxState::Busy));
        }
    }
}

#[test]
fn the_loser_is_served_again_as_capacity_comes_free() {
    let mut pool = Pool::new(roomy());
    let ahead: Vec<_> = (0..10).map(|account| pool.open(account)).collect();
    for &conversation in &ahead {
        pool.begin(conversation);
    }
    pool.serve_all();
    let eleventh = pool.blocked(10);
    assert!(pool.is_waiting(ahead[9]));
    pool.finish(eleventh);
    pool.close(eleventh);
    pool.serve_all();
    assert_eq!(pool.state(ahead[9]), Some(SandboxState::Assigned));
}

#[test]
fn borrowers_lose_before_others() {
    let mut config = roomy();
    config.max.slots = 4;
    config.max_sandboxes_per_account = 2;
    let mut pool = Pool::new(config);
    let borrower: Vec<_> = (0..3).map(|_| pool.open(0)).collect();
    for &conversation in &borrower {
        pool.begin(conversation);
    }
    let later = pool.open(1);
    pool.begin(later);
    let blocked = pool.blocked(2);
    assert!(!pool.is_waiting(blocked));
    assert!(pool.is_waiting(borrower[2]), "the borrower's latest, though another came later");
    assert!(!pool.is_waiting(later));
}

#[test]
fn a_used_sandbox_is_not_revocable() {
    let mut config = roomy();
    config.max.slots = 1;
    let mut pool = Pool::new(config);
    let user = pool.busy(0);
    pool.finish(user); // Idle, but inside its turn.
    let blocked = pool.blocked(1);
    assert!(pool.is_waiting(blocked));
    assert_eq!(pool.state(user), Some(SandboxState::Idle));
}

#[test]
fn an_unused_sandbox_goes_back_to_the_pool_at_the_turns_end_and_serves_another() {
    let mut pool = Pool::new(roomy());
    let first = pool.open(0);
    pool.begin(first);
    pool.serve_all();
    let sandbox = pool.scheduler.conversation(first).unwrap().sandbox;
    pool.end(first);
    assert_eq!(pool.count(EventKind::SandboxReleased), 1);
    assert_eq!(pool.held(0), 0);
    let second = pool.open(1);
    pool.begin(second);
    assert_eq!(pool.scheduler.conversation(second).unwrap().sandbox, sandbox);
    assert_eq!(pool.asked(Verb::Create), 0);
}

#[test]
fn a_start_under_way_at_the_turns_end_serves_whoever_comes_next() {
    let mut pool = Pool::new(roomy());
    let first = pool.open(0);
    pool.begin(first);
    pool.end(first);
    let second = pool.open(1);
    pool.begin(second);
    assert_eq!(pool.asked(Verb::Create), 1, "no second start");
    pool.created();
    assert_eq!(pool.state(second), Some(SandboxState::Assigned));
}

#[test]
fn a_ready_sandbox_goes_to_the_blocked_claim_though_it_came_later() {
    let mut pool = Pool::new(roomy());
    let ahead = pool.open(0);
    pool.begin(ahead);
    let blocked = pool.blocked(1);
    pool.created();
    assert_eq!(pool.state(blocked), Some(SandboxState::Busy));
    assert_eq!(pool.state(ahead), None);
    pool.created();
    assert_eq!(pool.state(ahead), Some(SandboxState::Assigned));
}

#[test]
fn the_likely_policy_asks_ahead_only_where_code_is_likely() {
    let mut config = roomy();
    config.start_policy = StartPolicy::Likely;
    let mut pool = Pool::new(config);
    let conversation = pool.open(0);
    pool.begin(conversation); // The first turn is even odds, and 50 % is the threshold.
    assert_eq!(pool.asked(Verb::Create), 1);
    pool.end(conversation);
    pool.serve_all();
    pool.wait_served(600.0);
    pool.begin(conversation); // No code so far: one in three.
    assert_eq!(pool.asked(Verb::Create), 0);
    pool.end(conversation);
}

#[test]
fn the_start_is_hidden_under_the_agents_work_or_waited_for() {
    let mut pool = Pool::new(roomy());
    let conversation = pool.open(0);
    pool.begin(conversation);
    pool.wait(8.0);
    pool.execute(conversation);
    pool.wait(3.0);
    pool.created();
    let busy = pool.of(conversation, EventKind::SandboxBusy);
    assert_eq!(busy[0].span, sandpool_core::Span::from_secs(3), "eight of eleven seconds hidden");
}
