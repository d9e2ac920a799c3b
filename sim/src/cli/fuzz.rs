//! `fuzz`: seeded fault search.

use super::examples;
use super::failure::Failure;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::prelude::*;
use sandpool_sim::{CHECKERS, FuzzRecipe, Journal, SearchFailure, What, search, shrink};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::Duration;

/// Look for bugs: random scenarios with every fault, every step checked
///
/// Each seed gives a scenario: limits, classes, policies, traffic, faults of the provider, crashes
/// of our own server. It is run with every checker. What fails is made small and shown with the
/// last lines of its journal, and with the one command that replays it.
#[derive(Args, Debug)]
#[command(after_help = examples!("  sandpool-sim fuzz
  sandpool-sim fuzz --budget 600
  sandpool-sim fuzz --seed 17 --seeds 1
  sandpool-sim fuzz --seeds 1000 --coverage --json"))]
pub(crate) struct Arguments {
    /// Seeds to try; without it as many as the budget allows
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,
    /// How long to look, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    budget: u64,
    /// The first seed; made up and printed without it
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Threads to use; by default all cores
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Also tell how often each kind of event was seen, with its reason
    #[arg(long)]
    coverage: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Seeds that are tried between two looks at the clock.
const BATCH: u64 = 16;

/// Runs that the shrinking of a failure may take.
const SHRINK_TRIES: u32 = 400;

/// Lines of the journal that are shown of a failure.
const LAST_LINES: usize = 25;

#[derive(Default)]
struct Found {
    seeds: u64,
    steps: u64,
    failures: Vec<(u64, SearchFailure)>,
    seen: BTreeMap<String, u64>,
}

pub(crate) fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let first = match arguments.seed {
        Some(seed) => seed,
        None => made_up().map_err(Failure::Machine)?,
    };
    if arguments.seed.is_none() {
        eprintln!("first seed: {first}");
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.threads.unwrap_or(0))
        .build()
        .map_err(|error| Failure::Machine(format!("cannot start threads: {error}")))?;
    let bar = bar();
    let found = pool.install(|| look(arguments, first, &bar));
    bar.finish_and_clear();
    let failure = found.failures.first().cloned();
    for (seed, failure) in &found.failures {
        eprintln!("seed {seed}: {}: {}", failure.checker, failure.text);
    }
    let small = failure.as_ref().map(|(seed, failure)| {
        let (recipe, failure) = shrink(&FuzzRecipe::of(*seed), failure, SHRINK_TRIES);
        (*seed, recipe, failure)
    });
    if arguments.json {
        let failure = small.as_ref().map(|(seed, recipe, failure)| {
            json!({
                "seed": seed,
                "replay": replay_line(*seed),
                "checker": failure.checker,
                "text": failure.text,
                "scenario": recipe.to_toml(),
            })
        });
        let seen = arguments.coverage.then_some(&found.seen);
        let told = json!({
            "first_seed": first,
            "seeds": found.seeds,
            "steps": found.steps,
            "failed_seeds": found.failures.iter().map(|(seed, _)| seed).collect::<Vec<_>>(),
            "failure": failure,
            "seen": seen,
        });
        writeln!(out, "{told:#}")?;
    } else {
        tell(arguments, &found, small.as_ref(), out)?;
    }
    match small {
        None => Ok(()),
        Some((seed, _, failure)) => Err(Failure::Broken(format!(
            "{}: {}\n  replay: {}",
            failure.checker,
            failure.text,
            replay_line(seed)
        ))),
    }
}

fn look(arguments: &Arguments, first: u64, bar: &ProgressBar) -> Found {
    let found = Mutex::new(Found::default());
    let budget = Duration::from_secs(arguments.budget);
    let mut next = 0;
    loop {
        let wanted = arguments.seeds.unwrap_or(u64::MAX) - next;
        let is_over = arguments.seeds.is_none() && bar.elapsed() >= budget;
        if wanted == 0 || is_over {
            break;
        }
        let batch = wanted.min(BATCH);
        (next..next + batch).into_par_iter().for_each(|number| {
            let seed = first.wrapping_add(number);
            let searched = search(&FuzzRecipe::of(seed));
            let mut found = found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            found.seeds += 1;
            found.steps += searched.steps;
            if arguments.coverage {
                count(&searched.journal, &mut found.seen);
            }
            found.failures.extend(searched.failure.map(|failure| (seed, failure)));
            bar.set_message(format!("{} seeds, {} steps", found.seeds, found.steps));
            bar.tick();
        });
        next += batch;
        let mut found = found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !found.failures.is_empty() {
            found.failures.sort_by_key(|(seed, _)| *seed);
            break;
        }
    }
    found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn count(journal: &Journal, seen: &mut BTreeMap<String, u64>) {
    for line in journal {
        let name = match &line.what {
            What::Event(event) => format!("{} {}", event.kind.name(), event.reason.name()),
            What::Crash => "server crash".to_owned(),
            _ => continue,
        };
        *seen.entry(name).or_default() += 1;
    }
}

fn tell(
    arguments: &Arguments,
    found: &Found,
    small: Option<&(u64, FuzzRecipe, SearchFailure)>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    writeln!(
        out,
        "{} scenarios, {} steps, each checked against the scheduler's invariants and {} checkers",
        found.seeds,
        found.steps,
        CHECKERS.len()
    )?;
    if arguments.coverage {
        for (name, count) in &found.seen {
            writeln!(out, "{count:>12}  {name}")?;
        }
    }
    let Some((_, recipe, failure)) = small else {
        writeln!(out, "nothing was found")?;
        return Ok(());
    };
    writeln!(out, "\nsmall:\n{}", recipe.to_toml())?;
    if let Some(rule) = CHECKERS.iter().find(|checker| checker.name == failure.checker) {
        writeln!(out, "rule: {}", rule.rule)?;
    }
    let Some(line) = failure.line else { return Ok(()) };
    let journal = search(recipe).journal;
    writeln!(out, "the last lines of the journal, the last one is at fault:")?;
    for line in &journal[line.saturating_sub(LAST_LINES)..=line.min(journal.len() - 1)] {
        writeln!(out, "{} {}", line.at, serde_json::to_string(&line.what)?)?;
    }
    Ok(())
}

fn replay_line(seed: u64) -> String {
    format!("sandpool-sim fuzz --seed {seed} --seeds 1")
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    if let Ok(style) = ProgressStyle::with_template("{elapsed_precise} {spinner} {msg}") {
        bar.set_style(style);
    }
    bar
}

fn made_up() -> Result<u64, String> {
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
    Ok(u64::from(u32::from_le_bytes(bytes)))
}
