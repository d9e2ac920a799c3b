//! Conversations keep what they were told, whatever becomes of the server and of sandboxes.

use super::{Caller, QUICK, Served, folder};
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_keeps_its_history_and_its_files_from_turn_to_turn() {
    let folder = folder();
    let served = Served::start(folder.path(), QUICK);
    let caller = Caller::new(&served, &served.keys[1]);
    let conversation = caller.open().await;
    let first = caller.execute(&conversation, "echo one > notes.txt; echo said; exit 3").await;
    assert_eq!(first["result"]["outcome"], "completed");
    assert_eq!(
        (&first["result"]["exit_code"], &first["result"]["output"]),
        (&json!(3), &json!("said\n"))
    );
    let second = caller.execute(&conversation, "cat notes.txt").await;
    assert_eq!(second["result"]["output"], "one\n", "the same sandbox");
    assert_eq!((&second["turn"], &second["files_lost"]), (&json!(2), &Value::Null));
    let late = json!({ "command": "sleep 30", "timeout_seconds": 1 });
    let (_, late) = caller.post(&format!("{conversation}/execute"), late).await;
    assert_eq!(late["result"]["outcome"], "timed_out");
    let (status, file) = caller.get(&format!("{conversation}/files?path=notes.txt")).await;
    assert_eq!((status, file), (200, json!("one\n")));
    let (status, _) = caller.get(&format!("{conversation}/files?path=nothing.txt")).await;
    assert_eq!(status, 404);
    let said = json!({ "kind": "user", "text": "hello" });
    assert_eq!(caller.post(&format!("{conversation}/messages"), said).await.0, 201);
    let (_, messages) = caller.get(&format!("{conversation}/messages")).await;
    assert_eq!(messages["items"][0]["text"], "hello");
    let (_, events) = caller.get(&format!("{conversation}/events?limit=1000")).await;
    let ended = |event: &&Value| event["kind"] == "execute_ended";
    assert_eq!(events["items"].as_array().unwrap().iter().filter(ended).count(), 5);
    assert_eq!(served.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_pool_is_a_result_and_what_is_free_again_is_had() {
    let folder = folder();
    let one = format!("{QUICK}\n").replace("[server]\n", "[server]\nmax_sandboxes = 1\n");
    let served = Served::start(folder.path(), &one);
    let caller = Caller::new(&served, &served.keys[1]);
    let holder = caller.open().await;
    let (status, _) = caller.post(&format!("{holder}/turns"), json!({})).await;
    assert_eq!(status, 201);
    assert_eq!(caller.execute(&holder, "true").await["result"]["outcome"], "completed");
    let waiter = caller.open().await;
    let ask = json!({ "command": "true", "patience_seconds": 0.3 });
    let (status, refused) = caller.post(&format!("{waiter}/execute"), ask).await;
    assert_eq!(status, 200, "a full pool is no error");
    assert_eq!(refused["result"]["outcome"], "unavailable");
    assert_eq!(refused["result"]["reason"], "full");
    assert!(refused["result"]["retry_after_seconds"].is_number());
    let (status, _) = caller.post(&format!("{holder}/turns"), json!({})).await;
    assert_eq!(status, 409, "a turn is open");
    let (status, _) = caller.call("DELETE", &holder, None).await;
    assert_eq!(status, 200);
    assert_eq!(caller.execute(&waiter, "true").await["result"]["outcome"], "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_once_it_comes_back_with_every_answer_that_it_gave() {
    let folder = folder();
    let served = Served::start(folder.path(), QUICK);
    let key = served.keys[1].clone();
    let caller = Caller::new(&served, &key);
    let conversation = caller.open().await;
    caller.execute(&conversation, "echo here > f").await;
    let (status, _) = caller.post(&format!("{conversation}/turns"), json!({})).await;
    assert_eq!(status, 201);
    let said = json!({ "kind": "user", "text": "before" });
    caller.post(&format!("{conversation}/messages"), said).await;
    served.kill();
    let served = Served::start(folder.path(), QUICK);
    let caller = Caller::new(&served, &key);
    let (_, messages) = caller.get(&format!("{conversation}/messages")).await;
    assert_eq!(messages["items"][0]["text"], "before");
    // Its turn is over, its sandbox was another process's: the next execute says so.
    let after = caller.execute(&conversation, "cat f").await;
    assert_eq!(after["result"]["exit_code"], 1);
    assert_eq!(after["files_lost"], "recovery");
    let (_, messages) = caller.get(&format!("{conversation}/messages")).await;
    assert_eq!(messages["items"][1]["kind"], "notice");
    assert_eq!(served.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_fails_for_the_loss_of_files_says_that_they_are_lost() {
    let folder = folder();
    let served = Served::start(folder.path(), QUICK);
    let key = served.keys[1].clone();
    let conversation = Caller::new(&served, &key).open().await;
    Caller::new(&served, &key).execute(&conversation, "echo here > f").await;
    // The second kill comes before anybody was told of the first.
    served.kill();
    Served::start(folder.path(), QUICK).kill();
    let served = Served::start(folder.path(), QUICK);
    let caller = Caller::new(&served, &key);
    let (status, answer) = caller.get(&format!("{conversation}/files?path=f")).await;
    assert_eq!(status, 404, "{answer}");
    let hint = answer["hint"].as_str().unwrap();
    assert!(hint.contains("is a new one (recovery)"), "{hint}");
    let (_, answer) = caller.get(&format!("{conversation}/files?path=f")).await;
    assert_eq!(answer["hint"], Value::Null, "it is told once");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_account_never_sees_another_and_only_the_operator_makes_accounts() {
    let folder = folder();
    let served = Served::start(folder.path(), QUICK);
    let operator = Caller::new(&served, &served.keys[0]);
    let first = Caller::new(&served, &served.keys[1]);
    let (status, _) = first.post("/v1/admin/accounts", json!({ "name": "second" })).await;
    assert_eq!(status, 403);
    let (status, added) = operator.post("/v1/admin/accounts", json!({ "name": "second" })).await;
    assert_eq!(status, 201, "{added}");
    let keys = format!("/v1/admin/accounts/{}/keys", added["number"]);
    let (_, key) = operator.post(&keys, json!({})).await;
    let second = Caller::new(&served, key["key"].as_str().unwrap());
    let conversation = first.open().await;
    for (method, path) in [
        ("GET", conversation.clone()),
        ("DELETE", conversation.clone()),
        ("GET", format!("{conversation}/messages")),
        ("GET", format!("{conversation}/events")),
        ("GET", format!("{conversation}/explain")),
        ("GET", format!("{conversation}/files?path=f")),
        ("POST", format!("{conversation}/cancel")),
    ] {
        let (status, answer) = second.call(method, &path, None).await;
        assert_eq!((status, &answer["code"]), (404, &json!("not_found")), "{method} {path}");
    }
    let (status, _) =
        second.post(&format!("{conversation}/execute"), json!({ "command": "id" })).await;
    assert_eq!(status, 404);
    let (_, listed) = second.get("/v1/conversations").await;
    assert_eq!(listed["items"], json!([]));
    let id = key["id"].as_str().unwrap();
    assert_eq!(operator.call("DELETE", &format!("{keys}/{id}"), None).await.0, 204);
    assert_eq!(second.get("/v1/conversations").await.0, 401, "at once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_under_an_idempotency_key_is_carried_out_once() {
    let folder = folder();
    let served = Served::start(folder.path(), QUICK);
    let caller = Caller::new(&served, &served.keys[1]);
    let conversation = caller.open().await;
    let send = |command: &str| {
        caller
            .client
            .post(format!("{}{conversation}/execute", caller.url))
            .bearer_auth(&caller.key)
            .header("idempotency-key", "once")
            .json(&json!({ "command": command }))
            .send()
    };
    let first: Value = send("echo x >> f; wc -l < f").await.unwrap().json().await.unwrap();
    let again: Value = send("echo x >> f; wc -l < f").await.unwrap().json().await.unwrap();
    assert_eq!(first["result"]["output"].as_str().unwrap().trim(), "1");
    assert_eq!(first, again);
    assert_eq!(send("echo other").await.unwrap().status(), 422);
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_requests_get_a_clean_answer() {
    let folder = folder();
    let served = Served::start(folder.path(), QUICK);
    let caller = Caller::new(&served, &served.keys[1]);
    let conversation = caller.open().await;
    let execute = format!("{conversation}/execute");
    for (body, status) in [
        (json!({}), 400),
        (json!({ "command": "" }), 400),
        (json!({ "command": "true", "timeout_seconds": 0 }), 400),
        (json!({ "command": "true", "patience_seconds": -1 }), 400),
        (json!({ "command": "true", "surprise": 1 }), 400),
        (json!({ "command": "true", "class": "nothing" }), 400),
        (json!({ "command": "true", "turn": 99 }), 409),
        (json!([]), 400),
    ] {
        let (got, answer) = caller.post(&execute, body.clone()).await;
        assert_eq!(got, status, "{body}: {answer}");
        assert!(answer["code"].is_string() && answer["message"].is_string(), "{answer}");
    }
    assert_eq!(caller.get("/v1/nothing").await.0, 404);
    assert_eq!(caller.call("PUT", "/v1/conversations", None).await.0, 405);
    assert_eq!(caller.get("/v1/conversations?limit=0").await.0, 400);
    let stranger = Caller { key: "sp_nobody".to_owned(), ..caller.clone() };
    assert_eq!(stranger.get("/v1/capacity").await.0, 401);
    assert_eq!(caller.get("/openapi.json").await.1["openapi"], "3.1.0");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_is_explained_and_can_be_cancelled() {
    let folder = folder();
    let one = QUICK.replace("[server]\n", "[server]\nmax_sandboxes = 1\n");
    let served = Served::start(folder.path(), &one);
    let caller = Caller::new(&served, &served.keys[1]);
    let holder = caller.open().await;
    caller.post(&format!("{holder}/turns"), json!({})).await;
    caller.execute(&holder, "true").await;
    let waiter = caller.open().await;
    let waiting = tokio::spawn({
        let (caller, waiter) = (caller.clone(), waiter.clone());
        async move { caller.execute(&waiter, "true").await }
    });
    let mut looks = 0;
    let why = loop {
        let (_, why) = caller.get(&format!("{waiter}/explain")).await;
        if why["waits"] == true && why["patience_left_seconds"].is_number() {
            break why;
        }
        looks += 1;
        assert!(looks < 1_000, "{why}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!((&why["reason"]["capacity"], &why["position"]), (&json!("slots"), &json!(0)));
    assert_eq!(caller.call("POST", &format!("{waiter}/cancel"), None).await.0, 204);
    assert_eq!(waiting.await.unwrap()["result"]["reason"], "cancelled");
}

#[test]
fn without_a_key_it_does_not_listen_where_others_can_reach_it() {
    let folder = folder();
    let output = Command::new(env!("CARGO_BIN_EXE_sandpool-server"))
        .args(["--listen", "0.0.0.0:0", "--store"])
        .arg(folder.path().join("pool.sqlite"))
        .env_remove("DAYTONA_API_KEY")
        .env_remove("DAYTONA_API_KEY_FILE")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("no DAYTONA_API_KEY") && told.contains("hint:"), "{told}");
}

#[test]
fn a_configuration_is_checked_with_line_and_column() {
    let folder = folder();
    let file = folder.path().join("pool.toml");
    std::fs::write(&file, "[server]\nwarm_sandboxes = -1\n").unwrap();
    let check = || {
        Command::new(env!("CARGO_BIN_EXE_sandpool-server"))
            .arg("check-config")
            .arg(&file)
            .output()
            .unwrap()
    };
    let output = check();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("pool.toml:2:18: "));
    std::fs::write(&file, QUICK).unwrap();
    assert_eq!(check().status.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_goes_away_leaves_no_conversation_busy() {
    let folder = folder();
    let one = QUICK.replace("[server]\n", "[server]\nmax_sandboxes = 1\n");
    let served = Served::start(folder.path(), &one);
    let caller = Caller::new(&served, &served.keys[1]);
    let holder = caller.open().await;
    caller.post(&format!("{holder}/turns"), json!({})).await;
    caller.execute(&holder, "true").await;
    let waiter = caller.open().await;
    // It asks for a file, waits for a sandbox, and does not wait for long.
    let gone = caller
        .client
        .get(format!("{}{waiter}/files?path=f", caller.url))
        .bearer_auth(&caller.key)
        .timeout(Duration::from_millis(300))
        .send();
    assert!(gone.await.unwrap_err().is_timeout());
    assert_eq!(caller.call("DELETE", &holder, None).await.0, 200);
    let mut looks = 0;
    loop {
        let ask = json!({ "command": "echo free" });
        let (status, answer) = caller.post(&format!("{waiter}/execute"), ask).await;
        if status == 200 {
            assert_eq!(answer["result"]["output"], "free\n");
            break;
        }
        assert_eq!(answer["code"], "execute_in_progress");
        looks += 1;
        assert!(looks < 200, "busy for good");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_kept_as_a_hash_only_also_by_idempotency() {
    let folder = folder();
    let served = Served::start(folder.path(), QUICK);
    let operator = Caller::new(&served, &served.keys[0]);
    let make = |once: bool| {
        let url = format!("{}/v1/admin/accounts/1/keys", operator.url);
        let request = operator.client.post(url).bearer_auth(&operator.key).json(&json!({}));
        if once { request.header("idempotency-key", "k") } else { request }
    };
    assert_eq!(make(true).send().await.unwrap().status(), 400);
    let made: Value = make(false).send().await.unwrap().json().await.unwrap();
    let mut secrets = served.keys.clone();
    secrets.push(made["key"].as_str().unwrap().to_owned());
    assert_eq!(served.end(), Some(0));
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        for secret in &secrets {
            let is_there = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!is_there, "a key is written down");
        }
    }
}
