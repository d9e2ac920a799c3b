//! Recorded traffic instead of drawn traffic.

use crate::support::Sandbox;
use serde_json::Value;

const TRACE: &str = "\
conversation,turn,arrival_s,account,steps,exec_s
a,1,0,x,2,3
a,2,100,x,1,3
b,1,50,y,1,2
c,1,400,x,3,1
c,2,700,x,0,0
";

fn measure(results: &Value, name: &str) -> f64 {
    let measures = results["variants"][0]["measures"].as_array().unwrap();
    let found = measures.iter().find(|measure| measure["name"] == name).unwrap();
    found["mean"].as_f64().unwrap()
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("trace.csv", TRACE);
    let text = std::fs::read_to_string(sandbox.path().join("small.toml")).unwrap();
    sandbox.write("small.toml", &text.replace("warm_up = \"5m\"", "warm_up = \"0s\""));
    sandbox
}

#[test]
fn absolute_times_play_each_conversation_once() {
    let sandbox = sandbox();
    let arguments = ["run", "small.toml", "--trace", "trace.csv", "--trace-times", "absolute"];
    let results = &sandbox.run(&[&arguments[..], &["--json"]].concat()).code(0).json()["results"];
    assert_eq!(measure(results, "conversations"), 3.0);
    assert_eq!(measure(results, "turns"), 5.0);
}

#[test]
fn relative_times_start_as_the_scenario_says() {
    let sandbox = sandbox();
    let ran = sandbox.run(&["run", "small.toml", "--trace", "trace.csv", "--json"]).code(0);
    let conversations = measure(&ran.json()["results"], "conversations");
    assert!((15.0..50.0).contains(&conversations), "{conversations}");
}

#[test]
fn the_report_says_what_was_drawn_and_how_to_get_it_again() {
    let sandbox = sandbox();
    let arguments =
        ["compare", "small.toml", "--trace", "trace.csv", "--trace-sample", "0.5", "--seed", "3"];
    sandbox.run(&arguments).code(0);
    let page = std::fs::read_to_string(sandbox.path().join("out/small/report.html")).unwrap();
    for part in [
        "--seed 3 --trace trace.csv --trace-sample 0.5",
        "a recorded trace of 3 conversations with 5 turns",
        "keeps about 50 %",
        "Not told by the trace: class",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn mistakes_of_a_trace_have_their_lines() {
    let sandbox = sandbox();
    sandbox.write("bad.csv", "conversation,turn,arrival_s\na,1,0\na,x,5\nb,1,-3\n");
    let ran = sandbox.run(&["run", "small.toml", "--trace", "bad.csv"]).code(2);
    assert!(ran.err.contains("bad.csv: line 3: turn"), "{}", ran.err);
    assert!(ran.err.contains("bad.csv: line 4: arrival_s"), "{}", ran.err);
    sandbox.run(&["run", "small.toml", "--trace", "none.csv"]).code(2);
    sandbox.run(&["run", "small.toml", "--trace", "trace.csv", "--trace-sample", "0"]).code(2);
}

#[test]
fn absolute_times_without_starts_are_refused() {
    let sandbox = sandbox();
    sandbox.write("zero.csv", "conversation,turn,arrival_s\na,1,0\nb,1,0\nc,1,0\n");
    let arguments = ["run", "small.toml", "--trace", "zero.csv", "--trace-times", "absolute"];
    let ran = sandbox.run(&arguments).code(2);
    assert!(ran.err.contains("--trace-times relative"), "{}", ran.err);
}

#[test]
fn contradicting_conversations_are_left_out_with_a_warning_or_refused() {
    let sandbox = sandbox();
    sandbox.write("twice.csv", "conversation,turn,arrival_s\na,1,0\na,1,5\nb,1,7\n");
    let ran = sandbox.run(&["run", "small.toml", "--trace", "twice.csv", "--json"]).code(0);
    assert!(ran.err.contains("1 of 2 conversations are left out"), "{}", ran.err);
    let ran = sandbox.run(&["run", "small.toml", "--trace", "twice.csv", "--trace-strict"]).code(2);
    assert!(ran.err.contains("line 3"), "{}", ran.err);
    // Nothing would be left: no run is better than an empty one.
    sandbox.write("none.csv", "conversation,turn,arrival_s\na,1,0\na,1,5\n");
    let ran = sandbox.run(&["run", "small.toml", "--trace", "none.csv"]).code(2);
    assert!(ran.err.contains("every conversation of the trace contradicts itself"), "{}", ran.err);
}

#[test]
fn explain_and_events_know_the_trace() {
    let sandbox = sandbox();
    let trace = ["--trace", "trace.csv", "--trace-times", "absolute"];
    let told =
        sandbox.run(&[&["explain", "small.toml", "--conversation", "3"][..], &trace].concat());
    let told = told.code(0);
    assert!(told.out.contains("0:06:40.000  the conversation is opened"), "{}", told.out);
    let opened = ["events", "small.toml", "--kind", "conversation_opened"];
    let opened = sandbox.run(&[&opened[..], &trace].concat()).code(0);
    assert_eq!(opened.out.lines().count(), 3);
}
