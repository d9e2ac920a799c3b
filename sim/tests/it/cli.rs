//! Each command: what it prints, what it writes, how it fails.

use crate::support::{SMALL, Sandbox};
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

fn files_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn no_or_a_wrong_command_is_a_mistake() {
    let sandbox = Sandbox::new();
    assert!(sandbox.run(&[]).code(2).err.contains("Usage"));
    assert!(sandbox.run(&["comapre"]).code(2).err.contains("compare"));
    sandbox.run(&["run", "small.toml", "--replications", "0"]).code(2);
    sandbox.run(&["run", "small.toml", "--threads", "0"]).code(2);
    sandbox.run(&["run", "small.toml", "--trace-sample", "0.5"]).code(2);
    let help = sandbox.run(&["compare", "--help"]).code(0).out;
    assert!(help.contains("Examples:") && help.contains("Exit codes:"), "{help}");
}

#[test]
fn validate_shows_every_mistake_of_every_file() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.toml", "seed = -1\n[workload.arrivals.poisson]\nper_hou = 3\n");
    sandbox.write("worse.toml", &format!("{SMALL}\n[[expect]]\nmeasure = \"leakd\"\nmax = 0\n"));
    let ran = sandbox.run(&["validate", "small.toml", "bad.toml", "worse.toml", "none.toml"]);
    let ran = ran.code(2);
    assert_eq!(ran.out, "small.toml: good, 3 variants\n");
    for part in ["bad.toml:1:", "bad.toml:3:", "per_hour", "leakd", "`leaked`", "none.toml"] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    sandbox.run(&["validate", "small.toml"]).code(0);
}

#[test]
fn validate_as_json_has_places_and_hints() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.toml", "[workload.arrivals.poisson]\nper_hou = 3\n");
    let report = sandbox.run(&["validate", "--json", "small.toml", "bad.toml"]).code(2).json();
    assert_eq!(report["good"], false);
    assert_eq!(report["files"][0]["good"], true);
    let mistake = &report["files"][1]["mistakes"][0];
    assert!(mistake["line"].is_u64() && mistake["column"].is_u64(), "{report:#}");
    assert!(mistake["message"].as_str().is_some_and(|text| !text.is_empty()));
}

#[test]
fn compare_prints_tables_and_writes_a_folder() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["compare", "small.toml"]).code(0);
    for part in [
        "exposed_wait_p95",
        "three minus base",
        "Does a third sandbox help?",
        "\nExposed wait (95th percentile)",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert!(ran.out.contains("report: out/small/report.html"), "{}", ran.out);
    let measures = |out: &str| out.split("minus base").next().unwrap().to_owned();
    assert!(!measures(&ran.out).contains("cost_busy_per_hour"), "{}", ran.out);
    assert_eq!(ran.err, "");
    assert_eq!(files_in(&sandbox.path().join("out")), ["small"]);
    let files = files_in(&sandbox.path().join("out/small"));
    for name in [
        "measures.csv",
        "differences.csv",
        "exposed_wait_cdf.csv",
        "cost_by_cause.csv",
        "over_time.csv",
        "results.json",
        "report.html",
        "wait-cdf.svg",
        "cost-against-wait.svg",
        "cost-by-cause.svg",
        "over-day.svg",
        "states.svg",
        "differences.svg",
    ] {
        assert!(files.iter().any(|file| file == name), "{name} in {files:?}");
    }
    let page = std::fs::read_to_string(sandbox.path().join("out/small/report.html")).unwrap();
    assert!(page.contains("sandpool-sim compare small.toml"), "the command is in the report");
    // Once more: an earlier result is replaced.
    let all = sandbox.run(&["compare", "small.toml", "--all", "--replications", "2"]).code(0);
    assert!(measures(&all.out).contains("cost_busy_per_hour"), "{}", all.out);
}

#[test]
fn compare_as_json_holds_the_results() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["compare", "small.toml", "--json", "--replications", "2"]).code(0);
    let comparison = &ran.json()["comparisons"][0];
    assert_eq!(comparison["results"]["replications"], 2);
    assert_eq!(comparison["results"]["variants"].as_array().unwrap().len(), 3);
    assert_eq!(comparison["missed"].as_array().unwrap().len(), 0);
    assert_eq!(comparison["folder"], "out/small");
    assert!(comparison["answer"].as_str().unwrap().ends_with('.'));
}

#[test]
fn a_missed_range_is_named_and_fails() {
    let sandbox = Sandbox::new();
    let text = format!("{SMALL}\n[[expect]]\nvariant = \"three\"\nmeasure = \"turns\"\nmax = 1\n");
    sandbox.write("strict.toml", &text);
    let ran = sandbox.run(&["compare", "strict.toml", "--replications", "2"]).code(1);
    assert!(ran.err.contains("missed: strict: turns of `three` is"), "{}", ran.err);
    assert!(ran.err.contains("expected 0 to 1") || ran.err.contains("to 1"), "{}", ran.err);
    assert!(sandbox.path().join("out/strict/report.html").exists(), "the report is still written");
    // What is expected of another variant does not concern the one that is run.
    sandbox.run(&["run", "strict.toml", "--replications", "2"]).code(0);
    sandbox.run(&["run", "strict.toml", "--replications", "2", "--variant", "three"]).code(1);
}

#[test]
fn an_output_folder_that_cannot_be_written_is_found_before_the_run() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "in the way");
    let ran = sandbox.run(&["compare", "small.toml", "--out", "file"]).code(3);
    assert!(ran.err.contains("hint:") && ran.out.is_empty(), "{} {}", ran.out, ran.err);
    std::fs::create_dir_all(sandbox.path().join("out/small")).unwrap();
    sandbox.write("out/small/notes.txt", "mine");
    sandbox.run(&["compare", "small.toml"]).code(3);
    assert_eq!(files_in(&sandbox.path().join("out/small")), ["notes.txt"]);
    sandbox.run(&["run", "small.toml", "--out", "file"]).code(3);
}

#[test]
fn two_scenarios_of_one_name_are_refused() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path().join("other")).unwrap();
    sandbox.write("other/small.toml", SMALL);
    let ran = sandbox.run(&["compare", "small.toml", "other/small.toml"]).code(2);
    assert!(ran.err.contains("called `small`"), "{}", ran.err);
}

#[test]
fn run_takes_one_variant_and_writes_only_when_asked() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["run", "small.toml", "--variant", "one warm", "--check-invariants"]);
    let ran = ran.code(0);
    assert!(ran.out.contains("one warm") && !ran.out.contains("three"), "{}", ran.out);
    assert!(ran.out.contains("Every invariant"), "{}", ran.out);
    assert!(!sandbox.path().join("out").exists());
    sandbox.run(&["run", "small.toml", "--out", "results", "--json"]).code(0).json();
    assert!(sandbox.path().join("results/small/results.json").exists());
    let wrong = sandbox.run(&["run", "small.toml", "--variant", "four"]).code(2);
    assert!(wrong.err.contains("`base`, `three`, `one warm`"), "{}", wrong.err);
}

#[test]
fn a_run_of_the_first_variant_is_what_the_comparison_says_of_it() {
    let sandbox = Sandbox::new();
    let run = sandbox.run(&["run", "small.toml", "--json", "--variant", "three"]).code(0).json();
    let compared = sandbox.run(&["compare", "small.toml", "--json"]).code(0).json();
    assert_eq!(run["results"]["variants"][0], compared["comparisons"][0]["results"]["variants"][1]);
}

#[test]
fn explain_lists_and_tells() {
    let sandbox = Sandbox::new();
    let list = sandbox.run(&["explain", "small.toml"]).code(0).out;
    assert!(list.contains("Longest waits:"), "{list}");
    let number: String = list
        .split("conversation ")
        .nth(1)
        .unwrap()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    let told = sandbox.run(&["explain", "small.toml", "--conversation", &number]).code(0).out;
    assert!(told.contains("turn 1 begins") && told.contains("waits because"), "{told}");
    let summary = told.lines().last().unwrap();
    assert!(summary.starts_with(&format!("Conversation {number} of account")), "{summary}");
    let json = sandbox.run(&["explain", "small.toml", "--conversation", &number, "--json"]).json();
    assert_eq!(json["summary"], summary);
    let gone = sandbox.run(&["explain", "small.toml", "--conversation", "99999"]).code(2);
    assert!(gone.err.contains("numbered 1 to"), "{}", gone.err);
    let all = sandbox.run(&["explain", "small.toml", "--json"]).code(0).json();
    assert!(all["conversations"].as_array().unwrap().len() > 10);
}

#[test]
fn events_stop_quietly_when_nobody_reads_on() {
    let sandbox = Sandbox::new();
    let mut child = sandbox
        .command(&["events", "small.toml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 100];
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut first).unwrap();
    drop(out);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn policy_prints_what_the_server_takes() {
    let sandbox = Sandbox::new();
    let text = sandbox.run(&["policy", "small.toml", "--variant", "three"]).code(0).out;
    let block = sandpool_sim::parse_policy_block("policy.toml", &text, &[]).unwrap();
    assert_eq!((block.config.max.slots, block.config.classes[0].warm_sandboxes), (3, 0));
}

#[test]
fn schema_is_json() {
    let schema = Sandbox::new().run(&["schema"]).code(0).json();
    assert_eq!(schema["required"], serde_json::json!(["workload"]));
}
