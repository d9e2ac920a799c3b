//! Conversations outlive their sandboxes; turns and executes follow each other.

use crate::harness::{Pool, config, on_execute};
use sandpool_core::{
    ClassId, EventKind, ExecuteId, ExecuteOutcome, Input, Reason, SandboxState, Span, TurnId, Used,
    Verb, WhyRejected,
};

#[test]
fn turn_12_died_turn_13_new_history_intact() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.open(0);
    for _ in 1..=11 {
        pool.begin(conversation);
        pool.execute(conversation);
        pool.serve_all();
        pool.finish(conversation);
        pool.end(conversation);
    }
    let first = pool.scheduler.conversation(conversation).unwrap().sandbox.unwrap();
    pool.begin(conversation);
    pool.execute(conversation);
    pool.finish_as(conversation, ExecuteOutcome::SandboxGone);
    let died = pool.of(conversation, EventKind::SandboxDied);
    assert_eq!(died.len(), 1);
    assert_eq!((died[0].turn, died[0].sandbox), (TurnId(12), Some(first)));
    let ended = pool.of(conversation, EventKind::ExecuteEnded);
    assert_eq!(ended.last().unwrap().reason, Reason::Died);
    assert!(pool.scheduler.conversation(conversation).unwrap().files_lost.is_some());
    pool.end(conversation);
    pool.begin(conversation);
    pool.execute(conversation);
    pool.serve_all();
    let replaced = pool.of(conversation, EventKind::SandboxReplaced);
    assert_eq!(replaced.len(), 1);
    assert_eq!((replaced[0].turn, replaced[0].reason), (TurnId(13), Reason::Died));
    assert_ne!(replaced[0].sandbox, Some(first));
    assert_eq!(pool.state(conversation), Some(SandboxState::Busy));
    let begun = pool.of(conversation, EventKind::TurnBegan);
    let turns: Vec<_> = begun.iter().map(|event| event.turn.0).collect();
    assert_eq!(turns, (1..=13).collect::<Vec<_>>(), "the conversation's history is whole");
}

#[test]
fn idle_15_minutes_deleted_the_user_returns_a_new_sandbox() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.idle(0);
    let first = pool.scheduler.conversation(conversation).unwrap().sandbox;
    pool.wait_served(899.0);
    assert_eq!(pool.state(conversation), Some(SandboxState::Idle));
    pool.wait_served(1.0);
    assert_eq!(pool.state(conversation), None);
    let destroying = pool.of(conversation, EventKind::SandboxDestroying);
    assert_eq!(destroying.last().unwrap().reason, Reason::IdleTimeout);
    assert_eq!(pool.used_slots(), 0);
    pool.wait_served(3_600.0);
    pool.begin(conversation);
    pool.execute(conversation);
    pool.serve_all();
    assert_eq!(pool.state(conversation), Some(SandboxState::Busy));
    assert_ne!(pool.scheduler.conversation(conversation).unwrap().sandbox, first);
    let replaced = pool.of(conversation, EventKind::SandboxReplaced);
    assert_eq!(replaced.len(), 1, "the user is told that the files are gone");
    assert_eq!(replaced[0].reason, Reason::IdleTimeout);
}

#[test]
fn a_running_command_is_never_idle_and_never_times_a_turn_out() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.busy(0);
    pool.wait_served(24.0 * 3_600.0);
    assert_eq!(pool.state(conversation), Some(SandboxState::Busy));
    pool.finish(conversation);
    pool.wait_served(1_799.0);
    assert_eq!(pool.state(conversation), Some(SandboxState::Idle), "the turn is still open");
    pool.wait_served(1.0);
    let ended = pool.of(conversation, EventKind::TurnEnded);
    assert_eq!(ended.last().unwrap().reason, Reason::TurnTimeout);
    pool.wait_served(900.0);
    assert_eq!(pool.state(conversation), None, "then it idles, and ends");
}

#[test]
fn each_new_activity_starts_the_turns_time_out_again() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.busy(0);
    pool.finish(conversation);
    for _ in 0..5 {
        pool.wait_served(1_700.0);
        pool.execute(conversation);
        pool.finish(conversation);
    }
    assert!(pool.of(conversation, EventKind::TurnEnded).is_empty());
}

#[test]
fn senseless_inputs_are_named_and_change_nothing() {
    let mut pool = Pool::new(config());
    let conversation = pool.open(0);
    let unknown = sandpool_core::Id::new(99, 7);
    let turn = TurnId(1);
    let cases: Vec<(Input, WhyRejected)> = vec![
        (Input::EndTurn { conversation, turn, cancel: false }, WhyRejected::NoSuchTurn),
        (
            Input::CloseConversation { conversation: unknown, cancel: true },
            WhyRejected::UnknownConversation,
        ),
        (
            Input::StartExecute { conversation, turn, execute: ExecuteId(1), patience: None },
            WhyRejected::NoSuchTurn,
        ),
        (
            Input::BeginTurn { conversation, turn, class: ClassId(9), likely_percent: None },
            WhyRejected::UnknownClass,
        ),
        (Input::CancelExecute { conversation, execute: ExecuteId(1) }, WhyRejected::NoSuchExecute),
        (
            Input::FinishExecute {
                conversation,
                execute: ExecuteId(1),
                outcome: ExecuteOutcome::Completed,
                used: Used::default(),
            },
            WhyRejected::NoSuchExecute,
        ),
        (Input::Recovered, WhyRejected::RecoveryOver),
    ];
    for (input, why) in cases {
        let before = (pool.events.len(), pool.operations.len());
        pool.tell(input.clone());
        assert_eq!(pool.rejections.last().map(|rejection| rejection.why), Some(why), "{input:?}");
        assert_eq!((pool.events.len(), pool.operations.len()), before, "{input:?}");
    }
    pool.begin(conversation);
    pool.tell(Input::BeginTurn {
        conversation,
        turn: TurnId(2),
        class: ClassId(0),
        likely_percent: None,
    });
    assert_eq!(pool.rejections.last().unwrap().why, WhyRejected::TurnOpen);
    pool.execute(conversation);
    pool.execute(conversation);
    assert_eq!(pool.rejections.last().unwrap().why, WhyRejected::ExecuteInProgress);
    pool.end(conversation);
    assert_eq!(pool.rejections.last().unwrap().why, WhyRejected::ExecuteInProgress);
}

#[test]
fn ending_a_turn_cancels_a_waiting_and_a_running_execute_when_asked_to() {
    let mut pool = Pool::new(on_execute());
    let waiting = pool.blocked(0);
    let turn = pool.turn(waiting);
    pool.tell(Input::EndTurn { conversation: waiting, turn, cancel: true });
    assert_eq!(pool.refusal(waiting), Some(Reason::Cancelled));
    pool.serve_all();
    let running = pool.busy(0);
    let turn = pool.turn(running);
    pool.tell(Input::EndTurn { conversation: running, turn, cancel: true });
    assert_eq!(pool.of(running, EventKind::ExecuteEnded).last().unwrap().reason, Reason::Cancelled);
    assert_eq!(pool.state(running), Some(SandboxState::Idle));
    // The command's own end comes late and finds nothing.
    pool.finish(running);
    assert_eq!(pool.rejections.last().unwrap().why, WhyRejected::NoSuchExecute);
}

#[test]
fn a_cancel_after_the_grant_and_before_it_leak_nothing() {
    for grant_first in [false, true] {
        let mut pool = Pool::new(on_execute());
        let conversation = pool.blocked(0);
        if grant_first {
            pool.created();
        }
        let execute = pool.last_execute(conversation);
        pool.tell(Input::CancelExecute { conversation, execute });
        if !grant_first {
            pool.created();
        }
        pool.close(conversation);
        pool.wait_served(3_600.0);
        assert_eq!((pool.used_slots(), pool.held(0)), (0, 0), "grant first: {grant_first}");
    }
}

#[test]
fn an_execute_has_a_patience_of_its_own() {
    let mut one = on_execute();
    one.max.slots = 1;
    let mut pool = Pool::new(one);
    pool.busy(0);
    let hurried = pool.open(1);
    pool.begin(hurried);
    pool.execute_with(hurried, Some(Span::from_secs(5)));
    let patient = pool.open(2);
    pool.begin(patient);
    pool.execute_with(patient, Some(Span::MAX));
    pool.wait(4.9);
    assert_eq!(pool.refusal(hurried), None);
    pool.wait(0.1);
    assert_eq!(pool.refusal(hurried), Some(Reason::Full));
    pool.wait(100_000.0);
    assert_eq!(pool.refusal(patient), None);
    assert!(pool.is_waiting(patient));
}

#[test]
fn a_turn_of_another_class_swaps_the_sandbox_and_is_exempt_from_the_reserve() {
    let mut swap = on_execute();
    swap.classes = vec![crate::harness::class("default", 1.0), crate::harness::class("other", 1.0)];
    swap.max.slots = 4;
    swap.max_sandboxes_per_account = 1;
    swap.borrow_keep_free = 2;
    let mut pool = Pool::new(swap);
    let conversation = pool.idle(0);
    pool.busy(0); // Borrowed: two are left free.
    pool.begin_class(conversation, ClassId(1));
    assert_eq!(pool.state(conversation), Some(SandboxState::Idle), "nothing is lost before need");
    pool.execute(conversation);
    let destroying = pool.of(conversation, EventKind::SandboxDestroying);
    assert_eq!(destroying.last().unwrap().reason, Reason::Swapped);
    assert_eq!(pool.held(0), 2);
    pool.serve_all();
    assert_eq!(pool.state(conversation), Some(SandboxState::Busy));
    assert_eq!(pool.of(conversation, EventKind::SandboxReplaced).len(), 1);
    assert_eq!(pool.asked(Verb::Create), 0);
}

#[test]
fn a_swap_in_a_full_pool_gives_up_its_own_sandbox_first() {
    let mut swap = on_execute();
    swap.classes = vec![crate::harness::class("default", 1.0), crate::harness::class("other", 1.0)];
    swap.max.slots = 2;
    let mut pool = Pool::new(swap);
    let other = pool.idle(1);
    let conversation = pool.idle(0);
    pool.wait(20.0);
    pool.begin_class(conversation, ClassId(1));
    pool.execute(conversation);
    assert_eq!(pool.state(conversation), None);
    assert_eq!(pool.state(other), Some(SandboxState::Idle), "nobody else loses anything");
    let destroying = pool.of(conversation, EventKind::SandboxDestroying);
    assert_eq!(destroying.last().unwrap().reason, Reason::Swapped);
    assert_eq!(pool.count(EventKind::SandboxReclaimed), 0, "it is not taken by anybody");
    pool.serve_all();
    assert_eq!(pool.state(conversation), Some(SandboxState::Busy));
}

#[test]
fn a_turn_that_runs_nothing_is_no_use_of_the_sandbox() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.idle(0);
    for _ in 0..2 {
        pool.wait_served(600.0);
        pool.begin(conversation);
        pool.end(conversation);
    }
    assert_eq!(pool.state(conversation), None, "20 minutes after its last use, 15 allowed");
}

#[test]
fn lost_files_are_told_at_the_first_use_of_a_new_sandbox_whatever_was_held_in_between() {
    let mut pool = Pool::new(config());
    let conversation = pool.busy(0);
    pool.finish_as(conversation, ExecuteOutcome::SandboxGone);
    pool.end(conversation);
    pool.serve_all();
    pool.begin(conversation);
    pool.serve_all();
    assert_eq!(pool.state(conversation), Some(SandboxState::Assigned), "bound ahead of need");
    pool.end(conversation);
    assert_eq!(pool.of(conversation, EventKind::SandboxReplaced).len(), 0, "it was never used");
    pool.begin(conversation);
    pool.serve_all();
    pool.execute(conversation);
    pool.serve_all();
    assert_eq!(pool.of(conversation, EventKind::SandboxReplaced).len(), 1);
}

#[test]
fn an_account_number_beyond_all_bounds_is_refused_and_takes_no_memory() {
    let mut pool = Pool::new(on_execute());
    pool.open(u32::MAX);
    assert_eq!(pool.rejections[0].why, WhyRejected::UnknownAccount);
}
