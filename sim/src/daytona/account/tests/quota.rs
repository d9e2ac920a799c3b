//! The quota: what counts in which state, and the texts that tell refusals apart.

use super::{Desk, refused};
use crate::daytona::account::Call;
use serde_json::{Value, json};

fn image(cpu: u32, memory: u32, disk: u32) -> Value {
    json!({"cpu": cpu, "memory": memory, "disk": disk, "buildInfo": {"dockerfileContent": "F"}})
}

fn message(answer: (u16, Value)) -> String {
    assert_eq!(answer.0, 400, "{}", answer.1);
    answer.1.as_str().expect("a text").to_owned()
}

#[test]
fn ten_default_sandboxes_fit_and_each_dimension_has_its_text() {
    let mut desk = Desk::new();
    for _ in 0..10 {
        desk.started(json!({}));
    }
    let text = message(desk.call(Call::Create { body: json!({}) }));
    assert_eq!(
        text,
        "Total CPU limit exceeded. Maximum allowed: 10.\nTo increase concurrency limits, upgrade \
         your organization's Tier by visiting https://app.daytona.io/dashboard/limits."
    );
    for (body, begins) in [
        (image(5, 9, 11), "CPU request 5 exceeds maximum allowed per sandbox (4).\nNeed higher"),
        (image(1, 9, 11), "Memory request 9GB exceeds maximum allowed per sandbox (8GB)."),
        (image(1, 8, 11), "Disk request 11GB exceeds maximum allowed per sandbox (10GB)."),
    ] {
        let text = message(desk.call(Call::Create { body }));
        assert!(text.starts_with(begins), "{text}");
    }
    let mut desk = Desk::new();
    for _ in 0..2 {
        assert_eq!(desk.call(Call::Create { body: image(1, 8, 1) }).0, 200);
    }
    let text = message(desk.call(Call::Create { body: image(1, 5, 1) }));
    assert!(text.starts_with("Total memory limit exceeded. Maximum allowed: 20GiB.\nTo"), "{text}");
    for _ in 0..2 {
        assert_eq!(desk.call(Call::Create { body: image(1, 1, 10) }).0, 200);
    }
    let text = message(desk.call(Call::Create { body: image(1, 1, 10) }));
    let archive = "Total disk limit exceeded. Maximum allowed: 30GiB.\nConsider archiving your ";
    assert!(text.starts_with(archive), "{text}");
}

#[test]
fn a_stopped_sandbox_holds_its_disk_and_a_start_asks_again() {
    let mut desk = Desk::new();
    let id = desk.started(json!({}));
    desk.stop(&id);
    desk.pass(0.3);
    let counted = desk.account.cloud().counted();
    assert_eq!((counted.cpu_milli, counted.memory_mb, counted.disk_mb), (0, 0, 3 * 1024));
    for _ in 0..8 {
        desk.started(json!({}));
    }
    assert_eq!(desk.call(Call::Create { body: image(2, 1, 1) }).0, 200);
    let (status, text) = desk.start(&id);
    assert_eq!(status, 400);
    assert!(text.as_str().is_some_and(|text| text.starts_with("Total CPU limit")), "{text}");
    let (_, still) = desk.get(&id);
    assert_eq!((&still["state"], &still["desiredState"]), (&json!("stopped"), &json!("stopped")));
}

#[test]
fn what_is_being_made_counts_what_failed_or_goes_does_not() {
    let mut desk = Desk::new();
    let counted = |desk: &Desk| desk.account.cloud().counted().cpu_milli;
    desk.call(Call::Create { body: image(4, 1, 1) });
    assert_eq!(counted(&desk), 4000, "it waits for its build");
    desk.control(json!({"do": "fail_next", "verb": "create", "message": "no"}));
    desk.pass(2.0);
    assert_eq!(counted(&desk), 0, "it failed");
    let id = desk.started(json!({}));
    assert_eq!(counted(&desk), 1000);
    desk.delete(&id);
    assert_eq!(counted(&desk), 0, "it is on its way out");
}

#[test]
fn others_use_of_the_quota_is_nobodys_business_and_still_refuses() {
    let mut desk = Desk::new();
    desk.control(json!({"do": "other_tenants", "sandboxes": 9}));
    desk.started(json!({}));
    assert!(message(desk.call(Call::Create { body: json!({}) })).starts_with("Total CPU limit"));
    desk.control(json!({"do": "other_tenants", "sandboxes": 0}));
    desk.started(json!({}));
}

#[test]
fn gpus_are_for_the_ephemeral_and_there_are_none() {
    let mut desk = Desk::new();
    let mut body = json!({"gpu": 1, "buildInfo": {"dockerfileContent": "F"}});
    assert_eq!(
        desk.call(Call::Create { body: body.clone() }),
        refused(400, "GPU sandboxes must be ephemeral - set autoDeleteInterval to 0")
    );
    body["autoDeleteInterval"] = json!(0);
    let text = message(desk.call(Call::Create { body }));
    assert!(text.starts_with("Total GPU limit exceeded. Maximum allowed: 0."), "{text}");
}
