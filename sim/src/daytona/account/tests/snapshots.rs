//! Snapshots: their own life, and what sandboxes get from them.

use super::{Desk, refused};
use crate::daytona::account::Call;
use serde_json::json;

#[test]
fn a_snapshot_is_pending_then_active_and_gives_its_size() {
    let mut desk = Desk::new();
    let body = json!({"name": "s:1", "imageName": "x:1", "cpu": 2, "memory": 3, "disk": 4});
    let (status, snapshot) = desk.call(Call::CreateSnapshot { body: body.clone() });
    assert_eq!((status, &snapshot["state"]), (200, &json!("pending")));
    assert_eq!(
        desk.call(Call::CreateSnapshot { body }),
        refused(409, "Snapshot with name \"s:1\" already exists for this organization")
    );
    let create = || Call::Create { body: json!({"snapshot": "s:1"}) };
    assert_eq!(desk.call(create()), refused(400, "Snapshot s:1 is pending"));
    desk.pass(1.0);
    let (_, sandbox) = desk.call(create());
    assert_eq!(
        [&sandbox["cpu"], &sandbox["memory"], &sandbox["disk"]],
        [&json!(2), &json!(3), &json!(4)]
    );
    let by_name = desk.call(Call::DeleteSnapshot { key: "s:1".to_owned() });
    assert_eq!(by_name, refused(400, "Validation failed (uuid is expected)"));
    let id = snapshot["id"].as_str().expect("an id").to_owned();
    assert_eq!(desk.call(Call::DeleteSnapshot { key: id }).0, 200);
    assert_eq!(desk.call(create()), refused(400, "Snapshot s:1 is removing"));
    // What was made from it lives on.
    let id = sandbox["id"].as_str().expect("an id").to_owned();
    desk.stop(&id);
    desk.pass(0.3);
    assert_eq!(desk.start(&id).1["state"], "started");
}

#[test]
fn malformed_snapshots_are_refused() {
    let mut desk = Desk::new();
    for (body, message) in [
        (
            json!({"name": "a b", "imageName": "x:1"}),
            "Invalid snapshot name format. May contain letters, digits, dots, colons, and dashes",
        ),
        (json!({"name": "a"}), "Must specify an image name when not using a build info entry"),
        (
            json!({"name": "a", "imageName": "x:latest"}),
            "Images with tag \":latest\" are not allowed",
        ),
        (
            json!({"name": "a", "imageName": "x"}),
            "Image name must include a tag (e.g., ubuntu:22.04) or digest (@sha256:...)",
        ),
    ] {
        assert_eq!(desk.call(Call::CreateSnapshot { body }), refused(400, message));
    }
    let (_, page) = desk.call(Call::Snapshots { query: Vec::new() });
    assert_eq!((&page["total"], &page["page"]), (&json!(4), &json!(1)));
}
