//! Names: the only handle by which a create can be found again.

use super::{Desk, refused};
use crate::daytona::account::Call;
use serde_json::json;

#[test]
fn a_name_is_taken_in_every_state_and_free_the_moment_a_delete_is_accepted() {
    let mut desk = Desk::new();
    let id = desk.started(json!({"name": "n"}));
    let taken = refused(409, "Sandbox with name n already exists");
    assert_eq!(desk.call(Call::Create { body: json!({"name": "n"}) }), taken);
    desk.stop(&id);
    desk.pass(1.0);
    assert_eq!(desk.call(Call::Create { body: json!({"name": "n"}) }), taken);
    let (_, deleted) = desk.delete(&id);
    let renamed = deleted["name"].as_str().expect("a name").to_owned();
    let instant = renamed.strip_prefix("DESTROYED_n_").expect("renamed");
    assert!(instant.len() == 13 && instant.bytes().all(|b| b.is_ascii_digit()), "{renamed}");
    assert_eq!(desk.get("n").0, 404);
    assert_eq!(desk.get(&renamed).1["id"], json!(id), "it can be looked up by its new name");
    let second = desk.started(json!({"name": "n"}));
    assert_ne!(second, id);
}

#[test]
fn ids_come_before_names_and_names_are_kept_as_given() {
    let mut desk = Desk::new();
    let id = desk.started(json!({"name": "a/é b"}));
    let other = desk.started(json!({"name": id}));
    assert_eq!(desk.get(&id).1["name"], "a/é b");
    assert_eq!(desk.get("a/é b").1["id"], json!(id));
    assert_ne!(id, other);
    desk.started(json!({"name": "A/É B"}));
}

#[test]
fn labels_are_any_json_and_are_replaced_as_a_whole() {
    let mut desk = Desk::new();
    let labels = json!({"a": 1, "b": {"c": [true]}, "d": null});
    let id = desk.started(json!({"labels": labels}));
    assert_eq!(desk.get(&id).1["labels"], labels);
    let set = |labels| Call::SetLabels { key: id.clone(), body: json!({"labels": labels}) };
    assert_eq!(desk.call(set(json!({"n": "1"}))), (200, json!({"labels": {"n": "1"}})));
    assert_eq!(desk.get(&id).1["labels"], json!({"n": "1"}));
    desk.call(set(json!("x")));
    assert_eq!(desk.get(&id).1["labels"], "x", "they are not looked at");
}
