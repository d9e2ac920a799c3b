//! Rate limits, with their odd headers.

use super::Desk;
use crate::daytona::account::{Account, Call, Caller, Outcome, Reply};
use serde_json::json;

fn desk() -> Desk {
    let mut desk = Desk::new();
    desk.control(json!({"do": "set_limits", "create": 3, "lifecycle": 4, "authenticated": 5,
        "failed_auth": 4}));
    desk
}

fn status(reply: &Reply) -> u16 {
    match &reply.outcome {
        Outcome::Answer { status, .. } | Outcome::Error { status, .. } => *status,
        Outcome::Wait(_) => 200,
        other => panic!("{other:?}"),
    }
}

fn header<'a>(reply: &'a Reply, name: &str) -> Option<&'a str> {
    reply.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
}

#[test]
fn refused_creates_count_and_an_excess_blocks_for_a_window() {
    let mut desk = desk();
    let bad = || Call::Create { body: json!({"cpu": -1}) };
    let first = desk.reply(bad());
    assert_eq!(header(&first, "X-RateLimit-Limit-sandbox-create"), Some("3"));
    assert_eq!(header(&first, "X-RateLimit-Remaining-sandbox-create"), Some("2"));
    assert_eq!(header(&first, "X-RateLimit-Reset-sandbox-create"), Some("60"));
    assert_eq!([status(&desk.reply(bad())), status(&desk.reply(bad()))], [400, 400]);
    let over = desk.reply(bad());
    assert_eq!(status(&over), 429);
    assert_eq!(over.headers, [("Retry-After-sandbox-create".to_owned(), "60".to_owned())]);
    desk.pass(59.0);
    assert_eq!(status(&desk.reply(bad())), 429);
    // Other kinds are counted apart.
    assert_eq!(status(&desk.reply(Call::Delete { key: "x".into() })), 404);
    desk.pass(1.0);
    assert_eq!(status(&desk.reply(bad())), 400);
}

#[test]
fn lifecycle_calls_about_nothing_count_too_and_reads_do_not_mind() {
    let mut desk = desk();
    for _ in 0..4 {
        assert_eq!(desk.stop("nope").0, 404);
    }
    assert_eq!(desk.stop("nope").0, 429);
    assert_eq!(desk.delete("nope").0, 429);
    assert_eq!(desk.list(&[]).0, 200);
}

fn with_key(account: &mut Account, at: sandpool_core::Time, key: &str, call: Call) -> Reply {
    let authorization = format!("Bearer {key}");
    let caller =
        Caller { address: "10.9.9.9", authorization: Some(&authorization), organization: None };
    account.handle(at, &caller, call)
}

#[test]
fn wrong_keys_block_their_address_for_good_keys_and_open_routes_too() {
    let mut desk = desk();
    let list = || Call::List { query: Vec::new() };
    let now = desk.now;
    for _ in 0..3 {
        assert_eq!(status(&with_key(&mut desk.account, now, "dtn_wrong", list())), 401);
    }
    let fourth = with_key(&mut desk.account, now, "dtn_wrong", list());
    assert_eq!((status(&fourth), header(&fourth, "Retry-After")), (429, Some("60")));
    let good = desk.account.settings().api_key.clone();
    assert_eq!(status(&with_key(&mut desk.account, now, &good, list())), 429);
    assert_eq!(status(&with_key(&mut desk.account, now, "", Call::Config)), 429);
    assert_eq!(desk.list(&[]).0, 200, "another address is not blocked");
    desk.control(json!({"do": "reset_limits"}));
    assert_eq!(status(&with_key(&mut desk.account, now, &good, list())), 200);
}
