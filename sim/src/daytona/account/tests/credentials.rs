//! Who may do what.

use super::Desk;
use crate::daytona::account::{Call, Caller, Outcome};
use serde_json::{Value, json};

fn ask(desk: &mut Desk, secret: &str, organization: Option<&str>, call: Call) -> (u16, Value) {
    let authorization = (!secret.is_empty()).then(|| format!("Bearer {secret}"));
    let caller =
        Caller { address: "10.0.0.2", authorization: authorization.as_deref(), organization };
    match desk.account.handle(desk.now, &caller, call).outcome {
        Outcome::Answer { status, body } => (status, body.unwrap_or(Value::Null)),
        Outcome::Error { status, message } => (status, json!(message)),
        other => panic!("{other:?}"),
    }
}

fn list() -> Call {
    Call::List { query: Vec::new() }
}

#[test]
fn credentials_come_before_everything_but_open_routes() {
    let mut desk = Desk::new();
    let invalid = (401, json!("Invalid credentials"));
    let bad = Call::Create { body: json!({"cpu": -1}) };
    assert_eq!(ask(&mut desk, "", None, bad), invalid);
    assert_eq!(ask(&mut desk, "dtn_wrong", None, list()), invalid);
    assert_eq!(ask(&mut desk, "", None, Call::Config).0, 200);
    let key = desk.account.settings().api_key.clone();
    assert_eq!(ask(&mut desk, &key, None, Call::Organizations), invalid, "logins only");
    assert_eq!(ask(&mut desk, &key, Some("nonsense"), list()).0, 200, "the header means nothing");
    let (_, current) = ask(&mut desk, &key, None, Call::CurrentKey);
    assert!(current["permissions"].as_array().is_some_and(|list| list.len() == 15));
}

#[test]
fn a_login_sees_its_own_organization_alone() {
    let mut desk = Desk::new();
    let id = desk.started(json!({"name": "mine"}));
    let token = desk.control(json!({"do": "mint_token", "subject": "u"}))["token"].clone();
    let token = token.as_str().expect("a token").to_owned();
    let (_, organizations) = ask(&mut desk, &token, None, Call::Organizations);
    let own = organizations[0]["id"].as_str().expect("an id").to_owned();
    let invalid = (403, json!("Invalid authentication context"));
    assert_eq!(ask(&mut desk, &token, None, list()), invalid);
    assert_eq!(ask(&mut desk, &token, Some(&id), list()), invalid);
    assert_eq!(ask(&mut desk, &token, Some(&own), list()).1["items"], json!([]));
    for key in [id.as_str(), "mine"] {
        let get = Call::Get { key: key.to_owned() };
        assert_eq!(ask(&mut desk, &token, Some(&own), get).0, 404);
    }
    let (status, text) = ask(&mut desk, &token, Some(&own), Call::Create { body: json!({}) });
    assert_eq!(status, 400);
    assert!(text.as_str().is_some_and(|text| text.contains("does not have a default region")));
    let usage = Call::Usage { organization: own.clone() };
    assert_eq!(ask(&mut desk, &token, Some(&own), usage).1["currentSnapshotUsage"], 0);
}

#[test]
fn a_key_has_the_permissions_it_was_given_and_ends_when_it_is_deleted() {
    let mut desk = Desk::new();
    let token = desk.control(json!({"do": "mint_token", "subject": "u"}))["token"].clone();
    let token = token.as_str().expect("a token").to_owned();
    let (_, organizations) = ask(&mut desk, &token, None, Call::Organizations);
    let own = organizations[0]["id"].as_str().expect("an id").to_owned();
    let make = |permissions: Value| Call::CreateKey {
        body: json!({"name": "k", "permissions": permissions}),
    };
    assert_eq!(ask(&mut desk, &token, Some(&own), make(json!(["fly"]))).0, 400);
    let (status, key) = ask(&mut desk, &token, Some(&own), make(json!([])));
    assert_eq!(status, 201);
    let key = key["value"].as_str().expect("a value").to_owned();
    assert_eq!(ask(&mut desk, &token, Some(&own), make(json!([]))).0, 409);
    assert_eq!(ask(&mut desk, &key, None, list()).0, 200);
    let create = Call::Create { body: json!({}) };
    assert_eq!(ask(&mut desk, &key, None, create), (403, json!("Access denied")));
    let delete = Call::DeleteKey { name: "k".to_owned() };
    assert_eq!(ask(&mut desk, &token, Some(&own), delete).0, 204);
    assert_eq!(ask(&mut desk, &key, None, list()).0, 401);
}
