//! Seeded fault search: a random scenario from one number, everything checked by checkers that do
//! not ask the scheduler's own books, and what fails made small.
//!
//! Each checker is a file of `check/`: it folds over the journal of a run, which holds every input,
//! every operation and every event, and knows the rules from the design.

mod check;
mod generate;
mod shrink;

pub use check::{CHECKERS, Checker, Violation};
pub use generate::{FuzzRecipe, Piece};
pub use shrink::shrink;

use crate::engine::{Journal, RunOptions, run};
use crate::scenario::{Variant, parse};
use crate::workload::Source;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What the search came to with one seed.
#[derive(Debug)]
pub struct Searched {
    /// Steps of the scheduler, each of which was checked.
    pub steps: u64,
    /// The first thing that is wrong, if anything is.
    pub failure: Option<Failure>,
    /// What was exercised: kinds of events with their reasons.
    pub journal: Journal,
}

/// Something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Which checker says so; the scheduler's own invariants, or the simulator's own books, are
    /// called `panic`.
    pub checker: &'static str,
    /// What.
    pub text: String,
    /// The line of the journal, from 0, if it is about one.
    pub line: Option<usize>,
}

/// Runs a recipe under every checker. One that is no scenario fails as `recipe`.
#[must_use]
pub fn search(recipe: &FuzzRecipe) -> Searched {
    search_scenario(&recipe.to_toml())
}

/// Runs the first variant of a scenario file under every checker.
#[must_use]
pub fn search_scenario(text: &str) -> Searched {
    let scenario = match parse("fuzz.toml", text) {
        Ok(scenario) => scenario,
        // One that is made smaller may lack what another part of it names.
        Err(errors) => {
            let failure = Failure { checker: "recipe", text: errors.to_string(), line: None };
            return Searched { steps: 0, failure: Some(failure), journal: Vec::new() };
        }
    };
    let variant = &scenario.variants[0];
    let options = RunOptions {
        seed: scenario.seed,
        replication: 0,
        duration: scenario.duration,
        warm_up: sandpool_core::Span::ZERO,
        bin: None,
        check_invariants: true,
        journal: true,
        wind_down: true,
    };
    let source = Source::new(&variant.workload, options.seed, 0, options.duration);
    match catch_unwind(AssertUnwindSafe(|| run(variant, source, &options))) {
        Ok(outcome) => {
            let journal = outcome.journal.unwrap_or_default();
            let leaked = outcome.leaked.unwrap_or(0);
            judge(variant, journal, leaked)
        }
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            let failure = Failure {
                checker: "panic",
                text: text.unwrap_or_else(|| "stopped without a message".to_owned()),
                line: None,
            };
            Searched { steps: 0, failure: Some(failure), journal: Vec::new() }
        }
    }
}

fn judge(variant: &Variant, journal: Journal, leaked: u64) -> Searched {
    let steps = check::steps(&journal);
    let mut failure = None;
    for checker in CHECKERS {
        if let Err(violation) = (checker.check)(variant, &journal) {
            failure =
                Some(Failure { checker: checker.name, text: violation.text, line: violation.line });
            break;
        }
    }
    if failure.is_none() && leaked > 0 {
        failure = Some(Failure {
            checker: "leaks",
            text: format!("{leaked} sandboxes are left at the provider after the shutdown"),
            line: None,
        });
    }
    Searched { steps, failure, journal }
}
