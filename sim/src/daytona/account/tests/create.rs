//! What a create answers.

use super::{Desk, refused};
use crate::daytona::account::{Call, Outcome};
use serde_json::json;

#[test]
fn the_answer_shows_the_sandbox_as_it_was_at_first_though_it_has_started() {
    let mut desk = Desk::new();
    let before = desk.now;
    let (status, sandbox) = desk.call(Call::Create { body: json!({"name": "a"}) });
    assert_eq!((status, &sandbox["state"]), (200, &json!("creating")));
    assert_eq!(sandbox["desiredState"], "started");
    assert!(desk.now > before, "it waited for the start");
    let (_, now) = desk.get("a");
    assert_eq!((&now["state"], &now["id"]), (&json!("started"), &sandbox["id"]));
}

#[test]
fn every_required_field_is_there_and_numbers_are_whole() {
    let mut desk = Desk::new();
    let (_, sandbox) = desk.call(Call::Create { body: json!(null) });
    for field in [
        "id",
        "organizationId",
        "name",
        "user",
        "env",
        "labels",
        "public",
        "networkBlockAll",
        "kvm",
        "target",
        "cpu",
        "gpu",
        "memory",
        "disk",
        "toolboxProxyUrl",
    ] {
        assert!(sandbox.get(field).is_some(), "{field}");
    }
    for field in ["cpu", "gpu", "memory", "disk"] {
        assert!(sandbox[field].is_i64(), "{field}: {}", sandbox[field]);
    }
    assert_eq!(sandbox["name"], sandbox["id"], "without a name the id is the name");
    assert_eq!(sandbox["snapshot"], "ubuntu:22.04");
}

#[test]
fn an_image_is_answered_at_once_built_and_known_the_next_time() {
    let mut desk = Desk::new();
    let body =
        |name| json!({"name": name, "buildInfo": {"dockerfileContent": "FROM x:1\n"}, "cpu": 2});
    let reply = desk.reply(Call::Create { body: body("a") });
    let Outcome::Answer { status: 200, body: Some(sandbox) } = reply.outcome else {
        panic!("it waited: {:?}", reply.outcome)
    };
    assert_eq!((&sandbox["state"], &sandbox["cpu"]), (&json!("pending_build"), &json!(2)));
    let mut states = vec![desk.state("a")];
    while desk.state("a") != "started" {
        desk.pass(0.05);
        let state = desk.state("a");
        if states.last() != Some(&state) {
            states.push(state);
        }
    }
    assert_eq!(states, ["pending_build", "building_snapshot", "creating", "started"]);
    let (_, again) = desk.call(Call::Create { body: body("b") });
    assert_eq!(again["state"], "creating", "the image is known");
}

#[test]
fn what_hangs_is_answered_after_thirty_seconds_and_cannot_be_deleted() {
    let mut desk = Desk::new();
    desk.control(json!({"do": "hang", "verb": "create"}));
    let (status, sandbox) = desk.call(Call::Create { body: json!({"name": "h"}) });
    assert_eq!((status, &sandbox["state"]), (200, &json!("creating")));
    assert_eq!(desk.now.as_secs_f64(), 30.0);
    let conflict = refused(409, super::IN_PROGRESS);
    assert_eq!(desk.delete("h"), conflict);
    assert_eq!(desk.stop("h"), conflict);
    assert_eq!(desk.start("h"), conflict);
    // Daytona gives an accepted create up after half an hour; only then can it be deleted.
    desk.pass(29.0 * 60.0);
    assert_eq!(desk.delete("h"), conflict);
    desk.pass(2.0 * 60.0);
    assert_eq!(desk.state("h"), "error");
    assert_eq!(desk.delete("h").0, 200);
}
