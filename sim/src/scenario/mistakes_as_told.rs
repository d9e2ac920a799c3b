//! What a user sees for each kind of mistake, word for word.

use super::file::{parse, parse_with};
use super::settings::ReadOptions;
use proptest::prelude::*;

/// A file that uses nearly every table.
const LARGE: &str = include_str!("../../../scenarios/provider-storm.toml");

/// The smallest scenario; what is appended starts at line 3.
const BASE: &str = "[workload.arrivals.poisson]\nper_hour = 6\n";

fn told(text: &str) -> String {
    match parse("pool.toml", text) {
        Ok(_) => "no mistakes".to_owned(),
        Err(errors) => errors.to_string(),
    }
}

fn told_after_base(text: &str) -> String {
    told(&format!("{BASE}{text}"))
}

#[test]
fn the_smallest_scenario_is_right() {
    assert_eq!(told(BASE), "no mistakes");
}

#[test]
fn empty_file() {
    insta::assert_snapshot!(told(""));
    assert_eq!(told("# only a comment\n"), told(""));
}

#[test]
fn syntax_errors() {
    insta::assert_snapshot!(told("name = \"x\nduration = 24h\n[server\n"));
}

#[test]
fn duplicate_keys() {
    insta::assert_snapshot!(told_after_base("[server]\nidle_seconds = 1\nidle_seconds = 2\n"));
}

#[test]
fn missing_traffic() {
    insta::assert_snapshot!(told("question = \"why?\"\n"));
}

#[test]
fn empty_arrivals() {
    insta::assert_snapshot!(told("[workload.arrivals]\n"));
}

#[test]
fn unknown_keys() {
    insta::assert_snapshot!(told_after_base(
        "[server]\nmax_sandbox = 3\n[workload.account]\n[provider.quotas]\nmax_cpu = 1\n[colour]\n"
    ));
}

#[test]
fn wrong_types() {
    insta::assert_snapshot!(told(
        "question = 3\nseed = \"one\"\ninclude_base = \"yes\"\nserver = 3\nvariant = 1\nexpect = 2\n\
         [workload]\nturns = \"three\"\nneeds_code = \"82%\"\n\
         [workload.arrivals]\nat = \"1h\"\n[provider]\noutage = 3\nfaults = 1\n"
    ));
}

#[test]
fn out_of_range() {
    insta::assert_snapshot!(told_after_base(
        "[server]\nmax_sandboxes = -1\nstart_likely_percent = 101\nidle_seconds = 1e9\n\
         max_sandboxes_per_account = 99999999999999999999\nmax_starting = 2.0\n\
         [prices]\ncpu_hour = -0.1\n[provider]\nlist_partial = 1.5\n"
    ));
}

#[test]
fn nan_and_infinity() {
    insta::assert_snapshot!(told(
        "precision = nan\n[workload.arrivals.poisson]\nper_hour = inf\n\
         [server]\nmax_cpu = inf\nidle_seconds = nan\nmax_sandboxes = nan\n\
         [provider]\ncall_seconds = nan\n"
    ));
}

#[test]
fn units() {
    insta::assert_snapshot!(told(
        "duration = \"24\"\nwarm_up = \"1 hour\"\nbin = 600\n\
         [workload.arrivals]\nat = [\"2h\", \"1h\"]\n\
         [server]\nidle_seconds = \"15m\"\nmax_memory_gb = \"10GB\"\n\
         [server_crashes]\nat = [\"-1h\"]\nrestart_after = \"\"\n"
    ));
}

#[test]
fn times_that_do_not_fit_together() {
    insta::assert_snapshot!(told(&format!(
        "duration = \"1h\"\nwarm_up = \"2h\"\nbin = \"0s\"\nreplications = 20\nprecision = 0.1\n\
         max_replications = 10\n{BASE}"
    )));
}

#[test]
fn unknown_policy_and_class_and_verb() {
    insta::assert_snapshot!(told_after_base(
        "[workload]\nclass_mix = { defualt = 1, big = 2 }\n[classes.large]\nmemory_gb = 4\n\
         [server]\nstart_policy = \"onturn\"\nqueue_policy = \"lifo\"\nwarm_sandboxes = { large = 1, tiny = 1 }\n\
         [provider.prepare_by_class]\nlargo = 3\n[provider.faults.creat]\nerrored = 0.1\n"
    ));
}

#[test]
fn chances_above_one() {
    insta::assert_snapshot!(told_after_base(
        "[provider.faults.create]\nerrored = 0.6\nlost_answer = 0.5\n"
    ));
}

#[test]
fn contradicting_policy_keys() {
    insta::assert_snapshot!(told_after_base(
        "[server]\nlimbo_hold_seconds = 5\nretry_base_seconds = 90\nkeep_alive_seconds = 1200\n"
    ));
}

#[test]
fn weights_without_weight() {
    insta::assert_snapshot!(told_after_base(
        "[workload.accounts]\nweights = [0, 0]\n[workload]\nclass_mix = { default = 0 }\n"
    ));
}

#[test]
fn alternatives_together() {
    insta::assert_snapshot!(told_after_base(
        "[workload.arrivals.bursty]\nper_hour = 3\n[workload.accounts]\ncount = 3\nweights = [1]\n"
    ));
}

#[test]
fn variants() {
    insta::assert_snapshot!(told_after_base(
        "[server]\nidle_seconds = 60\n\
         [[variant]]\nname = \"a\"\n\"server.idle_seconds\" = 60\n\
         [[variant]]\nname = \"a\"\n\"server.idle_secs\" = 30\n\
         [[variant]]\n\"server.idle_seconds\" = -3\n\
         [[variant]]\nname = \"base\"\nduration = \"1h\"\n\
         [[variant]]\nname = \"twice\"\n\"server.idle_seconds\" = 3\n[variant.server]\nidle_seconds = 4\n\
         [[variant]]\nname = \"\"\nserve.idle_seconds = 3\n\
         [[variant]]\nname = \"burst\"\n[variant.workload.arrivals.bursty]\nper_hour = 3\n"
    ));
}

#[test]
fn a_mistake_of_the_base_is_not_told_for_each_variant() {
    let text = told_after_base(
        "[server]\nidle_seconds = -1\nretry_base_seconds = 90\n[provider.faults.create]\nerrored = 2\n\
         [[variant]]\nname = \"a\"\n\"server.max_sandboxes\" = 3\n\
         [[variant]]\nname = \"b\"\n\"server.max_sandboxes\" = 4\n",
    );
    assert_eq!(text.matches("pool.toml:").count(), 3, "{text}");
}

#[test]
fn expectations() {
    let text = format!(
        "{BASE}[[expect]]\nmeasure = \"leeked\"\nmax = 0\n[[expect]]\nmeasure = \"leaked\"\n\
         [[expect]]\nvariant = \"bass\"\nmin = 3\nmax = 2\nmeasure = \"leaked\"\n[[expect]]\nmin = 1\n"
    );
    let options = ReadOptions { measures: Some(&["leaked", "turns"]), ..ReadOptions::default() };
    let errors = parse_with("pool.toml", &text, &options).unwrap_err();
    insta::assert_snapshot!(errors.to_string());
}

#[test]
fn many_at_once_in_the_order_of_the_file() {
    let text = told(
        "# A comment of two bytes a letter: \u{e4}\u{f6}\u{fc}.\nname = \"\"\n\n[workload]\nneeds_code = 2 # too much\n\
         arrivals.poisson.per_hour = nan\n\n[server]\n  idle = 3\n\n[[variant]]\nname = \"\u{fc}\"\n\
         \"server.recovery\" = \"adapt\"\n",
    );
    insta::assert_snapshot!(text);
}

proptest! {
    /// Whatever is typed over a file, reading it ends in a scenario or in mistakes that lie within
    /// the text.
    #[test]
    fn no_text_makes_reading_panic(
        edits in proptest::collection::vec(
            (
                any::<proptest::sample::Index>(),
                0..12_usize,
                prop_oneof![
                    Just("nan"), Just("-1"), Just("1e999"), Just("\""), Just("[["), Just("]"), Just("{"),
                    Just("}"), Just("= "), Just("\n"), Just("."), Just("[]"), Just("true"), Just("\u{e4}"),
                    Just("\"\""), Just("99999999999999999999"), Just("name"), Just("[variant]\n"),
                    Just("1979-05-27"), Just(""), Just("#"), Just("mixture"),
                ],
            ),
            1..8,
        )
    ) {
        let mut text = LARGE.to_owned();
        for (index, length, with) in edits {
            let boundaries: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            if boundaries.is_empty() {
                break;
            }
            let start = index.index(boundaries.len());
            let end = (start + length).min(boundaries.len() - 1);
            text.replace_range(boundaries[start]..boundaries[end], with);
        }
        if let Err(errors) = parse("storm.toml", &text) {
            prop_assert!(!errors.mistakes.is_empty());
            for mistake in &errors.mistakes {
                prop_assert!(mistake.span.start <= mistake.span.end, "{:?}", mistake);
                prop_assert!(mistake.span.end <= text.len(), "{:?}", mistake);
            }
            prop_assert!(!super::diagnostics::render_mistakes(&errors, true, 80).is_empty());
        }
    }
}
