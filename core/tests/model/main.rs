//! Random histories: the scheduler, driven through its public interface against a provider that
//! misbehaves, beside a naive model that is written from the design and not from the code.
//!
//! - `SANDPOOL_MODEL_CASES`: how many histories (default below).
//! - `SANDPOOL_MODEL_SEED`: the first seed (default 1); a failure prints the one to give here.
//! - `SANDPOOL_MODEL_TRACE`: print the whole story of the failing history.

mod actions;
mod history;
mod naive;
mod provider;
mod regressions;
mod settings;

use actions::{Action, actions};
use history::History;
use proptest::prelude::*;
use proptest::test_runner::{Config as RunnerConfig, RngAlgorithm, TestError, TestRng, TestRunner};
use provider::Temper;
use sandpool_core::Config;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Once;

/// Histories in a normal run.
const CASES: u64 = 400;

thread_local! {
    /// Whether panics of this thread are expected and told elsewhere.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Keeps the panics of a history that is being shrunk out of the output.
fn hush() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                loud(info);
            }
        }));
    });
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn temper() -> impl Strategy<Value = Temper> {
    (
        any::<u64>(),
        prop_oneof![2 => Just(0_u8), 2 => 1_u8..15, 1 => 15_u8..60],
        prop_oneof![3 => Just(0_u8), 1 => 1_u8..30, 1 => Just(100)],
        prop_oneof![Just(0_u64), Just(300), Just(1_500), Just(6_000)],
    )
        .prop_map(|(salt, trouble_percent, silent_percent, latency_ms_max)| Temper {
            salt,
            trouble_percent,
            silent_percent,
            latency_ms_max,
        })
}

type Plot = (Config, Temper, Vec<Action>, bool);

fn plot() -> impl Strategy<Value = Plot> {
    (settings::settings(), temper(), actions(), any::<bool>())
}

/// Plays a whole history to its end.
fn live(plot: &Plot, seen: &RefCell<BTreeMap<&'static str, u64>>) -> Result<(), String> {
    let (config, temper, actions, finish_first) = plot;
    let mut history = History::new(config.clone(), *temper)?;
    let mut run = || {
        for action in actions {
            history.play(action)?;
        }
        history.end(*finish_first)
    };
    let result = run();
    for (kind, count) in &history.seen {
        *seen.borrow_mut().entry(kind).or_default() += count;
    }
    let lines = if std::env::var("SANDPOOL_MODEL_TRACE").is_ok() { 100_000 } else { 60 };
    result.map_err(|text| format!("{text}\n{}", history.tail(lines)))
}

/// Runs the history of one seed; a failure comes back shrunk.
fn run_seed(seed: u64, seen: &RefCell<BTreeMap<&'static str, u64>>) -> Result<(), String> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = RunnerConfig {
        cases: 1,
        failure_persistence: None,
        max_shrink_iters: 200_000,
        max_shrink_time: 20_000,
        ..RunnerConfig::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let result = runner.run(&plot(), |plot| {
        live(&plot, seen).map_err(TestCaseError::fail)
    });
    match result {
        Ok(()) => Ok(()),
        Err(TestError::Fail(why, (config, temper, actions, finish_first))) => Err(format!(
            "{why}\n\n{config:?}\n{temper:?}, finish first: {finish_first}\n{} actions: {actions:?}",
            actions.len()
        )),
        Err(TestError::Abort(why)) => Err(format!("gave up: {why}")),
    }
}

#[test]
fn random_histories_agree_with_the_naive_model() {
    hush();
    QUIET.set(true);
    let first = number("SANDPOOL_MODEL_SEED", 1);
    let cases = number("SANDPOOL_MODEL_CASES", CASES);
    let seen = RefCell::new(BTreeMap::new());
    let mut failures = Vec::new();
    for seed in first..first + cases {
        if let Err(why) = run_seed(seed, &seen) {
            failures.push((seed, why));
            if failures.len() as u64 >= number("SANDPOOL_MODEL_FAILURES", 1) {
                break;
            }
        }
    }
    QUIET.set(false);
    for (kind, count) in seen.borrow().iter() {
        println!("{count:>10} {kind}");
    }
    for (seed, why) in &failures {
        println!(
            "seed {seed} fails: {why}\n\nreplay: SANDPOOL_MODEL_SEED={seed} SANDPOOL_MODEL_CASES=1 \
             cargo test -p sandpool-core --test model random_histories -- --nocapture\n"
        );
    }
    assert!(failures.is_empty(), "{} seeds fail, see above", failures.len());
}
