//! What the operator sees, and does.

use super::{Caller, QUICK, Served, folder};
use sandpool_sim::{DaytonaApi, DaytonaApiOptions};
use serde_json::{Value, json};
use std::process::{Command, Output};
use std::time::Duration;

/// The value of a sample, by the whole text before it.
fn sample(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("no {name} in\n{text}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_are_the_operators_and_move_with_what_happens() {
    let folder = folder();
    let served = Served::start(folder.path(), QUICK);
    let operator = Caller::new(&served, &served.keys[0]);
    let caller = Caller::new(&served, &served.keys[1]);
    assert_eq!(caller.get("/metrics").await.0, 403);
    assert_eq!(Caller::new(&served, "sp_none").get("/metrics").await.0, 401);
    let conversation = caller.open().await;
    caller.execute(&conversation, "true").await;
    caller.execute(&conversation, "false").await;
    let (status, text) = operator.get("/metrics").await;
    assert_eq!(status, 200);
    let text = text.as_str().unwrap();
    assert!(text.ends_with("# EOF\n"), "{text}");
    for (name, value) in [
        ("sandpool_sandboxes{state=\"idle\",class=\"default\"}", 1.0),
        ("sandpool_used_sandboxes", 1.0),
        ("sandpool_limit_sandboxes", 10.0),
        ("sandpool_claims_served_total{by=\"cold_start\"}", 1.0),
        ("sandpool_executes_total{outcome=\"completed\"}", 2.0),
        ("sandpool_execute_wait_seconds_count{by=\"cold_start\"}", 1.0),
        ("sandpool_execute_wait_seconds_count{by=\"held\"}", 1.0),
        ("sandpool_provider_calls_total{verb=\"create\",outcome=\"ok\"}", 1.0),
        ("sandpool_open_conversations", 1.0),
        (
            "sandpool_http_requests_total{method=\"POST\",route=\"/v1/conversations/{conversation}/execute\",status=\"2xx\"}",
            2.0,
        ),
    ] {
        assert_eq!(sample(text, name), value, "{name}");
    }
    assert!(sample(text, "sandpool_store_commits_total") >= 2.0);
    assert!(sample(text, "sandpool_cost_micro_dollars_total{account=\"1\",cause=\"idle\"}") > 0.0);
    let id = conversation.rsplit('/').next().unwrap();
    assert!(!text.contains(id), "no conversation is a label");
}

fn status(served: &Served, key: &str, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sandpool-server"))
        .args(["status", "--url", &served.url])
        .args(more)
        .env("SANDPOOL_ADMIN_KEY", key)
        .output()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn status_shows_who_holds_what_and_who_waits() {
    let folder = folder();
    let one = QUICK.replace("[server]\n", "[server]\nmax_sandboxes = 1\nborrow_keep_free = 0\n");
    let served = Served::start(folder.path(), &one);
    let caller = Caller::new(&served, &served.keys[1]);
    let (holder, other) = (caller.open().await, caller.open().await);
    caller.post(&format!("{holder}/turns"), json!({})).await;
    caller.execute(&holder, "true").await;
    let (waiter, path) = (caller.clone(), format!("{other}/execute"));
    let waits = tokio::spawn(async move {
        waiter.post(&path, json!({ "command": "true", "patience_seconds": 60 })).await
    });
    let operator = Caller::new(&served, &served.keys[0]);
    let shown = loop {
        let (code, shown) = operator.get("/v1/admin/status").await;
        assert_eq!(code, 200, "{shown}");
        if shown["waiting"].as_array().is_some_and(|waiting| !waiting.is_empty()) {
            break shown;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    let name = |path: &str| path.rsplit('/').next().unwrap().to_owned();
    let sandbox = &shown["sandboxes"][0];
    assert_eq!((&sandbox["state"], &sandbox["account"]), (&json!("idle"), &json!(1)), "{shown}");
    assert_eq!(sandbox["conversation"], name(&holder));
    let waiting = &shown["waiting"][0];
    assert_eq!(waiting["conversation"], name(&other));
    assert_eq!((&waiting["is_blocked"], &waiting["position"]), (&json!(true), &json!(0)));
    assert_eq!(waiting["reason"], "capacity: slots");
    assert_eq!(caller.get("/v1/admin/status").await.0, 403);
    // The same for people.
    let told = status(&served, &operator.key, &[]);
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    assert_eq!(told.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&told.stderr));
    for part in
        [name(&holder), name(&other), "1 of 1 sandboxes".to_owned(), "capacity: slots".to_owned()]
    {
        assert!(text.contains(&part), "{part} is not in\n{text}");
    }
    let json = status(&served, &operator.key, &["--json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["capacity"]["sandboxes"], 1);
    assert_eq!(status(&served, &caller.key, &[]).status.code(), Some(3), "not the operator's");
    assert_eq!(status(&served, "", &[]).status.code(), Some(2), "no key");
    caller.post(&format!("{other}/cancel"), json!({})).await;
    assert_eq!(waits.await.unwrap().1["result"]["reason"], "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_of_reconcile_tells_of_an_orphan_and_a_real_one_removes_it() {
    let api = DaytonaApi::start(DaytonaApiOptions::default()).await.unwrap();
    let folder = folder();
    let grace = QUICK
        .replace("[server]\n", "[server]\norphan_grace_seconds = 0\nreconcile_seconds = 86400\n");
    let served = Served::start_on(folder.path(), &grace, &api);
    let operator = Caller::new(&served, &served.keys[0]);
    let provider =
        Caller { client: operator.client.clone(), url: api.url(), key: api.api_key().to_owned() };
    // What was there at the start is removed anyway; this one comes later.
    let ready = || async { operator.get("/v1/admin/status").await.1["is_recovering"] == false };
    while !ready().await {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let labels = json!({ "app": "sandpool", "pool": "sandpool" });
    let body = json!({ "name": "sandpool-1-99-1", "labels": labels });
    let (status, made) = provider.post("/sandbox", body).await;
    assert_eq!(status, 200, "{made}");
    let id = made["id"].as_str().unwrap().to_owned();
    let there = || async { provider.get(&format!("/sandbox/{id}")).await.0 == 200 };
    let listed = loop {
        let (code, told) = reconcile(&operator, true).await;
        assert_eq!(code, 200, "{told}");
        if told["listed"] == 1 {
            break told;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert_eq!(listed["unknown"][0]["provider_id"], id);
    assert_eq!((&listed["dry_run"], &listed["missing"]), (&json!(true), &json!([])));
    assert!(there().await, "a dry run changes nothing");
    assert_eq!(reconcile(&operator, false).await.0, 200);
    let mut removed = 0.0;
    for _ in 0..500 {
        let (_, metrics) = operator.get("/metrics").await;
        removed = sample(metrics.as_str().unwrap(), "sandpool_orphans_removed_total");
        if removed > 0.0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(removed, 1.0);
    assert!(!there().await, "it was removed");
    assert_eq!(served.end(), Some(0));
    api.stop().await;
}

async fn reconcile(operator: &Caller, dry_run: bool) -> (u16, Value) {
    operator.post("/v1/admin/reconcile", json!({ "dry_run": dry_run })).await
}

#[tokio::test(flavor = "multi_thread")]
async fn accounts_that_are_added_at_once_all_get_a_number() {
    let folder = folder();
    let served = Served::start(folder.path(), QUICK);
    let operator = Caller::new(&served, &served.keys[0]);
    let adding: Vec<_> = (0..20)
        .map(|number| {
            let operator = operator.clone();
            tokio::spawn(async move {
                let body = json!({ "name": format!("team-{number}") });
                operator.post("/v1/admin/accounts", body).await
            })
        })
        .collect();
    for task in adding {
        let (status, added) = task.await.unwrap();
        assert_eq!(status, 201, "{added}");
    }
    let (status, again) = operator.post("/v1/admin/accounts", json!({ "name": "team-3" })).await;
    assert_eq!((status, &again["code"]), (400, &json!("invalid_request")));
    let (_, listed) = operator.get("/v1/admin/accounts").await;
    let numbers: Vec<_> = listed["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["number"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (0..22).collect::<Vec<_>>());
    let path = "/v1/admin/accounts/1/keys";
    let (_, made) = operator.post(path, json!({ "label": "second" })).await;
    let (_, keys) = operator.get(path).await;
    let shown = keys["items"].to_string();
    assert!(shown.contains(made["id"].as_str().unwrap()) && !shown.contains("sp_"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_bears_the_requests_id_and_no_secret() {
    let (api, folder) = (DaytonaApi::start(DaytonaApiOptions::default()).await.unwrap(), folder());
    let served = Served::start_on(folder.path(), QUICK, &api);
    let caller = Caller::new(&served, &served.keys[1]);
    let conversation = caller.open().await;
    let body = json!({ "command": "echo $PASSWORD", "environment": { "PASSWORD": "hunter2" } });
    let path = format!("{}{conversation}/execute", caller.url);
    let request = caller.client.post(path).bearer_auth(&caller.key).json(&body);
    let answer = request.header("x-request-id", "mine-17").send().await.unwrap();
    assert_eq!(answer.headers()["x-request-id"], "mine-17");
    assert_eq!(Caller::new(&served, "sp_wrong").get("/v1/capacity").await.0, 401);
    let (_, made) =
        Caller::new(&served, &served.keys[0]).post("/v1/admin/accounts/1/keys", json!({})).await;
    let secrets = [
        served.keys[0].clone(),
        served.keys[1].clone(),
        made["key"].as_str().unwrap().to_owned(),
        api.api_key().to_owned(),
        "hunter2".to_owned(),
    ];
    assert_eq!(served.end(), Some(0));
    let log = std::fs::read_to_string(folder.path().join("server.log")).unwrap();
    assert!(log.contains("mine-17"), "{log}");
    for line in log.lines().filter(|line| line.starts_with('{')) {
        serde_json::from_str::<Value>(line).expect("a line of JSON");
    }
    for secret in secrets {
        assert!(!log.contains(&secret), "{secret} is in the log");
    }
    api.stop().await;
}
