//! Work that fails, hangs or waits for a machine that is down.

use super::{Desk, IN_PROGRESS, refused};
use crate::daytona::account::{Call, Outcome};
use serde_json::json;

#[test]
fn a_failed_create_leaves_an_errored_sandbox_that_holds_its_name_and_no_quota() {
    let mut desk = Desk::new();
    desk.control(json!({"do": "fail_next", "verb": "create", "message": "no\nway"}));
    let body = json!({"name": "f", "labels": {"l": "1"}});
    let failed = desk.call(Call::Create { body: body.clone() });
    assert_eq!(failed, refused(400, "Sandbox failed to start: no\nway"));
    let (_, sandbox) = desk.get("f");
    assert_eq!(
        [&sandbox["state"], &sandbox["desiredState"], &sandbox["errorReason"]],
        ["error", "started", "no\nway"]
    );
    assert_eq!(desk.account.cloud().counted().cpu_milli, 0);
    assert_eq!(desk.call(Call::Create { body }).0, 409);
    assert_eq!(desk.start("f"), refused(400, "Sandbox is in an errored state"));
    assert_eq!(desk.listed(&[("states", "error")]), ["f"]);

    let (status, deleted) = desk.delete("f");
    assert_eq!((status, &deleted["state"]), (200, &json!("error")), "it still shows its error");
    assert_eq!(deleted["desiredState"], "destroyed");
    assert_eq!(desk.get(deleted["id"].as_str().expect("an id")).0, 404);
    assert_eq!(desk.listed(&[]), Vec::<String>::new());
    assert_eq!(desk.listed(&[("includeErroredDeleted", "true")]).len(), 1);
    desk.started(json!({"name": "f"}));
    // The row stays for a week.
    desk.pass(8.0 * 24.0 * 3600.0);
    assert_eq!(desk.listed(&[("states", "error"), ("includeErroredDeleted", "true")]).len(), 0);
}

#[test]
fn every_kind_of_work_can_fail_and_says_why() {
    let mut desk = Desk::new();
    let id = desk.started(json!({}));
    desk.control(json!({"do": "fail_next", "verb": "stop", "message": "stop broke"}));
    assert_eq!(desk.stop(&id).1["state"], "stopping");
    desk.pass(0.3);
    let (_, sandbox) = desk.get(&id);
    assert_eq!([&sandbox["state"], &sandbox["desiredState"]], ["error", "stopped"]);

    let id = desk.started(json!({}));
    desk.stop(&id);
    desk.pass(0.3);
    desk.control(json!({"do": "fail_next", "verb": "start", "message": "start broke"}));
    assert_eq!(desk.start(&id), refused(400, "Sandbox failed to start: start broke"));

    desk.control(json!({"do": "fail_next", "verb": "build", "message": "build broke"}));
    let image = json!({"name": "b", "buildInfo": {"dockerfileContent": "FROM y:1"}});
    desk.call(Call::Create { body: image });
    desk.pass(2.0);
    let (_, sandbox) = desk.get("b");
    assert_eq!([&sandbox["state"], &sandbox["errorReason"]], ["build_failed", "build broke"]);

    let id = desk.started(json!({}));
    desk.control(json!({"do": "fail_next", "verb": "delete", "message": "delete broke"}));
    assert_eq!(desk.delete(&id).1["state"], "destroying");
    desk.pass(0.3);
    assert_eq!(desk.state(&id), "gone", "what failed to go is hidden");
    assert_eq!(desk.listed(&[("includeErroredDeleted", "true"), ("id", &id)]).len(), 1);
}

#[test]
fn what_says_that_it_is_recoverable_can_be_recovered() {
    let mut desk = Desk::new();
    let reason = r#"{"recoverable":true,"errorReason":"no space left on device"}"#;
    let id = desk.started(json!({}));
    desk.control(json!({"do": "fail_next", "verb": "stop", "message": reason}));
    desk.stop(&id);
    desk.pass(0.3);
    let (_, sandbox) = desk.get(&id);
    assert_eq!(
        (&sandbox["recoverable"], &sandbox["errorReason"]),
        (&json!(true), &json!("no space left on device"))
    );
    let (status, sandbox) = desk.call(Call::Recover { key: id.clone(), skip_start: false });
    assert_eq!((status, &sandbox["state"]), (200, &json!("started")));
    assert_eq!(sandbox["recoverable"], json!(false));
}

#[test]
fn with_the_machine_known_to_be_down_nothing_is_taken_up_and_the_stored_state_stays() {
    let mut desk = Desk::new();
    let stopping = desk.started(json!({"name": "stopping"}));
    let going = desk.started(json!({"name": "going"}));
    let stopped = desk.started(json!({"name": "stopped"}));
    desk.stop(&stopped);
    desk.pass(0.3);
    desk.control(json!({"do": "runner_down", "known": true}));
    assert_eq!(
        desk.call(Call::Create { body: json!({"name": "n"}) }),
        refused(400, "No available runners")
    );
    assert_eq!(desk.get("n").0, 404);
    assert_eq!(desk.stop(&stopping).1["state"], "stopping");
    assert_eq!(desk.delete(&stopping), refused(409, IN_PROGRESS));
    assert_eq!(desk.delete(&going).1["state"], "destroying");
    let before = desk.now;
    assert_eq!(desk.start(&stopped).1["state"], "starting");
    assert_eq!(desk.now.since(before).as_secs_f64(), 30.0);
    let image = json!({"name": "image", "buildInfo": {"dockerfileContent": "FROM z:1"}});
    assert_eq!(desk.call(Call::Create { body: image }).1["state"], "pending_build");
    desk.pass(60.0);
    let states =
        |desk: &mut Desk| [&stopping, &going, &stopped, "image"].map(|key| desk.state(key));
    assert_eq!(states(&mut desk), ["stopping", "destroying", "starting", "pending_build"]);
    // Lists look at the stored state.
    assert_eq!(desk.listed(&[("states", "stopping")]), Vec::<String>::new());
    assert_eq!(desk.listed(&[("states", "started")]).len(), 2);
    assert_eq!(desk.listed(&[("states", "stopped")]), ["stopped"]);
    assert_eq!(desk.account.cloud().counted().cpu_milli, 4000, "all of them still count");
    desk.control(json!({"do": "runner_up"}));
    desk.pass(2.0);
    assert_eq!(states(&mut desk), ["stopped", "gone", "started", "started"]);
}

#[test]
fn with_the_machine_silent_work_is_accepted_and_done_when_it_is_back() {
    let mut desk = Desk::new();
    let id = desk.started(json!({}));
    desk.control(json!({"do": "runner_down", "known": false}));
    let (status, sandbox) = desk.call(Call::Create { body: json!({"name": "late"}) });
    assert_eq!(
        (status, &sandbox["state"], desk.now.as_secs_f64()),
        (200, &json!("creating"), 30.2)
    );
    desk.delete(&id);
    desk.pass(3600.0);
    assert_eq!((desk.state("late"), desk.state(&id)), ("creating".into(), "destroying".into()));
    desk.control(json!({"do": "runner_up"}));
    desk.pass(1.0);
    assert_eq!((desk.state("late"), desk.state(&id)), ("started".into(), "gone".into()));
}

#[test]
fn a_sandbox_that_waits_for_its_build_can_be_deleted_though_the_machine_is_down() {
    let mut desk = Desk::new();
    desk.control(json!({"do": "runner_down", "known": true}));
    let image = json!({"name": "i", "buildInfo": {"dockerfileContent": "FROM q:1"}});
    let (_, sandbox) = desk.call(Call::Create { body: image });
    let id = sandbox["id"].as_str().expect("an id").to_owned();
    let (status, deleted) = desk.delete(&id);
    assert_eq!((status, &deleted["state"]), (200, &json!("pending_build")));
    assert_eq!(desk.get("i").0, 404);
    assert_eq!(desk.delete(&id), refused(409, IN_PROGRESS));
    desk.pass(1.0);
    assert_eq!(desk.state(&id), "gone");
}

#[test]
fn hanging_work_is_given_up_in_the_end_or_when_it_is_released() {
    let mut desk = Desk::new();
    let id = desk.started(json!({}));
    desk.control(json!({"do": "hang", "verb": "stop"}));
    desk.stop(&id);
    desk.pass(9.0 * 60.0);
    assert_eq!(desk.delete(&id), refused(409, IN_PROGRESS));
    desk.pass(2.0 * 60.0);
    assert_eq!(desk.get(&id).1["errorReason"], "job timed out");
    let id = desk.started(json!({}));
    desk.stop(&id);
    desk.control(json!({"do": "release"}));
    assert_eq!(desk.state(&id), "error");
}

#[test]
fn a_silent_death_is_told_to_nobody() {
    let mut desk = Desk::new();
    let id = desk.started(json!({"name": "d"}));
    desk.control(json!({"do": "kill", "sandbox": id}));
    assert_eq!(desk.state(&id), "gone");
    assert_eq!(desk.account.cloud().tally().died, 1);
    desk.started(json!({"name": "d"}));
}

#[test]
fn an_outage_is_loud_or_silent_and_ends() {
    let mut desk = Desk::new();
    desk.control(json!({"do": "outage", "seconds": 10}));
    assert_eq!(desk.reply(Call::Config).outcome, Outcome::BadGateway);
    desk.pass(10.0);
    desk.control(json!({"do": "outage", "seconds": 10, "silent": true}));
    let create = Call::Create { body: json!({}) };
    assert_eq!(desk.reply(create).outcome, Outcome::Silence);
    assert_eq!(desk.account.cloud().living(), 0, "nothing was done");
    desk.pass(10.0);
    desk.started(json!({}));
}
