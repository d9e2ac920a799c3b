//! The checkers, one file each. None asks the scheduler: each folds over the journal and knows its
//! rule from the design.

mod answers;
mod binding;
mod capacity;
mod life_cycle;
mod patience;
mod protection;
mod rebuild;
mod time;

#[cfg(test)]
mod tests;

use crate::engine::{Journal, Line, What};
use crate::scenario::Variant;

/// Something that must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What.
    pub text: String,
    /// The line of the journal, from 0, if it is about one.
    pub line: Option<usize>,
}

impl Violation {
    fn at(line: usize, text: String) -> Self {
        Self { text, line: Some(line) }
    }
}

/// One checker.
#[derive(Clone, Copy, Debug)]
pub struct Checker {
    /// What it is called, and its file.
    pub name: &'static str,
    /// The rule, in a sentence.
    pub rule: &'static str,
    /// Says what is wrong with a run, if anything is.
    pub check: fn(&Variant, &[Line]) -> Result<(), Violation>,
}

/// All of them.
pub const CHECKERS: &[Checker] = &[
    Checker {
        name: "life_cycle",
        rule: "a sandbox changes its state only along the edges of the life cycle",
        check: life_cycle::check,
    },
    Checker {
        name: "binding",
        rule: "a conversation has one sandbox at most, a sandbox one conversation, and a used one no other ever",
        check: binding::check,
    },
    Checker {
        name: "answers",
        rule: "every execute has exactly one answer",
        check: answers::check,
    },
    Checker {
        name: "patience",
        rule: "a blocked execute is answered within its patience, or within the start bound once admitted",
        check: patience::check,
    },
    Checker {
        name: "capacity",
        rule: "no start is decided above the limit",
        check: capacity::check,
    },
    Checker {
        name: "protection",
        rule: "no sandbox is reclaimed within the protected time after its last use, nor in an open turn",
        check: protection::check,
    },
    Checker {
        name: "time",
        rule: "time does not go back, and the spans that are told are those that passed",
        check: time::check,
    },
    Checker {
        name: "rebuild",
        rule: "the journal alone rebuilds what was said",
        check: rebuild::check,
    },
];

/// Steps of the scheduler in a journal: inputs, and deadlines that came.
pub(super) fn steps(journal: &Journal) -> u64 {
    let is_step = |line: &&Line| matches!(line.what, What::Input(_) | What::Timeout);
    journal.iter().filter(is_step).count() as u64
}
