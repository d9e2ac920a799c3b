//! What the provider does by itself: auto-stop, auto-archive, auto-delete, time to live.

use super::{Desk, refused};
use crate::daytona::account::{AccountSettings, Call, Interval};
use crate::daytona::cloud::WorkLatencies;
use sandpool_core::Span;
use serde_json::json;

/// An account whose loop runs every ten seconds, as Daytona's does.
fn desk() -> Desk {
    let work = WorkLatencies { tick: Span::from_secs(10), ..WorkLatencies::quick() };
    Desk::with(AccountSettings { work, ..AccountSettings::default() })
}

fn set(desk: &mut Desk, id: &str, interval: Interval, minutes: &str) -> (u16, serde_json::Value) {
    desk.call(Call::SetInterval { key: id.to_owned(), interval, text: minutes.to_owned() })
}

#[test]
fn idle_sandboxes_are_stopped_at_the_next_round_and_looking_is_no_use_of_them() {
    let mut desk = desk();
    let id = desk.started(json!({"autoStopInterval": 1}));
    for _ in 0..12 {
        desk.pass(5.0);
        assert_eq!(desk.state(&id), "started", "at {:?}", desk.now);
    }
    desk.pass(10.5);
    assert_eq!(desk.state(&id), "stopped");
}

#[test]
fn a_keep_alive_puts_the_stop_off_by_id_and_a_running_command_does_all_along() {
    let mut desk = desk();
    let id = desk.started(json!({"name": "k", "autoStopInterval": 1}));
    let other = desk.started(json!({"name": "busy", "autoStopInterval": 1}));
    let provider = desk.account.toolbox_access(desk.now, "busy").expect("it is there").provider;
    desk.account.command_begun(desk.now, provider);
    desk.pass(40.0);
    assert_eq!(desk.call(Call::LastActivity { key: id.clone() }).0, 201);
    desk.pass(45.0);
    assert_eq!(desk.state(&id), "started");
    desk.call(Call::LastActivity { key: "k".to_owned() });
    desk.pass(30.0);
    assert_eq!(desk.state(&id), "stopped", "by name the call does nothing");
    assert_eq!(desk.state(&other), "started");
    desk.account.command_ended(desk.now, provider);
    desk.pass(71.0);
    assert_eq!(desk.state(&other), "stopped");
}

#[test]
fn stopped_sandboxes_are_archived_and_deleted_in_their_time() {
    let mut desk = desk();
    let archived = desk.started(json!({"autoArchiveInterval": 2}));
    let deleted = desk.started(json!({"autoDeleteInterval": 1}));
    for id in [&archived, &deleted] {
        desk.stop(id);
    }
    desk.pass(50.0);
    assert_eq!(desk.state(&deleted), "stopped");
    desk.pass(25.0);
    assert_eq!((desk.state(&deleted), desk.state(&archived)), ("gone".into(), "stopped".into()));
    desk.pass(60.0);
    assert_eq!(desk.state(&archived), "archived");
}

#[test]
fn an_ephemeral_sandbox_is_deleted_by_any_stop_and_its_name_is_free_then() {
    let mut desk = desk();
    let id = desk.started(json!({"name": "e", "autoDeleteInterval": 0}));
    let (_, stopped) = desk.stop(&id);
    assert_eq!(
        (&stopped["state"], &stopped["desiredState"]),
        (&json!("destroying"), &json!("destroyed"))
    );
    assert_eq!(desk.get("e").0, 404);
    let id = desk.started(json!({"name": "e", "autoDeleteInterval": 0, "autoStopInterval": 1}));
    desk.pass(72.0);
    assert_eq!(desk.state(&id), "gone");
    desk.started(json!({"name": "e"}));
}

#[test]
fn a_time_to_live_ends_a_sandbox_in_any_state() {
    let mut desk = desk();
    let started = desk.started(json!({"ttlMinutes": 1, "autoStopInterval": 0}));
    let stopped = desk.started(json!({"autoStopInterval": 0}));
    desk.stop(&stopped);
    desk.pass(1.0);
    assert_eq!(set(&mut desk, &stopped, Interval::Ttl, "1").0, 201);
    assert!(desk.get(&stopped).1["autoDestroyAt"].is_string());
    desk.pass(75.0);
    assert_eq!((desk.state(&started), desk.state(&stopped)), ("gone".into(), "gone".into()));
}

#[test]
fn the_setters_cut_refuse_and_break_as_the_real_ones() {
    let mut desk = desk();
    let id = desk.started(json!({}));
    let (_, sandbox) = desk.get(&id);
    assert_eq!(
        ["autoStopInterval", "autoArchiveInterval", "autoDeleteInterval"]
            .map(|field| sandbox[field].as_i64()),
        [Some(15), Some(10_080), Some(-1)]
    );
    for (interval, minutes, field, shown) in [
        (Interval::AutoStop, "0", "autoStopInterval", 0),
        (Interval::AutoArchive, "0", "autoArchiveInterval", 43_200),
        (Interval::AutoArchive, "999999", "autoArchiveInterval", 43_200),
        (Interval::AutoDelete, "-7", "autoDeleteInterval", -7),
    ] {
        let (status, sandbox) = set(&mut desk, &id, interval, minutes);
        assert_eq!((status, &sandbox[field]), (201, &json!(shown)), "{field}");
    }
    assert_eq!(
        set(&mut desk, &id, Interval::AutoStop, "-1"),
        refused(400, "Auto-stop interval must be non-negative")
    );
    for nonsense in ["1.5", "abc"] {
        assert_eq!(
            set(&mut desk, &id, Interval::AutoStop, nonsense),
            refused(500, "An unexpected error occurred.")
        );
    }
    assert_eq!(desk.get(&id).1["autoStopInterval"], 0);
}
