//! Archived sandboxes hold nothing, and come back slowly.

use super::{Desk, refused};
use crate::daytona::account::Call;
use serde_json::json;

fn archive(desk: &mut Desk, id: &str) -> (u16, serde_json::Value) {
    desk.call(Call::Archive { key: id.to_owned() })
}

#[test]
fn only_what_is_stopped_and_not_ephemeral_is_archived_and_a_start_brings_it_back() {
    let mut desk = Desk::new();
    let id = desk.started(json!({}));
    assert_eq!(archive(&mut desk, &id), refused(400, "Sandbox is not stopped"));
    desk.stop(&id);
    desk.pass(0.3);
    let (status, archiving) = archive(&mut desk, &id);
    assert_eq!((status, &archiving["state"]), (200, &json!("archiving")));
    assert_eq!(archiving["desiredState"], "archived");
    desk.pass(0.3);
    assert_eq!(desk.state(&id), "archived");
    assert_eq!(desk.account.cloud().counted().disk_mb, 0, "an archive holds no disk");
    let before = desk.now;
    let (status, answer) = desk.start(&id);
    assert_eq!((status, &answer["state"]), (200, &json!("archived")), "it does not wait");
    assert_eq!((desk.now, &answer["desiredState"]), (before, &json!("started")));
    desk.pass(0.3);
    assert_eq!(desk.state(&id), "restoring");
    desk.pass(0.3);
    assert_eq!(desk.state(&id), "started");
}

#[test]
fn an_archive_under_way_can_be_given_up() {
    let mut desk = Desk::new();
    let id = desk.started(json!({}));
    desk.stop(&id);
    desk.pass(0.3);
    desk.control(json!({"do": "delay", "verb": "archive", "ms": 60000}));
    archive(&mut desk, &id);
    assert_eq!(desk.stop(&id), refused(400, "Sandbox is not in a stoppable state"));
    assert_eq!(desk.start(&id).1["state"], "started");
    let other = desk.started(json!({}));
    desk.stop(&other);
    desk.pass(0.3);
    archive(&mut desk, &other);
    assert_eq!(desk.delete(&other).0, 200);
    desk.pass(1.0);
    assert_eq!(desk.state(&other), "gone");
}
