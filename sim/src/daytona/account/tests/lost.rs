//! Answers and requests that are lost, and what a client can do about it.

use super::Desk;
use crate::daytona::account::{Call, Outcome};
use serde_json::json;

#[test]
fn a_create_whose_answer_is_lost_is_found_by_its_name() {
    let mut desk = Desk::new();
    desk.control(json!({"do": "lose_answer", "call": "create"}));
    let create = || Call::Create { body: json!({"name": "limbo"}) };
    let reply = desk.reply(create());
    assert!(!reply.heard);
    desk.pass(1.0);
    assert_eq!(desk.state("limbo"), "started");
    assert_eq!(desk.call(create()).0, 409, "the name tells that it was carried out");
    let reply = desk.reply(Call::Get { key: "limbo".to_owned() });
    assert!(reply.heard, "only one answer was lost");
}

#[test]
fn a_lost_request_does_nothing_and_a_bad_gateway_neither() {
    let mut desk = Desk::new();
    let id = desk.started(json!({}));
    desk.control(json!({"do": "lose_request", "call": "delete"}));
    let reply = desk.reply(Call::Delete { key: id.clone() });
    assert_eq!(reply.outcome, Outcome::Silence);
    desk.control(json!({"do": "bad_gateway", "call": "stop"}));
    assert_eq!(desk.reply(Call::Stop { key: id.clone() }).outcome, Outcome::BadGateway);
    assert_eq!(desk.state(&id), "started");
    desk.control(json!({"do": "lose_answer", "call": "delete"}));
    assert!(!desk.reply(Call::Delete { key: id.clone() }).heard);
    desk.pass(1.0);
    assert_eq!(desk.state(&id), "gone");
}

#[test]
fn commands_that_mean_nothing_are_refused() {
    let mut desk = Desk::new();
    for command in [
        json!({"do": "dance"}),
        json!({}),
        json!({"do": "hang", "verb": "dance"}),
        json!({"do": "delay", "verb": "create"}),
        json!({"do": "lose_answer", "call": "dance"}),
    ] {
        assert!(desk.account.control(desk.now, &command).is_err(), "{command}");
    }
}
