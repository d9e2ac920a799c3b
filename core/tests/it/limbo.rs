//! Lost create answers: the slot is kept, the name is looked for.

use crate::harness::{Pool, on_execute};
use sandpool_core::{
    EventKind, Failure, FoundState, Input, ProviderId, Reason, Reply, SandboxState, Verb,
};

#[test]
fn found_and_wanted_it_is_adopted() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.blocked(0);
    pool.fail(Verb::Create, Failure::Lost);
    assert_eq!(pool.count(EventKind::SandboxLimbo), 1);
    assert_eq!(pool.used_slots(), 1);
    pool.answer(Verb::Find, Reply::Found { provider: ProviderId(7), state: FoundState::Running });
    assert_eq!(pool.count(EventKind::SandboxAdopted), 1);
    assert_eq!(pool.state(conversation), Some(SandboxState::Busy));
    assert_eq!(pool.used_slots(), 1);
}

#[test]
fn absence_counts_only_after_the_hold() {
    let mut pool = Pool::new(on_execute());
    pool.blocked(0);
    pool.fail(Verb::Create, Failure::Lost);
    let mut looked = 0;
    while pool.now.as_secs_f64() < 119.0 {
        while pool.asked(Verb::Find) > 0 {
            pool.answer(Verb::Find, Reply::Absent);
            looked += 1;
        }
        while pool.asked(Verb::Create) > 0 {
            pool.fail(Verb::Create, Failure::Unavailable);
        }
        assert_eq!(pool.used_slots(), 1, "at {}", pool.now);
        pool.wait(1.0);
    }
    assert!(looked > 3, "it was looked for {looked} times");
    pool.wait(2.0);
    pool.answer_last(Verb::Find, Reply::Absent);
    assert_eq!(pool.used_slots(), 0);
    let deleted = pool.events.iter().rfind(|event| event.kind == EventKind::SandboxDeleted);
    assert_eq!(deleted.unwrap().reason, Reason::Absent);
}

#[test]
fn the_claim_may_start_another_but_has_one_limbo_at_most() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.blocked(0);
    pool.fail(Verb::Create, Failure::Lost);
    pool.wait(2.0);
    assert_eq!(pool.asked(Verb::Create), 1, "a second start");
    pool.fail(Verb::Create, Failure::Lost);
    assert_eq!(pool.refusal(conversation), Some(Reason::CouldNotStart));
    pool.wait(30.0);
    assert_eq!(pool.asked(Verb::Create), 0, "no third slot is put at risk");
    assert_eq!(pool.used_slots(), 2);
}

#[test]
fn a_late_answer_to_the_create_settles_it() {
    let mut pool = Pool::new(on_execute());
    let conversation = pool.blocked(0);
    let create = pool.lose(Verb::Create);
    pool.wait(60.0);
    assert_eq!(pool.count(EventKind::SandboxLimbo), 1);
    assert_eq!(pool.refusal(conversation), Some(Reason::CouldNotStart));
    pool.tell(Input::Reply { op: create.op, reply: Reply::Created { provider: ProviderId(9) } });
    assert_eq!(pool.asked(Verb::Destroy), 1, "found, and nobody wants it");
    pool.serve_all();
    assert_eq!(pool.used_slots(), 0);
    // Once more: nobody waits for it.
    let late = pool.count(EventKind::LateReply);
    pool.tell(Input::Reply { op: create.op, reply: Reply::Created { provider: ProviderId(9) } });
    assert_eq!(pool.count(EventKind::LateReply), late + 1);
}

#[test]
fn an_errored_leftover_is_destroyed_by_name() {
    let mut pool = Pool::new(on_execute());
    pool.blocked(0);
    pool.fail(Verb::Create, Failure::Errored);
    let destroy = pool.operations.iter().find(|op| op.verb == Verb::Destroy).unwrap();
    assert_eq!(destroy.provider, None, "only the name is known");
    assert_eq!(destroy.name.sequence, 1);
}

#[test]
fn a_sandbox_in_limbo_that_the_inventory_shows_is_settled() {
    let mut config = on_execute();
    config.reconcile = sandpool_core::Span::from_secs(5);
    let mut pool = Pool::new(config);
    let conversation = pool.blocked(0);
    let create = pool.lose(Verb::Create);
    pool.wait(61.0);
    pool.lose(Verb::Find);
    pool.operations.retain(|op| op.verb == Verb::FindAll);
    let item = sandpool_core::InventoryItem {
        provider: ProviderId(5),
        name: Some(create.name),
        class: create.class,
        state: FoundState::Running,
    };
    pool.wait_until_asked(Verb::FindAll);
    pool.answer_last(Verb::FindAll, crate::harness::inventory(&[item]));
    assert_eq!(pool.refusal(conversation), Some(Reason::CouldNotStart));
    assert_eq!(pool.asked(Verb::Destroy), 1);
}
