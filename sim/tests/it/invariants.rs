//! Every shipped scenario keeps every invariant of the scheduler after every step.

use sandpool_core::Span;
use sandpool_sim::{RunOptions, Source, load, run};
use std::path::Path;

/// Runs the first replication of each variant with the checks on.
fn checked(name: &str, hours: u64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios").join(name);
    let scenario = load(&path).unwrap_or_else(|error| panic!("{error:?}"));
    for variant in &scenario.variants {
        let duration = scenario.duration.min(Span::from_secs(hours * 3_600));
        let options = RunOptions {
            seed: scenario.seed,
            replication: 0,
            duration,
            warm_up: Span::ZERO,
            bin: None,
            check_invariants: true,
            journal: false,
            wind_down: true,
        };
        let source = Source::new(&variant.workload, options.seed, options.replication, duration);
        let outcome = run(variant, source, &options);
        eprintln!(
            "{name} {}: {:?} leaked {:?} rejections {}",
            variant.name,
            outcome.measures.counts(),
            outcome.leaked,
            outcome.rejections
        );
        assert_eq!(outcome.leaked, Some(0), "{name}, {}", variant.name);
        assert_eq!(outcome.measures.counts().illegal, 0, "{name}, {}", variant.name);
    }
}

#[test]
fn rush_hour() {
    checked("rush-hour.toml", 4);
}

#[test]
fn quiet_day() {
    checked("quiet-day.toml", 8);
}

#[test]
fn heavy_account() {
    checked("heavy-account.toml", 4);
}

#[test]
fn mixed_memory() {
    checked("mixed-memory.toml", 4);
}

#[test]
fn chat_little_code() {
    checked("chat-little-code.toml", 4);
}

#[test]
fn provider_storm() {
    checked("provider-storm.toml", 8);
}

#[test]
fn crash_restart() {
    checked("crash-restart.toml", 8);
}
