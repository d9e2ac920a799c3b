//! The provider ledger: what counts, and that it comes back exactly once.

use crate::harness::{Pool, class, config, inventory, on_execute};
use sandpool_core::{ClassId, EventKind, Failure, Input, Reason, Reply, Resources, Span, Verb};

#[test]
fn one_plus_one_plus_four_plus_four_gb_fill_ten_gb_with_four_sandboxes() {
    let mut config = on_execute();
    config.classes = vec![class("small", 1.0), class("large", 4.0)];
    config.max_sandboxes_per_account = 10;
    config.borrow_keep_free = 0;
    let mut pool = Pool::new(config);
    for class in [0, 0, 1, 1] {
        pool.busy_class(0, ClassId(class));
    }
    let capacity = pool.scheduler.capacity();
    assert_eq!(capacity.used.slots, 4);
    assert_eq!(capacity.free.slots, 6, "six slots are free");
    assert_eq!(capacity.free.memory_mb, 0, "and no memory");
    let fifth = pool.blocked(1);
    assert!(pool.is_waiting(fifth), "not even a small one fits");
}

#[test]
fn nine_assigned_and_one_warm_are_ten_of_ten() {
    let mut config = on_execute();
    config.classes[0].warm_sandboxes = 1;
    config.max_sandboxes_per_account = 10;
    config.borrow_keep_free = 0;
    let mut pool = Pool::new(config);
    pool.serve_all();
    for _ in 0..9 {
        pool.busy(0);
    }
    let capacity = pool.scheduler.capacity();
    assert_eq!(capacity.used.slots, 10);
    assert_eq!(capacity.free.slots, 0);
    assert_eq!(pool.scheduler.class_view(ClassId(0)).unwrap().warm, 1);
    // The tenth takes the warm one; no eleventh is started for the pool.
    pool.busy(0);
    assert_eq!(pool.used_slots(), 10);
    assert_eq!(pool.asked(Verb::Create), 0);
    let eleventh = pool.blocked(1);
    assert!(pool.is_waiting(eleventh));
}

#[test]
fn six_exist_and_the_books_say_six_after_failed_creates_failed_deletes_and_lost_answers() {
    let mut config = on_execute();
    config.max_sandboxes_per_account = 10;
    config.borrow_keep_free = 0;
    config.max_starting = 10;
    let mut pool = Pool::new(config);
    // Four live.
    let living: Vec<_> = (0..4).map(|_| pool.busy(0)).collect();
    // Two creates fail for certain: nothing is left of them.
    pool.blocked(0);
    pool.fail(Verb::Create, Failure::Unavailable);
    pool.wait(2.0);
    pool.fail(Verb::Create, Failure::Unavailable);
    assert_eq!(pool.used_slots(), 4);
    // One create's answer is lost: it may exist, and counts.
    pool.wait(4.0);
    pool.lose(Verb::Create);
    pool.wait(61.0);
    assert_eq!(pool.count(EventKind::SandboxLimbo), 1);
    // One delete fails: it still exists, and counts.
    pool.finish(living[0]);
    pool.close(living[0]);
    pool.fail(Verb::Destroy, Failure::Unavailable);
    // One more create leaves an errored sandbox that holds its name: it counts until it is gone.
    let sixth = pool.blocked(1);
    pool.wait(10.0); // The class pauses after its failures.
    let create = pool.operations.iter().position(|op| op.verb == Verb::Create).unwrap();
    let op = pool.operations.remove(create).op;
    pool.tell(sandpool_core::Input::Reply { op, reply: Reply::Failed(Failure::Errored) });
    let exist = 3 + 1 + 1 + 1; // alive, in limbo, not deleted, errored
    assert_eq!(pool.used_slots(), exist);
    assert_eq!(pool.scheduler.sandboxes().count() as i64, exist);
    assert_eq!(
        pool.scheduler.capacity().free.slots,
        10 - exist - i64::from(pool.is_admitted(sixth))
    );
    // Everything comes back once, and only once.
    pool.close(sixth);
    for conversation in &living[1..] {
        pool.finish(*conversation);
        pool.close(*conversation);
    }
    pool.wait_served(600.0);
    assert_eq!(pool.used_slots(), 0);
    assert_eq!(pool.scheduler.capacity().free.slots, 10);
    assert_eq!(pool.scheduler.sandboxes().count(), 0);
    assert_eq!((pool.held(0), pool.held(1)), (0, 0));
}

impl Pool {
    fn is_admitted(&self, conversation: sandpool_core::ConversationId) -> bool {
        self.scheduler
            .conversation(conversation)
            .and_then(|view| view.claim)
            .is_some_and(|(claim, _)| self.scheduler.is_admitted(claim))
    }
}

#[test]
fn capacity_is_held_until_the_provider_confirms_that_it_is_gone() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.busy(0);
    pool.finish(conversation);
    pool.close(conversation);
    assert_eq!(pool.held(0), 0, "the account's share is free as the lease ends");
    assert_eq!(pool.used_slots(), 1, "the provider's slot is not");
    for _ in 0..5 {
        pool.answer_last(Verb::Destroy, Reply::Failed(Failure::Conflict));
        assert_eq!(pool.used_slots(), 1);
        pool.wait(61.0);
    }
    pool.answer_last(Verb::Destroy, Reply::Destroyed);
    assert_eq!(pool.used_slots(), 0);
}

#[test]
fn a_stuck_delete_is_reported_once_and_tried_on() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.busy(0);
    pool.finish(conversation);
    pool.close(conversation);
    pool.wait(1_900.0);
    assert_eq!(pool.count(EventKind::SandboxStuck), 1);
    assert_eq!(pool.used_slots(), 1);
    assert_eq!(pool.scheduler.capacity().incoming.slots, 0, "what is stuck is not on its way");
    pool.wait_until_asked(Verb::Destroy);
    pool.answer_last(Verb::Destroy, Reply::Destroyed);
    assert_eq!(pool.used_slots(), 0);
}

#[test]
fn limits_in_every_dimension_at_zero_one_and_their_maximum() {
    for (slots, memory_mb, cpu_milli, disk_mb, fit) in [
        (0, i64::MAX / 4, i64::MAX / 4, i64::MAX / 4, 0),
        (1, i64::MAX / 4, i64::MAX / 4, i64::MAX / 4, 1),
        (10, 0, i64::MAX / 4, i64::MAX / 4, 0),
        (10, 1024, i64::MAX / 4, i64::MAX / 4, 1),
        (10, 2047, i64::MAX / 4, i64::MAX / 4, 1),
        (10, i64::MAX / 4, 2_999, i64::MAX / 4, 2),
        (10, i64::MAX / 4, i64::MAX / 4, 3 * 3 * 1024, 3),
        (1_000_000, i64::MAX / 4, i64::MAX / 4, i64::MAX / 4, 20),
    ] {
        let mut config = on_execute();
        config.max = Resources { slots, memory_mb, cpu_milli, disk_mb };
        config.max_sandboxes_per_account = 1_000_000;
        config.borrow_keep_free = 0;
        let mut pool = Pool::new(config);
        let mut served = 0;
        for _ in 0..20 {
            let conversation = pool.blocked(0);
            pool.serve_all();
            served += usize::from(pool.state(conversation).is_some());
            if fit == 0 {
                assert_eq!(pool.refusal(conversation), Some(Reason::NeverFits));
            }
        }
        assert_eq!(served, fit, "slots {slots} memory {memory_mb} cpu {cpu_milli} disk {disk_mb}");
    }
}

#[test]
fn when_the_provider_says_full_the_limit_is_lowered_and_comes_back() {
    let mut pool = Pool::new(on_execute());
    pool.busy(0);
    let refused = pool.blocked(1);
    pool.fail(Verb::Create, Failure::Full { dimension: None });
    assert_eq!(pool.count(EventKind::DriftDetected), 1);
    assert_eq!(pool.count(EventKind::LimitLowered), 1);
    assert_eq!(pool.scheduler.capacity().limit.slots, 1);
    assert!(pool.is_waiting(refused), "its admission is taken back, its patience runs on");
    assert_eq!(pool.asked(Verb::Create), 0);
    pool.wait(30.0);
    assert_eq!(pool.refusal(refused), Some(Reason::Full), "patience was not started again");
    pool.wait(31.0);
    assert_eq!(pool.scheduler.capacity().limit.slots, 10);
    assert_eq!(pool.count(EventKind::LimitRestored), 1);
}

#[test]
fn under_a_lowered_limit_nothing_starts_until_use_has_fallen() {
    let mut pool = Pool::new(on_execute());
    let (first, _second) = (pool.busy(0), pool.busy(0));
    let mut lower = on_execute();
    lower.max.slots = 1;
    pool.tell(sandpool_core::Input::Reconfigure(Box::new(lower)));
    assert_eq!(pool.scheduler.capacity().free.slots, -1);
    let waiting = pool.blocked(1);
    pool.finish(first);
    pool.close(first);
    pool.answer(Verb::Destroy, Reply::Destroyed);
    assert!(pool.is_waiting(waiting), "one of one is in use");
    assert_eq!(pool.asked(Verb::Create), 0);
}

#[test]
fn a_rate_limit_pauses_creates_and_costs_the_claim_no_attempt() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.blocked(0);
    for _ in 0..10 {
        pool.fail(Verb::Create, Failure::RateLimited { retry_after: Span::from_secs(3) });
        assert_eq!(pool.asked(Verb::Create), 0);
        pool.wait(3.0);
    }
    pool.created();
    assert!(pool.state(conversation).is_some());
}

#[test]
fn a_class_with_prepare_steps_is_ready_only_after_them() {
    let mut config = config();
    config.start_policy = sandpool_core::StartPolicy::OnExecute;
    config.classes[0].prepares = true;
    let mut pool = Pool::new(config);
    let conversation = pool.blocked(0);
    pool.created();
    assert_eq!(pool.state(conversation), None);
    pool.answer(Verb::Prepare, Reply::Prepared);
    assert!(pool.state(conversation).is_some());
}

#[test]
fn a_reconcile_that_is_asked_for_looks_at_once_and_not_twice() {
    let mut pool = Pool::new(on_execute());
    pool.tell(Input::Reconcile);
    assert_eq!(pool.asked(Verb::FindAll), 1);
    // One look is under way: another would show the same.
    pool.tell(Input::Reconcile);
    assert_eq!(pool.asked(Verb::FindAll), 1);
    pool.answer(Verb::FindAll, inventory(&[]));
    assert_eq!(pool.count(EventKind::Reconciled), 1);
    pool.tell(Input::Reconcile);
    assert_eq!(pool.asked(Verb::FindAll), 1);
}
