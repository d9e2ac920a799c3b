//! Death, doubt, and the inventory.

use crate::harness::{Pool, config, inventory, on_execute};
use sandpool_core::{
    ClassId, EventKind, ExecuteOutcome, Failure, FoundState, Input, Inventory, InventoryItem,
    ProviderId, Reason, Reply, SandboxName, SandboxState, Span, Verb,
};

#[test]
fn a_failed_keep_alive_finds_a_dead_warm_sandbox_and_replaces_it() {
    let mut config = on_execute();
    config.classes[0].warm_sandboxes = 1;
    let mut pool = Pool::new(config);
    pool.created();
    pool.wait_until_asked(Verb::KeepAlive);
    pool.answer_last(Verb::KeepAlive, Reply::Gone);
    assert_eq!(pool.count(EventKind::SandboxDied), 1);
    assert_eq!(pool.scheduler.class_view(ClassId(0)).unwrap().warm, 0);
    assert_eq!(pool.asked(Verb::Create), 1);
    assert_eq!(pool.asked(Verb::Destroy), 1, "dead or not, it is made sure");
}

#[test]
fn unknown_kills_nothing() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.idle(0);
    for _ in 0..20 {
        pool.wait(30.0);
        while let Some(op) = pool.operations.pop() {
            pool.tell(Input::Reply { op: op.op, reply: Reply::Failed(Failure::Unavailable) });
        }
    }
    assert_eq!(pool.state(conversation), Some(SandboxState::Idle));
    assert_eq!(pool.count(EventKind::SandboxDied), 0);
}

#[test]
fn an_unreachable_sandbox_is_probed_and_the_command_is_not_run_twice() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.busy(0);
    pool.finish_as(conversation, ExecuteOutcome::Unreachable);
    assert!(pool.of(conversation, EventKind::ExecuteEnded).is_empty(), "in doubt");
    assert_eq!(pool.state(conversation), Some(SandboxState::Busy));
    pool.answer(Verb::Probe, Reply::Alive { quiet: true });
    let ended = pool.of(conversation, EventKind::ExecuteEnded);
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0].reason, Reason::Unreachable);
    assert_eq!(pool.of(conversation, EventKind::SandboxBusy).len(), 1, "never let go again");
    assert_eq!(pool.state(conversation), Some(SandboxState::Idle));
}

#[test]
fn a_probe_that_finds_it_gone_ends_the_execute_and_the_sandbox() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.busy(0);
    pool.finish_as(conversation, ExecuteOutcome::Unreachable);
    pool.answer(Verb::Probe, Reply::Gone);
    assert_eq!(pool.of(conversation, EventKind::ExecuteEnded)[0].reason, Reason::Died);
    assert_eq!(pool.state(conversation), None);
}

#[test]
fn without_a_verdict_the_execute_is_answered_and_the_sandbox_kept() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.busy(0);
    pool.finish_as(conversation, ExecuteOutcome::Unreachable);
    for _ in 0..3 {
        pool.answer_last(Verb::Probe, Reply::Failed(Failure::Unavailable));
        if pool.of(conversation, EventKind::ExecuteEnded).is_empty() {
            pool.wait_until_asked(Verb::Probe);
        }
    }
    assert_eq!(pool.of(conversation, EventKind::ExecuteEnded)[0].reason, Reason::Unreachable);
    assert_eq!(pool.state(conversation), Some(SandboxState::Idle));
}

#[test]
fn a_sandbox_that_dies_before_its_first_use_is_replaced_ahead_of_need() {
    let mut pool = Pool::new(config());
    let conversation = pool.open(0);
    pool.begin(conversation);
    pool.created();
    assert_eq!(pool.state(conversation), Some(SandboxState::Assigned));
    pool.wait_until_asked(Verb::KeepAlive);
    pool.answer_last(Verb::KeepAlive, Reply::Gone);
    assert_eq!(pool.held(0), 1, "its claim is still admitted");
    assert_eq!(pool.asked(Verb::Create), 1);
    assert!(pool.scheduler.conversation(conversation).unwrap().files_lost.is_none());
    pool.created();
    assert_eq!(pool.state(conversation), Some(SandboxState::Assigned));
}

#[test]
fn absence_from_the_list_counts_after_two_complete_ones_and_a_probe() {
    let mut config = on_execute();
    config.reconcile = Span::from_secs(10);
    let mut pool = Pool::new(config);
    let conversation = pool.idle(0);
    let list = |pool: &mut Pool, complete: bool| {
        pool.wait_until_asked(Verb::FindAll);
        let reply = Reply::Inventory(Inventory { complete, items: Vec::new() });
        pool.answer_last(Verb::FindAll, reply);
    };
    list(&mut pool, true);
    assert_eq!(pool.asked(Verb::Probe), 0);
    for _ in 0..5 {
        list(&mut pool, false); // A partial one proves nothing.
    }
    assert_eq!(pool.asked(Verb::Probe), 0);
    list(&mut pool, true);
    assert_eq!(pool.asked(Verb::Probe), 1);
    assert_eq!(pool.count(EventKind::DriftDetected), 1);
    assert_eq!(pool.state(conversation), Some(SandboxState::Idle), "not before the verdict");
    pool.answer(Verb::Probe, Reply::Gone);
    assert_eq!(pool.state(conversation), None);
}

#[test]
fn an_orphan_is_removed_after_its_grace_and_counts_meanwhile() {
    let mut config = on_execute();
    config.reconcile = Span::from_secs(10);
    config.orphan_grace = Span::from_secs(25);
    let mut pool = Pool::new(config);
    let orphan = InventoryItem {
        provider: ProviderId(77),
        name: Some(SandboxName { epoch: 0, sequence: 3 }),
        class: ClassId(0),
        state: FoundState::Running,
    };
    for _ in 0..3 {
        pool.wait_until_asked(Verb::FindAll);
        pool.answer_last(Verb::FindAll, inventory(&[orphan]));
        assert_eq!(pool.count(EventKind::OrphanFound), 0);
    }
    pool.wait_until_asked(Verb::FindAll);
    pool.answer_last(Verb::FindAll, inventory(&[orphan]));
    assert_eq!(pool.count(EventKind::OrphanFound), 1);
    assert_eq!(pool.used_slots(), 1);
    let destroy = pool.answer(Verb::Destroy, Reply::Destroyed);
    assert_eq!(destroy.provider, Some(ProviderId(77)), "by the stored id, not by a name");
    assert_eq!(pool.count(EventKind::OrphanRemoved), 1);
    assert_eq!(pool.used_slots(), 0);
}

#[test]
fn a_listed_sandbox_that_was_just_deleted_is_no_orphan() {
    let mut config = on_execute();
    config.reconcile = Span::from_secs(10);
    let mut pool = Pool::new(config);
    let conversation = pool.idle(0);
    let sandbox = pool.scheduler.sandboxes().next().unwrap();
    pool.close(conversation);
    pool.answer(Verb::Destroy, Reply::Destroyed);
    let lagging = InventoryItem {
        provider: sandbox.provider.unwrap(),
        name: Some(sandbox.name),
        class: ClassId(0),
        state: FoundState::Running,
    };
    pool.wait_until_asked(Verb::FindAll);
    pool.answer_last(Verb::FindAll, inventory(&[lagging]));
    pool.wait_until_asked(Verb::FindAll);
    pool.answer_last(Verb::FindAll, inventory(&[]));
    pool.wait(300.0);
    assert_eq!(pool.count(EventKind::OrphanFound), 0);
}

#[test]
fn the_truth_about_an_execute_in_doubt_may_come_before_the_probes_verdict() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.busy(0);
    pool.finish_as(conversation, ExecuteOutcome::Unreachable);
    pool.finish(conversation);
    assert_eq!(pool.of(conversation, EventKind::ExecuteEnded)[0].reason, Reason::Completed);
    pool.answer(Verb::Probe, Reply::Alive { quiet: true });
    assert_eq!(pool.of(conversation, EventKind::ExecuteEnded).len(), 1);
    assert_eq!(pool.state(conversation), Some(SandboxState::Idle));
}

#[test]
fn a_probe_that_was_to_be_repeated_does_not_repeat_the_delete() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.busy(0);
    pool.finish_as(conversation, ExecuteOutcome::Unreachable);
    pool.answer_last(Verb::Probe, Reply::Failed(Failure::Unavailable));
    pool.close(conversation);
    pool.wait(20.0);
    assert_eq!(pool.asked(Verb::Destroy), 1);
}
