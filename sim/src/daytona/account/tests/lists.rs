//! Lists: cursors, filters, orders, and lists that lag behind.

use super::{Desk, refused};
use crate::daytona::account::{AccountSettings, Call};
use crate::daytona::profile::Profile;
use sandpool_core::Span;
use serde_json::json;

fn three() -> Desk {
    let mut desk = Desk::new();
    for (name, app) in [("a", "x"), ("b", "y"), ("c", "x")] {
        desk.started(json!({"name": name, "labels": {"app": app, "n": "1"}}));
    }
    desk
}

#[test]
fn a_walk_by_cursor_gives_everything_once_in_order_and_ends_with_null() {
    for sort in ["name", "createdAt", "cpu", "memoryGib", "diskGib", "lastActivityAt"] {
        for order in ["asc", "desc"] {
            let mut desk = three();
            let mut names = Vec::new();
            let mut cursor: Option<String> = None;
            loop {
                let mut query = vec![("limit", "1"), ("sort", sort), ("order", order)];
                if let Some(cursor) = &cursor {
                    query.push(("cursor", cursor.as_str()));
                }
                let (_, page) = desk.list(&query);
                names.push(page["items"][0]["name"].as_str().expect("a name").to_owned());
                match page["nextCursor"].as_str() {
                    Some(next) => cursor = Some(next.to_owned()),
                    None => break,
                }
            }
            if sort == "name" || sort == "createdAt" {
                let mut sorted = vec!["a", "b", "c"];
                if order == "desc" {
                    sorted.reverse();
                }
                assert_eq!(names, sorted, "{sort} {order}");
            } else {
                names.sort();
                assert_eq!(names, ["a", "b", "c"], "{sort} {order}");
            }
        }
    }
}

#[test]
fn the_last_active_sandbox_comes_first_by_default() {
    let mut desk = three();
    assert_eq!(desk.listed(&[]), ["c", "b", "a"]);
    desk.stop("a");
    desk.pass(0.3);
    assert_eq!(desk.listed(&[]), ["a", "c", "b"]);
}

#[test]
fn filters_are_exact_typed_and_joined() {
    let mut desk = three();
    for (query, names) in [
        (vec![("labels", r#"{"app":"x"}"#)], vec!["c", "a"]),
        (vec![("labels", r#"{"app":"X"}"#)], vec![]),
        (vec![("labels", r#"{"n":1}"#)], vec![]),
        (vec![("labels", "{}")], vec!["c", "b", "a"]),
        (vec![("labels", "null")], vec!["c", "b", "a"]),
        (vec![("labels", r#"{"app":"x","n":"1"}"#), ("name", "A")], vec!["a"]),
        (vec![("name", "%")], vec!["c", "b", "a"]),
        (vec![("states", "started"), ("states", "stopped")], vec!["c", "b", "a"]),
        (vec![("states[]", "stopped")], vec![]),
        (vec![("minCpu", "2")], vec![]),
        (vec![("maxDiskGiB", "3"), ("minMemoryGiB", "1")], vec!["c", "b", "a"]),
        (vec![("createdAtBefore", "2001-01-01T00:00:00Z")], vec![]),
        (vec![("snapshots", "ubuntu:22.04"), ("regionIds", "us")], vec!["c", "b", "a"]),
        (vec![("isPublic", "true")], vec![]),
    ] {
        assert_eq!(desk.listed(&query), names, "{query:?}");
    }
}

#[test]
fn nonsense_is_refused_in_the_validators_words() {
    let mut desk = three();
    for (query, status, message) in [
        (vec![("limit", "0")], 400, "limit must not be less than 1"),
        (vec![("limit", "201")], 400, "limit must not be greater than 200"),
        (vec![("limit", "1.5")], 400, "limit must be an integer number"),
        (
            vec![("limit", "abc")],
            400,
            "limit must be an integer number, limit must not be less than 1, limit must not be \
             greater than 200",
        ),
        (vec![("cursor", "xyz")], 400, "Invalid cursor provided: xyz"),
        (vec![("labels", "{bad")], 400, "Invalid labels JSON format"),
        (vec![("labels", "[\"a\"]")], 500, "An unexpected error occurred."),
        (vec![("labels", "{}"), ("labels", "{}")], 400, "labels must be a string"),
        (vec![("labels[a]", "x")], 400, "labels must be a string"),
        (
            vec![("sort", "foo")],
            400,
            "sort must be one of the following values: name, cpu, memoryGib, diskGib, \
             lastActivityAt, createdAt",
        ),
    ] {
        assert_eq!(desk.list(&query), refused(status, message), "{query:?}");
    }
    for state in ["foo", "destroyed", "started,stopped"] {
        assert_eq!(desk.list(&[("states", state)]).0, 400, "{state}");
    }
    assert_eq!(desk.listed(&[("cursor", "e30=")]), Vec::<String>::new());
}

#[test]
fn the_old_list_counts_pages() {
    let mut desk = three();
    let query = vec![("limit".to_owned(), "2".to_owned()), ("page".to_owned(), "2".to_owned())];
    let (_, page) = desk.call(Call::ListPaginated { query });
    assert_eq!(page["items"][0]["name"], "a");
    assert_eq!((&page["total"], &page["totalPages"]), (&json!(3), &json!(2)));
}

#[test]
fn lists_lag_while_a_look_at_one_sandbox_is_true() {
    let profile = Profile { list_lag: Span::from_secs(3), ..AccountSettings::default().profile };
    let seed = 5;
    let mut desk = Desk::with(AccountSettings { profile, seed, ..AccountSettings::default() });
    let id = desk.started(json!({"name": "late"}));
    desk.pass(10.0);
    desk.delete(&id);
    desk.pass(0.3);
    assert_eq!(desk.state(&id), "gone");
    let mut shown = Vec::new();
    for _ in 0..20 {
        let (_, page) = desk.list(&[]);
        shown.push(page["items"][0]["state"].as_str().map(str::to_owned));
        desk.pass(0.01);
    }
    let started = shown.iter().filter(|state| state.as_deref() == Some("started")).count();
    assert!(started > 0, "a list still shows it as started (seed {seed}): {shown:?}");
    desk.pass(3.5);
    assert_eq!(desk.listed(&[]), Vec::<String>::new());
}
