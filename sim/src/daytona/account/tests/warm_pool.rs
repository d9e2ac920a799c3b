//! Warm sandboxes: taken by plain creates, kept away from everybody by odd ones.

use super::Desk;
use crate::daytona::account::Call;
use serde_json::{Value, json};

fn first_state(desk: &mut Desk, body: Value) -> String {
    let (status, sandbox) = desk.call(Call::Create { body });
    assert_eq!(status, 200, "{sandbox}");
    sandbox["state"].as_str().expect("a state").to_owned()
}

#[test]
fn a_plain_create_takes_a_warm_sandbox_which_counts_only_then() {
    let mut desk = Desk::new();
    desk.control(json!({"do": "warm_pool", "size": 2}));
    assert_eq!(desk.account.cloud().counted().cpu_milli, 0);
    assert_eq!(desk.listed(&[]), Vec::<String>::new(), "it is nobody's");
    let body = json!({"name": "w", "labels": {"a": "b"}, "autoStopInterval": 3, "env": {}});
    let (_, sandbox) = desk.call(Call::Create { body });
    assert_eq!((&sandbox["state"], &sandbox["name"]), (&json!("started"), &json!("w")));
    assert_eq!(sandbox["autoStopInterval"], 3);
    assert_eq!(desk.account.cloud().counted().cpu_milli, 1000);
    desk.pass(200.0);
    assert_eq!(desk.state("w"), "stopped", "its own auto-stop is in force");
}

#[test]
fn a_create_with_an_environment_misses_and_makes_others_miss_for_a_minute() {
    let mut desk = Desk::new();
    desk.control(json!({"do": "warm_pool", "size": 2}));
    assert_eq!(first_state(&mut desk, json!({"env": {"A": "1"}})), "creating");
    assert_eq!(first_state(&mut desk, json!({})), "creating");
    desk.pass(61.0);
    assert_eq!(first_state(&mut desk, json!({})), "started");
    desk.control(json!({"do": "warm_pool", "size": 0}));
    assert_eq!(first_state(&mut desk, json!({})), "creating");
}
