//! The same seed gives the same bytes, whatever the number of threads.

use crate::support::{SMALL, Sandbox};
use std::collections::BTreeMap;
use std::path::Path;

fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|e| (e.file_name().to_string_lossy().into_owned(), std::fs::read(e.path()).unwrap()))
        .collect()
}

/// Everything that a comparison prints and writes.
fn compared(sandbox: &Sandbox, threads: &str, seed: &str) -> (String, BTreeMap<String, Vec<u8>>) {
    let arguments = ["compare", "s.toml", "--threads", threads, "--seed", seed];
    let ran = sandbox.run(&arguments).code(0);
    (ran.out, contents(&sandbox.path().join("out/s")))
}

#[test]
fn every_output_file_is_the_same_on_one_and_two_threads() {
    let sandbox = Sandbox::new();
    // With crashes and faults, a warm-up that is read off, and a wanted precision.
    let text = SMALL
        .replace("warm_up = \"5m\"", "warm_up = \"mser5\"\nprecision = 0.4\nmax_replications = 20");
    let text = format!(
        "{text}\n[server_crashes]\nper_hour = 1\n[provider]\ndeaths_per_hour = 1\n\
         [provider.faults]\ncreate = {{ unavailable = 0.05, lost_answer = 0.05 }}\n"
    );
    sandbox.write("s.toml", &text);
    let first = compared(&sandbox, "1", "5");
    assert!(first.1.len() >= 13, "{:?}", first.1.keys());
    for threads in ["2", "1", "2"] {
        let again = compared(&sandbox, threads, "5");
        assert_eq!(again.0, first.0, "{threads} threads");
        for (name, bytes) in &first.1 {
            assert_eq!(again.1.get(name), Some(bytes), "{name} on {threads} threads");
        }
    }
    let other = compared(&sandbox, "2", "6");
    assert_ne!(other.1["results.json"], first.1["results.json"], "another seed, other results");
}

#[test]
fn the_journal_is_the_same_every_time() {
    let sandbox = Sandbox::new();
    let journal = || sandbox.run(&["events", "small.toml", "--replication", "2"]).code(0).out;
    let first = journal();
    assert!(first.lines().count() > 500);
    assert_eq!(first, journal());
}
