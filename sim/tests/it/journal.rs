//! The journal as text: it reads back, and it alone rebuilds the state.

use crate::support::{SMALL, Sandbox};
use sandpool_sim::{Line, What, load, replay};

fn lines(text: &str) -> Vec<Line> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_printed_journal_rebuilds_the_state() {
    let sandbox = Sandbox::new();
    let text = format!("{SMALL}\n[server_crashes]\nat = [\"20m\", \"40m\"]\n");
    let path = sandbox.write("crashes.toml", &text);
    let config = load(&path).unwrap().variants[1].server.clone();
    let journal =
        lines(&sandbox.run(&["events", "crashes.toml", "--variant", "three"]).code(0).out);
    let (mut steps, mut instances) = (0, 0);
    replay(&config, &journal, |step| {
        steps += 1;
        instances += usize::from(matches!(step.lines[0].what, What::Instance(_)));
    })
    .unwrap();
    assert_eq!(instances, 3);
    assert!(steps > 200, "{steps}");
    // Under other settings the same inputs come out differently, and that is noticed.
    let other = load(&path).unwrap().variants[0].server.clone();
    assert!(replay(&other, &journal, |_| {}).is_err());
}

#[test]
fn events_can_be_filtered() {
    let sandbox = Sandbox::new();
    let all = lines(&sandbox.run(&["events", "small.toml"]).code(0).out);
    let busy = lines(&sandbox.run(&["events", "small.toml", "--kind", "sandbox_busy"]).code(0).out);
    let expected = all
        .iter()
        .filter(|line| matches!(&line.what, What::Event(e) if e.kind.name() == "sandbox_busy"));
    assert!(!busy.is_empty());
    assert!(busy.iter().eq(expected));
    let inputs = lines(&sandbox.run(&["events", "small.toml", "--kind", "input"]).code(0).out);
    assert!(!inputs.is_empty() && inputs.iter().all(|l| matches!(l.what, What::Input(_))));
    let of_two = sandbox.run(&["events", "small.toml", "--conversation", "2"]).code(0).out;
    assert!(of_two.contains("\"conversation_opened\""), "{of_two}");
    assert!(of_two.lines().all(|line| line.contains("\"conversation\":2")), "{of_two}");
    sandbox.run(&["events", "small.toml", "--kind", "sandbox_bsuy"]).code(2);
}
