//! Shares, and borrowing beyond them.

use crate::harness::{Pool, class, on_execute};
use sandpool_core::{ClassId, Resources};

#[test]
fn limit_10_3_held_keep_free_2_exactly_5_more_with_a_warm_pool_of_0_1_and_2() {
    for warm in [0, 1, 2] {
        let mut config = on_execute();
        config.classes[0].warm_sandboxes = warm;
        let mut pool = Pool::new(config);
        pool.serve_all();
        for _ in 0..3 {
            pool.busy(0);
        }
        for more in 1..=5 {
            let conversation = pool.blocked(0);
            pool.serve_all();
            assert!(pool.state(conversation).is_some(), "warm {warm}: {more} more");
        }
        let sixth = pool.blocked(0);
        pool.serve_all();
        assert!(pool.is_waiting(sixth), "warm {warm}: not 6 more");
        assert_eq!(pool.held(0), 8, "warm {warm}");
        // The two that were kept free are there for another account.
        for _ in 0..2 {
            pool.busy(1);
        }
    }
}

#[test]
fn an_account_within_its_share_may_use_what_is_kept_free() {
    let mut config = on_execute();
    config.max.slots = 4;
    config.max_sandboxes_per_account = 2;
    let mut pool = Pool::new(config);
    pool.busy(0);
    pool.busy(0);
    let third = pool.blocked(0);
    assert!(pool.is_waiting(third), "borrowing would leave one free, two are kept");
    pool.busy(1);
    pool.busy(1);
    assert_eq!(pool.scheduler.capacity().free.slots, 0);
}

#[test]
fn the_reserve_is_kept_in_every_limited_dimension() {
    let mut config = on_execute();
    config.classes = vec![class("default", 1.0), class("large", 4.0)];
    config.max = Resources { slots: 100, memory_mb: 10 * 1024, ..Resources::ZERO };
    config.max.cpu_milli = Resources::UNLIMITED;
    config.max.disk_mb = Resources::UNLIMITED;
    config.max_sandboxes_per_account = 1;
    let mut pool = Pool::new(config);
    pool.busy_class(0, ClassId(1));
    // 6 GB are free: a second large one would leave 2 GB, which is the reserve.
    pool.busy_class(0, ClassId(1));
    // 2 GB are free: not even a small one may be borrowed.
    let third = pool.blocked(0);
    assert!(pool.is_waiting(third));
    pool.busy(1);
}

#[test]
fn whoever_holds_nothing_is_within_its_share_for_one_sandbox_of_any_class() {
    let mut config = on_execute();
    config.classes = vec![class("default", 1.0), class("large", 4.0)];
    config.max_memory_mb_per_account = 2 * 1024;
    config.max.memory_mb = 4 * 1024;
    let mut pool = Pool::new(config);
    // Larger than the account's memory share, and nothing would be left of the reserve.
    pool.busy_class(0, ClassId(1));
    assert_eq!(pool.scheduler.capacity().free.memory_mb, 0);
    assert!(!pool.scheduler.account_view(sandpool_core::AccountId(0)).unwrap().is_borrowing);
}

#[test]
fn while_anyone_borrows_replenishing_leaves_the_reserve_free() {
    let mut config = on_execute();
    config.classes[0].warm_sandboxes = 5;
    config.max.slots = 6;
    config.max_sandboxes_per_account = 1;
    let mut pool = Pool::new(config);
    pool.serve_all();
    assert_eq!(pool.used_slots(), 5, "nobody borrows: the pool may fill");
    pool.busy(0);
    pool.serve_all();
    assert_eq!(pool.used_slots(), 6, "still nobody borrows");
    let mut config = pool.scheduler.config().clone();
    config.borrow_keep_free = 0;
    pool.tell(sandpool_core::Input::Reconfigure(Box::new(config.clone())));
    pool.busy(0);
    config.borrow_keep_free = 2;
    pool.tell(sandpool_core::Input::Reconfigure(Box::new(config)));
    // Four slots are warm: one goes to each of two others, and nothing is free to refill them.
    for account in 1..=2 {
        pool.busy(account);
    }
    pool.serve_all();
    assert_eq!(pool.used_slots(), 6);
}
