//! Shutdown, and new settings while running.

use crate::harness::{Pool, config, on_execute};
use sandpool_core::{EventKind, Input, Reason, SandboxState, Span, StartPolicy, Verb, WhyRejected};

#[test]
fn everybody_is_answered_and_nothing_is_left() {
    let mut one = config();
    one.max.slots = 2;
    one.start_policy = StartPolicy::OnExecute;
    let mut pool = Pool::new(one);
    let running = pool.busy(0);
    let idle = pool.idle(1);
    let waiting = pool.blocked(2);
    pool.tell(Input::Drain { leave_sandboxes: false });
    assert_eq!(pool.refusal(waiting), Some(Reason::ShuttingDown));
    assert_eq!(pool.state(idle), None);
    assert_eq!(pool.state(running), Some(SandboxState::Busy), "it has its grace");
    let late = pool.blocked(3);
    assert_eq!(pool.refusal(late), Some(Reason::ShuttingDown));
    pool.serve_all();
    pool.wait_served(10.0);
    pool.finish(running);
    pool.serve_all();
    assert!(pool.scheduler.is_drained());
    assert_eq!(pool.count(EventKind::Drained), 1);
    assert_eq!(pool.used_slots(), 0);
}

#[test]
fn after_the_grace_running_commands_are_cut_off() {
    let mut pool = Pool::new(on_execute());
    let running = pool.busy(0);
    pool.tell(Input::Drain { leave_sandboxes: false });
    pool.wait_served(29.9);
    assert_eq!(pool.state(running), Some(SandboxState::Busy));
    pool.wait_served(0.1);
    let ended = pool.of(running, EventKind::ExecuteEnded);
    assert_eq!(ended.last().unwrap().reason, Reason::ShuttingDown);
    assert!(pool.scheduler.is_drained());
}

#[test]
fn a_create_under_way_is_destroyed_as_it_succeeds() {
    let mut pool = Pool::new(on_execute());
    pool.blocked(0);
    pool.tell(Input::Drain { leave_sandboxes: false });
    assert!(!pool.scheduler.is_drained());
    pool.created();
    assert_eq!(pool.asked(Verb::Destroy), 1);
    pool.serve_all();
    assert!(pool.scheduler.is_drained());
}

#[test]
fn a_create_that_is_lost_during_shutdown_is_waited_for() {
    let mut pool = Pool::new(on_execute());
    pool.blocked(0);
    pool.tell(Input::Drain { leave_sandboxes: false });
    pool.fail(Verb::Create, sandpool_core::Failure::Lost);
    assert!(!pool.scheduler.is_drained(), "it may exist");
    pool.wait_served(600.0);
    assert!(pool.scheduler.is_drained());
}

#[test]
fn sandboxes_that_conversations_hold_can_be_left_to_be_adopted() {
    let mut warm = on_execute();
    warm.classes[0].warm_sandboxes = 1;
    let mut pool = Pool::new(warm);
    pool.serve_all();
    let idle = pool.idle(0);
    pool.serve_all();
    pool.tell(Input::Drain { leave_sandboxes: true });
    pool.serve_all();
    assert!(pool.scheduler.is_drained());
    assert_eq!(pool.state(idle), Some(SandboxState::Idle));
    assert_eq!(pool.used_slots(), 1, "the warm one is gone");
}

#[test]
fn who_asks_again_may_decide_that_nothing_is_left() {
    let mut pool = Pool::new(on_execute());
    let running = pool.busy(0);
    let idle = pool.idle(1);
    pool.tell(Input::Drain { leave_sandboxes: true });
    assert_eq!(pool.state(idle), Some(SandboxState::Idle));
    pool.tell(Input::Drain { leave_sandboxes: false });
    assert_eq!(pool.state(idle), None);
    pool.finish(running);
    pool.serve_all();
    assert!(pool.scheduler.is_drained());
    assert_eq!(pool.used_slots(), 0);
}

#[test]
fn new_settings_harm_nothing_that_runs() {
    let mut pool = Pool::new(on_execute());
    let running = pool.busy(0);
    let idle = pool.idle(1);
    let mut smaller = on_execute();
    smaller.max.slots = 1;
    smaller.idle = Span::from_secs(60);
    pool.tell(Input::Reconfigure(Box::new(smaller)));
    assert_eq!(pool.state(running), Some(SandboxState::Busy));
    assert_eq!(pool.state(idle), Some(SandboxState::Idle));
    pool.wait_served(60.0);
    assert_eq!(pool.state(idle), None, "the new idle time holds");
    assert_eq!(pool.state(running), Some(SandboxState::Busy));
}

#[test]
fn a_class_that_is_in_use_cannot_change_its_template_or_vanish() {
    let mut pool = Pool::new(on_execute());
    pool.busy(0);
    let mut changed = on_execute();
    changed.classes[0].resources.memory_mb *= 2;
    pool.tell(Input::Reconfigure(Box::new(changed)));
    assert_eq!(pool.rejections.last().unwrap().why, WhyRejected::BadConfig);
    let mut more = on_execute();
    more.classes.push(crate::harness::class("large", 4.0));
    pool.tell(Input::Reconfigure(Box::new(more)));
    assert_eq!(pool.count(EventKind::Reconfigured), 1);
    pool.busy_class(1, sandpool_core::ClassId(1));
}

#[test]
fn claims_that_wait_are_kept_under_new_shares_and_a_new_order() {
    let mut one = on_execute();
    one.max.slots = 1;
    let mut pool = Pool::new(one.clone());
    pool.busy(0);
    let waiting: Vec<_> = (0..3).map(|account| pool.blocked(account)).collect();
    one.max.slots = 3;
    one.queue_policy = sandpool_core::QueuePolicy::FewestHeld;
    pool.tell(Input::Reconfigure(Box::new(one)));
    pool.serve_all();
    let served = waiting.iter().filter(|&&c| pool.state(c).is_some()).count();
    assert_eq!(served, 2);
    assert!(pool.is_waiting(waiting[0]), "its account holds most");
}

#[test]
fn what_was_left_is_left_alone_afterwards() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.idle(0);
    pool.tell(Input::Drain { leave_sandboxes: true });
    assert!(pool.scheduler.is_drained());
    pool.wait(2_000.0);
    assert_eq!(pool.asked(Verb::Destroy), 0, "its idle time has ended, but it is another's now");
    assert_eq!(pool.asked(Verb::KeepAlive), 0);
    assert_eq!(pool.state(conversation), Some(SandboxState::Idle));
}

#[test]
fn settings_out_of_their_range_are_refused_and_change_nothing() {
    let mut pool = Pool::new(on_execute());
    let before = pool.scheduler.config().clone();
    let spoil: [fn(&mut sandpool_core::Config); 5] = [
        |config| config.borrow_keep_free = i64::MAX / 2,
        |config| config.keep_alive = Span::ZERO,
        |config| config.reconcile = Span::ZERO,
        |config| config.max_starting = -1,
        |config| config.classes[0].warm_sandboxes = -1,
    ];
    for (number, spoil) in spoil.into_iter().enumerate() {
        let mut config = on_execute();
        spoil(&mut config);
        pool.tell(Input::Reconfigure(Box::new(config)));
        assert_eq!(pool.rejections.len(), number + 1);
        assert_eq!(pool.rejections[number].why, sandpool_core::WhyRejected::BadConfig);
    }
    assert_eq!(pool.scheduler.config(), &before);
    pool.busy(0);
}

#[test]
fn what_is_learned_after_the_end_is_not_acted_upon() {
    let mut pool = Pool::restoring(on_execute(), 2);
    pool.tell(Input::Recovered);
    pool.tell(Input::Drain { leave_sandboxes: false });
    assert!(pool.scheduler.is_drained());
    let orphan = sandpool_core::InventoryItem {
        provider: sandpool_core::ProviderId(7),
        name: None,
        class: sandpool_core::ClassId(0),
        state: sandpool_core::FoundState::Running,
    };
    pool.answer(Verb::FindAll, crate::harness::inventory(&[orphan]));
    assert_eq!(pool.asked(Verb::Destroy), 0, "nobody would hear of its end or try it again");
    assert_eq!(pool.used_slots(), 0);
}
