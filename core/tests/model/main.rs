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
mod shrink;

use actions::{Action, actions};
use history::History;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config as RunnerConfig, RngAlgorithm, TestRng, TestRunner};
use provider::Temper;
use sandpool_core::{Config, EventKind};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// Histories in a normal run.
const CASES: u64 = 1_200;

/// What must have happened somewhere in that many histories, so that none of it goes untested:
/// everything but an illegal transition.
const EXPECTED: &[EventKind] = EventKind::ALL.split_at(EventKind::ALL.len() - 1).0;

thread_local! {
    /// Whether panics of this thread are expected and told elsewhere.
    static QUIET: Cell<bool> = const { Cell::new(false) };
    /// What the last of them said, and where.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps the panics of a history that is being shrunk out of the output.
fn hush() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if QUIET.get() {
                PANIC.set(info.to_string());
            } else {
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

/// Everything that a history is made of.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    pub(crate) config: Config,
    pub(crate) temper: Temper,
    pub(crate) actions: Vec<Action>,
    /// Whether running executes end by themselves before the shutdown.
    pub(crate) finish_first: bool,
}

fn plot() -> impl Strategy<Value = Plot> {
    (settings::settings(), temper(), actions(), any::<bool>()).prop_map(
        |(config, temper, actions, finish_first)| Plot { config, temper, actions, finish_first },
    )
}

/// How a history failed.
struct Failed {
    /// What was wrong.
    why: String,
    /// What happened before.
    story: String,
    /// After how many actions.
    actions: usize,
}

type Seen = RefCell<BTreeMap<&'static str, u64>>;

/// Plays a whole history to its end.
fn live(plot: &Plot, seen: &Seen) -> Result<(), Failed> {
    let mut played = 0;
    let fail = |why: String, story: String, actions: usize| Failed { why, story, actions };
    let mut history = History::new(plot.config.clone(), plot.temper)
        .map_err(|why| fail(why, String::new(), 0))?;
    let result = caught(|| {
        for action in &plot.actions {
            played += 1;
            history.play(action)?;
        }
        history.end(plot.finish_first)
    });
    for (kind, count) in &history.seen {
        *seen.borrow_mut().entry(kind).or_default() += count;
    }
    let lines = if std::env::var("SANDPOOL_MODEL_TRACE").is_ok() { usize::MAX } else { 150 };
    result.map_err(|why| fail(why, history.tail(lines), played))
}

/// Runs something; a panic in it becomes an error.
fn caught(run: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        let text = PANIC.take();
        Err(format!("panic: {text}"))
    })
}

/// The plot of a seed.
fn plot_of(seed: u64) -> Plot {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = RunnerConfig { failure_persistence: None, ..RunnerConfig::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(config, rng);
    plot().new_tree(&mut runner).expect("settings without contradictions are common").current()
}

/// Runs the history of one seed; a failure comes back shrunk.
fn run_seed(seed: u64, seen: &Seen) -> Result<(), String> {
    let plot = plot_of(seed);
    let Err(first) = live(&plot, seen) else { return Ok(()) };
    let ignored = RefCell::default();
    // Numbers aside, it must go wrong in the same way while it is made smaller.
    let way = |why: &str| why.chars().filter(|c| !c.is_ascii_digit()).take(40).collect::<String>();
    let wanted = way(&first.why);
    let fails = |plot: &Plot| match live(plot, &ignored) {
        Err(failed) if way(&failed.why) == wanted => Some(failed.actions),
        _ => None,
    };
    let small = shrink::shrink(&plot, &fails);
    let failed = live(&small, &ignored).err().unwrap_or(first);
    Err(format!(
        "{}\n{}\n\nsettings: {:#?}\n{:?}\n{:?}, finish first: {}\n{} actions: {:?}",
        failed.why,
        failed.story,
        shrink::differing(&small.config),
        small.config.classes,
        small.temper,
        small.finish_first,
        small.actions.len(),
        small.actions
    ))
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
    if failures.is_empty() && cases >= CASES {
        let missing: Vec<&str> = EXPECTED
            .iter()
            .map(|kind| kind.name())
            .filter(|name| !seen.borrow().contains_key(name))
            .collect();
        assert!(missing.is_empty(), "no history had any of {missing:?}: the test has gone blind");
    }
    for (seed, why) in &failures {
        println!(
            "seed {seed} fails: {why}\n\nreplay: SANDPOOL_MODEL_SEED={seed} SANDPOOL_MODEL_CASES=1 \
             cargo test -p sandpool-core --test model random_histories -- --nocapture\n"
        );
    }
    assert!(failures.is_empty(), "{} seeds fail, see above", failures.len());
}
