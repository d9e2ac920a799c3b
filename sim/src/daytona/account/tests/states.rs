//! Which call is allowed in which state, and what is shown meanwhile.

use super::{Desk, IN_PROGRESS, refused};
use crate::daytona::account::Call;
use serde_json::json;

#[test]
fn a_stop_is_not_idempotent_and_refuses_everything_else_meanwhile() {
    let mut desk = Desk::new();
    let id = desk.started(json!({}));
    let (status, stopping) = desk.stop(&id);
    assert_eq!((status, &stopping["state"]), (200, &json!("stopping")));
    assert_eq!(stopping["desiredState"], "stopped");
    let conflict = refused(409, IN_PROGRESS);
    assert_eq!(desk.stop(&id), conflict);
    assert_eq!(desk.start(&id), conflict);
    assert_eq!(desk.delete(&id), conflict);
    desk.pass(0.3);
    assert_eq!(desk.state(&id), "stopped");
    assert_eq!(desk.stop(&id), refused(400, "Sandbox is not in a stoppable state"));
}

#[test]
fn a_start_waits_keeps_everything_and_is_nothing_where_it_runs_already() {
    let mut desk = Desk::new();
    let id = desk.started(json!({"name": "s", "env": {"A": "b"}}));
    let before = desk.now;
    assert_eq!(desk.start(&id).1["state"], "started");
    assert_eq!(desk.now, before, "there was nothing to wait for");
    desk.stop(&id);
    desk.pass(1.0);
    let (status, started) = desk.start(&id);
    assert_eq!((status, &started["state"]), (200, &json!("started")));
    assert_eq!((&started["name"], &started["env"]), (&json!("s"), &json!({"A": "b"})));
}

#[test]
fn a_delete_is_shown_until_it_is_done_and_refused_the_second_time() {
    let mut desk = Desk::new();
    let id = desk.started(json!({}));
    let (status, deleted) = desk.delete(&id);
    assert_eq!((status, &deleted["state"]), (200, &json!("destroying")));
    assert_eq!(desk.state(&id), "destroying");
    assert_eq!(desk.delete(&id), refused(409, IN_PROGRESS));
    desk.pass(0.3);
    let gone = refused(404, &format!("Sandbox with ID or name {id} not found"));
    assert_eq!(desk.get(&id), gone);
    assert_eq!(desk.delete(&id), gone);
}

#[test]
fn a_running_sandbox_only_grows_and_a_disk_only_when_it_is_stopped() {
    let mut desk = Desk::new();
    let id = desk.started(json!({}));
    let resize = |desk: &mut Desk, body| desk.call(Call::Resize { key: id.clone(), body });
    let nothing = "No resource changes specified - sandbox is already at the desired configuration";
    assert_eq!(resize(&mut desk, json!({"cpu": 1})), refused(400, nothing));
    assert_eq!(
        resize(&mut desk, json!({"disk": 4})),
        refused(400, "Disk resize can only be performed on a stopped sandbox")
    );
    let (status, resizing) = resize(&mut desk, json!({"cpu": 2, "memory": 3}));
    assert_eq!((status, &resizing["state"]), (200, &json!("resizing")));
    desk.pass(0.3);
    let (_, grown) = desk.get(&id);
    assert_eq!((&grown["state"], &grown["cpu"]), (&json!("started"), &json!(2)));
    assert_eq!(
        resize(&mut desk, json!({"memory": 2})),
        refused(400, "Sandbox must be in stopped state to decrease memory")
    );
    desk.stop(&id);
    desk.pass(0.3);
    assert_eq!(
        resize(&mut desk, json!({"disk": 2})),
        refused(400, "Sandbox disk size cannot be decreased")
    );
    assert_eq!(resize(&mut desk, json!({"disk": 5, "memory": 1})).0, 200);
    desk.pass(0.3);
    let (_, grown) = desk.get(&id);
    assert_eq!((&grown["state"], &grown["disk"]), (&json!("stopped"), &json!(5)));
    assert_eq!(grown["memory"], 1);
}

#[test]
fn containers_cannot_be_paused_and_what_is_well_cannot_recover() {
    let mut desk = Desk::new();
    let id = desk.started(json!({}));
    let pause = desk.call(Call::Pause { key: id.clone() });
    assert_eq!(pause, refused(422, "Pausing is not supported for this sandbox"));
    let recover = desk.call(Call::Recover { key: id.clone(), skip_start: false });
    assert_eq!(recover, refused(400, "Sandbox is not in a recoverable state"));
    let unknown = desk.call(Call::Pause { key: "nope".to_owned() });
    assert_eq!(unknown.0, 404);
}
