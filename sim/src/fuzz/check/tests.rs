//! Each checker objects to a journal that was tampered with, and to nothing in the one before.

use super::super::{FuzzRecipe, search};
use super::*;
use crate::scenario::parse;
use sandpool_core::{Event, EventKind, Reason, SandboxState, Span, Time};

/// A run in which everything happens that the tests below change.
fn sample() -> (Variant, Vec<Line>) {
    let has = |journal: &[Line], kind: EventKind| {
        journal.iter().any(|line| matches!(&line.what, What::Event(event) if event.kind == kind))
    };
    for seed in 1.. {
        let recipe = FuzzRecipe::of(seed);
        let searched = search(&recipe);
        assert_eq!(searched.failure, None, "seed {seed}");
        let wanted =
            [EventKind::SandboxReclaimed, EventKind::SandboxUnavailable, EventKind::SandboxReady];
        if wanted.into_iter().all(|kind| has(&searched.journal, kind)) {
            let scenario = parse("sample.toml", &recipe.to_toml()).unwrap();
            return (scenario.variants[0].clone(), searched.journal);
        }
    }
    unreachable!("seeds do not end")
}

fn checker(name: &str) -> &'static Checker {
    CHECKERS.iter().find(|checker| checker.name == name).unwrap()
}

/// The line of the first event of which this holds.
fn line_of(journal: &[Line], is_it: impl Fn(&Event) -> bool) -> usize {
    let found = journal.iter().position(|line| matches!(&line.what, What::Event(it) if is_it(it)));
    found.expect("the sample has such an event")
}

fn event(journal: &mut [Line], line: usize) -> &mut Event {
    match &mut journal[line].what {
        What::Event(event) => event,
        other => panic!("{other:?} is no event"),
    }
}

#[track_caller]
fn objects(name: &str, variant: &Variant, journal: &[Line], to: &str) {
    let violation = (checker(name).check)(variant, journal).unwrap_err();
    assert!(violation.text.contains(to), "{}", violation.text);
}

#[test]
fn every_checker_can_fail() {
    let (variant, journal) = sample();
    for checker in CHECKERS {
        assert_eq!((checker.check)(&variant, &journal), Ok(()), "{}", checker.name);
    }
    let is = |kind: EventKind| move |event: &Event| event.kind == kind;

    let mut told = journal.clone();
    let idle = line_of(&told, is(EventKind::SandboxIdle));
    event(&mut told, idle).state = SandboxState::Creating;
    objects("life_cycle", &variant, &told, "goes from");

    // Given to another conversation while it is the first one's.
    let mut told = journal.clone();
    let busy = line_of(&told, is(EventKind::SandboxBusy));
    let other = {
        let owner = event(&mut told, busy).conversation;
        told.iter()
            .find_map(|line| match &line.what {
                What::Event(event) => event.conversation.filter(|it| Some(*it) != owner),
                _ => None,
            })
            .expect("there are two conversations")
    };
    event(&mut told, busy).conversation = Some(other);
    objects("binding", &variant, &told, "conversation");

    // An answer that is missing, and one that comes twice.
    let refused = line_of(&journal, is(EventKind::SandboxUnavailable));
    let mut told = journal.clone();
    told.remove(refused);
    assert!((checker("answers").check)(&variant, &told).is_err(), "an answer is missing");
    let mut told = journal.clone();
    told.insert(refused, journal[refused].clone());
    objects("answers", &variant, &told, "is refused and did not wait");

    let mut told = journal.clone();
    let blocked = line_of(&told, |event| {
        event.kind == EventKind::ClaimBlocked && event.at > Time::ZERO.plus(Span::from_secs(200))
    });
    // As if it had been blocked since the beginning.
    event(&mut told, blocked).at = Time::ZERO;
    let mut impatient = variant.clone();
    impatient.server.start_timeout = Span::from_secs(1);
    objects("patience", &impatient, &told, "after its bound");

    let mut small = variant.clone();
    small.server.max.slots = 0;
    objects("capacity", &small, &journal, "0 slots in use");

    let mut careful = variant.clone();
    careful.server.reclaim_idle = Span::from_secs(86_400);
    objects("protection", &careful, &journal, "after its last use");

    let mut told = journal.clone();
    let ready = line_of(&told, is(EventKind::SandboxReady));
    event(&mut told, ready).span = Span::from_nanos(1);
    objects("time", &variant, &told, "is told as");
    let mut told = journal.clone();
    told[ready].at = Time::ZERO;
    objects("time", &variant, &told, "comes after");

    let mut told = journal.clone();
    event(&mut told, refused).reason = Reason::None;
    objects("rebuild", &variant, &told, "replayed");
}
