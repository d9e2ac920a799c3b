//! Random actions. Each one is abstract: it picks what it acts on out of whatever lives when its
//! turn comes, so that a history stays meaningful when actions before it are left out.

use proptest::prelude::*;
use sandpool_core::{Config, ExecuteOutcome};

/// Which one: taken modulo the number of candidates.
pub(crate) type Pick = u8;

/// One abstract step.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Open a conversation of the account.
    Open { account: u32 },
    /// Close an open conversation.
    Close { pick: Pick, cancel: bool },
    /// Begin a turn in a conversation without one.
    Begin { pick: Pick, class: u16, likely_percent: Option<u8> },
    /// End an open turn.
    End { pick: Pick, cancel: bool },
    /// Start an execute in an open turn that runs none.
    Start { pick: Pick, patience_ms: Option<u64> },
    /// End a running execute.
    Finish { pick: Pick, outcome: ExecuteOutcome },
    /// Cancel an execute, waiting or running.
    Cancel { pick: Pick },
    /// Answer an operation now, in this way (see `provider.rs`).
    Answer { pick: Pick, flavour: u8 },
    /// Answer everything asked so far, well.
    AnswerAll,
    /// A sandbox dies at the provider and nobody says so.
    Die { pick: Pick },
    /// Time passes.
    Wait { millis: u64 },
    /// Time passes up to the scheduler's next deadline.
    WaitForDeadline,
    /// New settings for what follows; the classes stay, and sometimes shrink wrongly.
    Reconfigure { config: Box<Config>, drop_a_class: bool },
    /// Shut down.
    Drain { leave_sandboxes: bool },
    /// The process dies and another instance starts. The store forgets some sandboxes.
    Restart { forget: u8, unresolved: bool },
    /// An input that makes no sense.
    Nonsense { kind: u8, pick: Pick },
}

fn outcome() -> impl Strategy<Value = ExecuteOutcome> {
    prop_oneof![
        6 => Just(ExecuteOutcome::Completed),
        1 => Just(ExecuteOutcome::TimedOut),
        1 => Just(ExecuteOutcome::SandboxGone),
        1 => Just(ExecuteOutcome::Unreachable),
    ]
}

fn patience_ms() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![
        5 => Just(None),
        1 => Just(Some(0)),
        2 => (1_u64..20_000).prop_map(Some),
        1 => Just(Some(u64::MAX)),
    ]
}

fn wait_millis() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 1_u64..2_000,
        2 => 2_000_u64..12_000,
        1 => 12_000_u64..90_000,
        1 => Just(0),
    ]
}

/// A single action, the everyday ones most often.
pub(crate) fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        8 => (0_u32..4).prop_map(|account| Action::Open { account }),
        2 => (any::<Pick>(), any::<bool>())
            .prop_map(|(pick, cancel)| Action::Close { pick, cancel }),
        18 => (any::<Pick>(), prop_oneof![3 => Just(0), 1 => 0_u16..3], proptest::option::of(0_u8..=100))
            .prop_map(|(pick, class, likely_percent)| Action::Begin { pick, class, likely_percent }),
        8 => (any::<Pick>(), any::<bool>()).prop_map(|(pick, cancel)| Action::End { pick, cancel }),
        22 => (any::<Pick>(), patience_ms())
            .prop_map(|(pick, patience_ms)| Action::Start { pick, patience_ms }),
        14 => (any::<Pick>(), outcome()).prop_map(|(pick, outcome)| Action::Finish { pick, outcome }),
        2 => any::<Pick>().prop_map(|pick| Action::Cancel { pick }),
        10 => (any::<Pick>(), any::<u8>())
            .prop_map(|(pick, flavour)| Action::Answer { pick, flavour }),
        5 => Just(Action::AnswerAll),
        1 => any::<Pick>().prop_map(|pick| Action::Die { pick }),
        16 => wait_millis().prop_map(|millis| Action::Wait { millis }),
        8 => Just(Action::WaitForDeadline),
        3 => (0_u8..20, any::<Pick>()).prop_map(|(kind, pick)| Action::Nonsense { kind, pick }),
    ]
}

/// An action that turns the whole thing over; a history has few of them.
fn upheaval() -> impl Strategy<Value = Action> {
    prop_oneof![
        6 => (crate::settings::settings(), proptest::bool::weighted(0.1)).prop_map(
            |(config, drop_a_class)| Action::Reconfigure { config: Box::new(config), drop_a_class }
        ),
        4 => (any::<u8>(), any::<bool>())
            .prop_map(|(forget, unresolved)| Action::Restart { forget, unresolved }),
        1 => any::<bool>().prop_map(|leave_sandboxes| Action::Drain { leave_sandboxes }),
    ]
}

/// A whole history: mostly everyday life.
pub(crate) fn actions() -> impl Strategy<Value = Vec<Action>> {
    let everyday = proptest::collection::vec(action(), 1..250);
    let mixed = proptest::collection::vec(prop_oneof![60 => action(), 1 => upheaval()], 1..300);
    prop_oneof![1 => everyday, 2 => mixed]
}
