//! The order in which creates are refused: of two faults the earlier one is told.

use super::Desk;
use crate::daytona::account::Call;
use serde_json::{Value, json};

#[test]
fn of_two_faults_the_earlier_one_is_told() {
    let mut desk = Desk::new();
    desk.started(json!({"name": "taken"}));
    let image = json!({"dockerfileContent": "F"});
    // Each fault by itself, in the order in which the server looks for them.
    let faults: [(Value, u16, &str); 8] = [
        (json!({"public": "x"}), 400, "public must be a boolean value"),
        (
            json!({"snapshot": "ubuntu:22.04", "cpu": 2}),
            400,
            "Cannot specify Sandbox resources when using a snapshot",
        ),
        (json!({"target": "mars"}), 404, "Region not found"),
        (
            json!({"snapshot": "nope:1"}),
            400,
            "Snapshot nope:1 not found. Did you add it through the Daytona Dashboard?",
        ),
        (json!({"volumes": [{"volumeId": "v"}]}), 404, "Volume 'v' not found"),
        (json!({"autoStopInterval": -5}), 400, "Auto-stop interval must be non-negative"),
        (json!({"name": "taken"}), 409, "Sandbox with name taken already exists"),
        (json!({"autoStopInterval": 1.5}), 500, "An unexpected error occurred."),
    ];
    for (earlier, (first, status, message)) in faults.iter().enumerate() {
        let expected = (*status, json!(message));
        assert_eq!(desk.call(Call::Create { body: first.clone() }), expected);
        for (second, ..) in &faults[earlier + 1..] {
            let mut body = second.clone();
            for (key, value) in first.as_object().expect("an object") {
                body[key] = value.clone();
            }
            assert_eq!(desk.call(Call::Create { body: body.clone() }), expected, "{body}");
        }
    }
    assert_eq!(
        desk.call(Call::Create { body: json!({"snapshot": "ubuntu:22.04", "buildInfo": image}) }),
        (400, json!("Cannot specify a snapshot when using a build info entry"))
    );
}

#[test]
fn a_suspended_organization_creates_nothing_and_stops_what_it_has() {
    let mut desk = Desk::new();
    let id = desk.started(json!({}));
    desk.control(json!({"do": "suspend", "reason": "unpaid"}));
    assert_eq!(
        desk.call(Call::Create { body: json!({}) }),
        (403, json!("Organization is suspended: unpaid"))
    );
    assert_eq!(desk.stop(&id).0, 200);
    desk.control(json!({"do": "unsuspend"}));
    desk.started(json!({}));
}

#[test]
fn a_refused_create_leaves_nothing_behind() {
    let mut desk = Desk::new();
    for body in [
        json!({"name": "x", "cpu": -1}),
        json!({"name": "x", "autoArchiveInterval": -1}),
        json!({"name": "x", "networkAllowList": "nonsense"}),
    ] {
        assert_eq!(desk.call(Call::Create { body: body.clone() }).0, 400, "{body}");
    }
    assert_eq!(desk.listed(&[]), Vec::<String>::new());
    assert_eq!(desk.account.cloud().living(), 0);
    desk.started(json!({"name": "x"}));
}
