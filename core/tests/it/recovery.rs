//! After a restart.

use crate::harness::{Pool, inventory, on_execute};
use sandpool_core::{
    ClassId, ConversationId, EventKind, Failure, FoundState, Input, InventoryItem, ProviderId,
    Reason, Recovery, Reply, SandboxName, SandboxState, Time, Verb,
};

fn left(sequence: u64) -> InventoryItem {
    InventoryItem {
        provider: ProviderId(sequence),
        name: Some(SandboxName { epoch: 1, sequence }),
        class: ClassId(0),
        state: FoundState::Running,
    }
}

fn restore(pool: &mut Pool, conversation: ConversationId, sequence: u64, unresolved: bool) {
    pool.tell(Input::Restore {
        conversation,
        sandbox: SandboxName { epoch: 1, sequence },
        provider: Some(ProviderId(sequence)),
        class: ClassId(0),
        unresolved_execute: unresolved,
    });
}

fn adopting() -> sandpool_core::Config {
    let mut config = on_execute();
    config.recovery = Recovery::Adopt;
    config
}

#[test]
fn nothing_is_created_before_everything_labelled_ours_is_known() {
    let mut config = on_execute();
    config.classes[0].warm_sandboxes = 2;
    let mut pool = Pool::restoring(config, 2);
    pool.tell(Input::Recovered);
    pool.blocked(0);
    assert_eq!(pool.asked(Verb::Create), 0);
    // A list that is not complete tells nothing.
    pool.answer(Verb::FindAll, Reply::Inventory(sandpool_core::Inventory::default()));
    assert_eq!(pool.asked(Verb::Create), 0);
    pool.wait_until_asked(Verb::FindAll);
    pool.fail(Verb::FindAll, Failure::Unavailable);
    assert_eq!(pool.asked(Verb::Create), 0);
    pool.wait_until_asked(Verb::FindAll);
    pool.answer_last(Verb::FindAll, inventory(&[]));
    assert!(pool.asked(Verb::Create) > 0);
}

#[test]
fn with_destroy_everything_that_was_left_goes_and_counts_until_it_is_gone() {
    let mut pool = Pool::restoring(on_execute(), 2);
    let conversation = pool.open(0);
    restore(&mut pool, conversation, 1, false);
    pool.tell(Input::Recovered);
    pool.answer(Verb::FindAll, inventory(&[left(1), left(2), left(3)]));
    assert_eq!(pool.used_slots(), 3);
    assert_eq!(pool.asked(Verb::Destroy), 3);
    assert_eq!(pool.state(conversation), None);
    pool.serve_all();
    assert_eq!(pool.used_slots(), 0);
    assert_eq!(pool.count(EventKind::OrphanRemoved), 2);
    pool.begin(conversation);
    pool.execute(conversation);
    pool.serve_all();
    let replaced = pool.of(conversation, EventKind::SandboxReplaced);
    assert_eq!(replaced[0].reason, Reason::Recovery, "the user is told");
}

#[test]
fn with_adopt_the_mapped_ones_are_rebound_and_the_rest_goes() {
    let mut pool = Pool::restoring(adopting(), 2);
    let conversation = pool.open(0);
    restore(&mut pool, conversation, 1, false);
    pool.tell(Input::Recovered);
    pool.answer(Verb::FindAll, inventory(&[left(1), left(2)]));
    assert_eq!(pool.state(conversation), Some(SandboxState::Idle));
    assert_eq!(pool.held(0), 1);
    assert_eq!(pool.asked(Verb::Destroy), 1);
    pool.serve_all();
    assert_eq!(pool.used_slots(), 1);
    pool.begin(conversation);
    pool.execute(conversation);
    assert_eq!(pool.state(conversation), Some(SandboxState::Busy), "its files are there");
    assert!(pool.of(conversation, EventKind::SandboxReplaced).is_empty());
}

#[test]
fn an_adopted_sandbox_whose_command_may_still_run_is_busy_until_proven_quiet() {
    let mut pool = Pool::restoring(adopting(), 2);
    let conversation = pool.open(0);
    restore(&mut pool, conversation, 1, true);
    pool.tell(Input::Recovered);
    pool.answer(Verb::FindAll, inventory(&[left(1)]));
    pool.begin(conversation);
    pool.execute(conversation);
    assert_eq!(pool.of(conversation, EventKind::SandboxBusy).len(), 0, "it waits for the probe");
    pool.answer(Verb::Probe, Reply::Alive { quiet: false });
    assert_eq!(pool.state(conversation), Some(SandboxState::Busy));
    pool.wait_until_asked(Verb::Probe);
    pool.answer_last(Verb::Probe, Reply::Alive { quiet: true });
    assert_eq!(pool.of(conversation, EventKind::SandboxBusy).len(), 1);
}

#[test]
fn one_that_never_gets_quiet_is_replaced() {
    let mut pool = Pool::restoring(adopting(), 2);
    let conversation = pool.open(0);
    restore(&mut pool, conversation, 1, true);
    pool.tell(Input::Recovered);
    pool.answer(Verb::FindAll, inventory(&[left(1)]));
    pool.begin(conversation);
    pool.execute_with(conversation, Some(sandpool_core::Span::from_secs(600)));
    for _ in 0..20 {
        if pool.asked(Verb::Destroy) > 0 {
            break;
        }
        if pool.asked(Verb::Probe) > 0 {
            pool.answer_last(Verb::Probe, Reply::Alive { quiet: false });
        }
        pool.wait(10.0);
    }
    pool.serve_all();
    let replaced = pool.of(conversation, EventKind::SandboxReplaced);
    assert_eq!(replaced.len(), 1);
    assert_eq!(pool.state(conversation), Some(SandboxState::Busy), "the new one");
}

#[test]
fn a_mapped_one_that_is_gone_is_found_out_by_the_probe() {
    let mut pool = Pool::restoring(adopting(), 2);
    let conversation = pool.open(0);
    restore(&mut pool, conversation, 1, false);
    pool.tell(Input::Recovered);
    pool.answer(Verb::FindAll, inventory(&[]));
    assert_eq!(pool.state(conversation), Some(SandboxState::Idle), "one list proves nothing");
    pool.answer(Verb::Probe, Reply::Gone);
    assert_eq!(pool.state(conversation), None);
    assert_eq!(pool.count(EventKind::SandboxDied), 1);
}

#[test]
fn adoption_may_push_use_above_a_lowered_limit_and_then_nothing_starts() {
    let mut config = adopting();
    config.max.slots = 1;
    let mut pool = Pool::restoring(config, 2);
    let conversations: Vec<_> = (0..3).map(|account| pool.open(account)).collect();
    for (index, &conversation) in conversations.iter().enumerate() {
        restore(&mut pool, conversation, index as u64 + 1, false);
    }
    pool.tell(Input::Recovered);
    pool.answer(Verb::FindAll, inventory(&[left(1), left(2), left(3)]));
    assert_eq!(pool.used_slots(), 3);
    assert_eq!(pool.scheduler.capacity().free.slots, -2);
    let blocked = pool.blocked(5);
    assert!(pool.is_waiting(blocked));
    assert_eq!(pool.asked(Verb::Create), 0);
}

#[test]
fn an_adopted_sandbox_that_comes_to_rest_during_a_shutdown_is_destroyed() {
    let mut pool = Pool::restoring(adopting(), 2);
    let conversation = pool.open(0);
    restore(&mut pool, conversation, 1, true);
    pool.tell(Input::Recovered);
    pool.answer(Verb::FindAll, inventory(&[left(1)]));
    pool.tell(Input::Drain { leave_sandboxes: false });
    pool.answer(Verb::Probe, Reply::Alive { quiet: true });
    assert_eq!(pool.state(conversation), None);
    pool.serve_all();
    assert!(pool.scheduler.is_drained());
}

#[test]
fn patience_is_what_held_when_the_execute_was_asked_for() {
    let mut pool = Pool::restoring(adopting(), 2);
    let conversation = pool.open(0);
    restore(&mut pool, conversation, 1, true);
    pool.tell(Input::Recovered);
    pool.begin(conversation);
    pool.execute(conversation);
    let mut hurried = adopting();
    hurried.sandbox_wait = sandpool_core::Span::ZERO;
    pool.tell(Input::Reconfigure(Box::new(hurried)));
    pool.answer(Verb::Probe, Reply::Gone);
    assert_eq!(pool.refusal(conversation), None, "it was promised thirty seconds");
    pool.answer(Verb::FindAll, inventory(&[]));
    pool.serve_all();
    assert_eq!(pool.state(conversation), Some(SandboxState::Busy));
}

#[test]
fn a_shutdown_before_the_store_is_read_ends_with_nothing_left() {
    let mut pool = Pool::restoring(on_execute(), 2);
    let conversation = pool.open(0);
    restore(&mut pool, conversation, 1, false);
    pool.tell(Input::Drain { leave_sandboxes: false });
    pool.wait_served(60.0);
    assert!(pool.scheduler.is_drained());
    assert_eq!(pool.used_slots(), 0);
}

#[test]
fn files_that_an_earlier_instance_lost_and_never_told_of_are_told_with_the_next_execute() {
    let mut pool = Pool::restoring(on_execute(), 2);
    let (loser, other) = (pool.open(0), pool.open(0));
    pool.tell(Input::FilesLost { conversation: loser, reason: Reason::Died });
    pool.tell(Input::Recovered);
    pool.answer(Verb::FindAll, inventory(&[]));
    assert_eq!(pool.scheduler.conversation(loser).unwrap().files_lost, Some(Reason::Died));
    for conversation in [loser, other] {
        pool.begin(conversation);
        pool.execute(conversation);
    }
    pool.serve_all();
    let told = pool.of(loser, EventKind::SandboxReplaced);
    assert_eq!((told.len(), told[0].reason), (1, Reason::Died));
    assert_eq!(pool.of(other, EventKind::SandboxReplaced), []);
    // Afterwards the store is read, and nothing of it is believed any more.
    pool.tell(Input::FilesLost { conversation: other, reason: Reason::Died });
    assert_eq!(pool.scheduler.conversation(other).unwrap().files_lost, None);
}

#[test]
fn one_whose_delete_hangs_over_a_restart_counts_and_is_followed() {
    let mut pool = Pool::restoring(on_execute(), 2);
    pool.tell(Input::Recovered);
    let hangs = InventoryItem { state: FoundState::Destroying, ..left(1) };
    pool.answer(Verb::FindAll, inventory(&[hangs]));
    assert_eq!(pool.used_slots(), 1, "it takes its place at the provider");
    pool.fail(Verb::Destroy, Failure::Conflict);
    pool.wait_until_asked(Verb::Destroy);
    pool.answer_last(Verb::Destroy, Reply::Destroyed);
    assert_eq!(pool.used_slots(), 0);
}

#[test]
fn a_sandbox_is_restored_only_outside_a_turn() {
    for executes in [false, true] {
        let mut config = adopting();
        config.start_policy = sandpool_core::StartPolicy::OnTurn;
        let mut pool = Pool::restoring(config, 2);
        let conversation = pool.open(0);
        pool.begin(conversation);
        restore(&mut pool, conversation, 1, false);
        assert_eq!(pool.rejections.len(), 1, "its claim would stand beside the sandbox");
        if executes {
            pool.execute(conversation);
        }
        pool.tell(Input::Recovered);
        pool.answer(Verb::FindAll, inventory(&[left(1)]));
        pool.serve_all();
        assert_eq!(pool.used_slots(), 1, "one conversation, one sandbox: the other one went");
    }
}

#[test]
fn one_sandbox_is_restored_to_one_conversation() {
    let mut pool = Pool::restoring(adopting(), 2);
    let (first, second) = (pool.open(0), pool.open(1));
    restore(&mut pool, first, 1, false);
    restore(&mut pool, second, 1, false);
    assert_eq!(pool.rejections.len(), 1);
    assert_eq!((pool.state(first), pool.state(second)), (Some(SandboxState::Idle), None));
    assert_eq!(pool.used_slots(), 1);
}

#[test]
fn a_turn_that_ends_while_the_store_is_read_leaves_one_idle_sandbox_in_the_books() {
    let mut config = adopting();
    config.max_sandboxes_per_account = 1;
    config.max.slots = 3;
    config.borrow_keep_free = 2;
    let mut pool = Pool::restoring(config, 2);
    let conversation = pool.open(0);
    restore(&mut pool, conversation, 1, false);
    pool.begin(conversation);
    pool.end(conversation);
    pool.now = Time::from_secs(2);
    pool.tell(Input::Recovered);
    pool.answer(Verb::FindAll, inventory(&[left(1)]));
    pool.serve_all();
    pool.close(conversation);
    pool.serve_all();
    // The account's next borrower looks at what its account has idle.
    pool.busy(0);
    pool.idle(1);
    pool.wait_served(20.0);
    let waits = pool.blocked(0);
    assert!(pool.is_waiting(waits));
}

#[test]
fn inventories_that_fail_at_first_do_not_multiply() {
    let mut pool = Pool::restoring(on_execute(), 2);
    pool.tell(Input::Recovered);
    for round in 0..20 {
        pool.wait(1.0 + f64::from(round));
        while pool.asked(Verb::FindAll) > 0 {
            pool.fail(Verb::FindAll, Failure::Unavailable);
        }
        pool.wait_until_asked(Verb::FindAll);
    }
    pool.answer_last(Verb::FindAll, inventory(&[]));
    let before = pool.count(EventKind::Reconciled);
    pool.wait_served(600.0);
    let reconciles = pool.count(EventKind::Reconciled) - before;
    assert!((9..=11).contains(&reconciles), "{reconciles} in ten minutes, one a minute is set");
}

#[test]
fn a_command_that_outlived_the_server_may_run_on_while_nobody_waits() {
    let mut pool = Pool::restoring(adopting(), 2);
    let conversation = pool.open(0);
    restore(&mut pool, conversation, 1, true);
    pool.tell(Input::Recovered);
    pool.answer(Verb::FindAll, inventory(&[left(1)]));
    for _ in 0..600 {
        while pool.asked(Verb::Probe) > 0 {
            pool.answer(Verb::Probe, Reply::Alive { quiet: false });
        }
        pool.wait(1.0);
    }
    assert_eq!(pool.state(conversation), Some(SandboxState::Busy));
}

#[test]
fn who_waits_for_a_command_of_an_earlier_instance_waits_no_longer_than_its_patience() {
    let mut pool = Pool::restoring(adopting(), 2);
    let conversation = pool.open(0);
    restore(&mut pool, conversation, 1, true);
    pool.tell(Input::Recovered);
    pool.answer(Verb::FindAll, inventory(&[left(1)]));
    pool.begin(conversation);
    pool.execute_with(conversation, Some(sandpool_core::Span::from_secs(5)));
    let busy = |pool: &mut Pool, seconds: f64| {
        while pool.asked(Verb::Probe) > 0 {
            pool.answer(Verb::Probe, Reply::Alive { quiet: false });
        }
        pool.wait(seconds);
    };
    busy(&mut pool, 4.0);
    assert_eq!(pool.refusal(conversation), None);
    busy(&mut pool, 1.0);
    assert_eq!(pool.refusal(conversation), Some(Reason::Recovery));
    assert_eq!(pool.state(conversation), Some(SandboxState::Busy), "its files are kept");
}
