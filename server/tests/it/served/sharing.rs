//! Two accounts share ten slots of a provider that outlives the server: borrowing, waiting, deaths,
//! idling, adoption, and the end.

use super::{Caller, Served, folder};
use sandpool_sim::{AccountSettings, DaytonaApi, DaytonaApiOptions};
use serde_json::{Value, json};
use std::time::Duration;

/// A provider with room for more than the pool may have.
async fn provider() -> DaytonaApi {
    let account = AccountSettings { api_key: String::new(), ..AccountSettings::default() };
    DaytonaApi::start(DaytonaApiOptions { account, ..Default::default() }).await.unwrap()
}

fn config(more: &str) -> String {
    format!(
        "[server]\nmax_sandboxes = 10\nmax_sandboxes_per_account = 3\nborrow_keep_free = 2\n\
         warm_sandboxes = 0\nmax_starting = 10\n{more}\n\n[classes.default]\nprepare = false\n"
    )
}

/// A second account's caller.
async fn second(served: &Served) -> Caller {
    let operator = Caller::new(served, &served.keys[0]);
    let (_, account) = operator.post("/v1/admin/accounts", json!({ "name": "second" })).await;
    let path = format!("/v1/admin/accounts/{}/keys", account["number"]);
    let (_, made) = operator.post(&path, json!({})).await;
    Caller::new(served, made["key"].as_str().unwrap())
}

/// A conversation that holds a sandbox in an open turn.
async fn holds(caller: &Caller) -> String {
    let conversation = caller.open().await;
    let (status, turn) = caller.post(&format!("{conversation}/turns"), json!({})).await;
    assert_eq!(status, 201, "{turn}");
    let done = caller.execute(&conversation, "echo mine > file").await;
    assert_eq!(done["result"]["outcome"], "completed", "{done}");
    conversation
}

async fn with_patience(caller: &Caller, conversation: &str, seconds: f64) -> Value {
    let body = json!({ "command": "cat file", "patience_seconds": seconds });
    caller.post(&format!("{conversation}/execute"), body).await.1
}

/// Waits until `is_so` of what is asked for.
async fn until(caller: &Caller, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..1_000 {
        let (_, answer) = caller.get(path).await;
        if is_so(&answer) {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{path} never becomes so");
}

async fn events(caller: &Caller, conversation: &str) -> Vec<String> {
    let (_, page) = caller.get(&format!("{conversation}/events?limit=1000")).await;
    let kinds = page["items"].as_array().unwrap().iter();
    kinds.map(|event| event["kind"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_account_borrows_and_leaves_the_other_its_part() {
    let (api, folder) = (provider().await, folder());
    let served = Served::start_on(folder.path(), &config("reclaim_idle_seconds = 3600"), &api);
    let (first, second) = (Caller::new(&served, &served.keys[1]), second(&served).await);
    // Three of its share, and five borrowed: two stay free.
    let mut held = Vec::new();
    for _ in 0..8 {
        held.push(holds(&first).await);
    }
    let more = first.open().await;
    let refused = with_patience(&first, &more, 0.2).await;
    assert_eq!(refused["result"]["outcome"], "unavailable", "{refused}");
    assert_eq!(refused["result"]["reason"], "full");
    assert!(refused["result"]["retry_after_seconds"].as_f64().unwrap() > 0.0);
    let (_, why) = first.get(&format!("{more}/explain")).await;
    assert_eq!(why["before"][0]["what"], "refused", "{why}");
    assert_eq!(why["before"][0]["reason"], "full", "{why}");
    // The other account has its own share of what was kept free, and then waits as well.
    for _ in 0..2 {
        holds(&second).await;
    }
    let waits = second.open().await;
    let waiting = tokio::spawn({
        let (second, waits) = (second.clone(), waits.clone());
        async move { with_patience(&second, &waits, 60.0).await }
    });
    let explain = format!("{waits}/explain");
    let why = until(&second, &explain, |why| why["waits"] == true && why["position"] == 0).await;
    assert!(why["patience_left_seconds"].as_f64().unwrap() > 30.0, "{why}");
    // Whoever gives one back lets the one in who is within its share.
    let (status, _) = first.call("DELETE", &held[0], None).await;
    assert_eq!(status, 200);
    let served_at_last = waiting.await.unwrap();
    assert_eq!(served_at_last["result"]["outcome"], "completed", "{served_at_last}");
    assert!(served_at_last["waited_seconds"].as_f64().unwrap() > 0.0);
    let (_, capacity) = first.get("/v1/capacity").await;
    assert_eq!(capacity["used"]["sandboxes"], 10);
    assert_eq!(served.end(), Some(0));
    assert_eq!(sandboxes(&api).await, 0, "nothing is left after an orderly end");
    api.stop().await;
}

/// How many sandboxes the provider has.
async fn sandboxes(api: &DaytonaApi) -> usize {
    let caller =
        Caller { client: reqwest::Client::new(), url: api.url(), key: api.api_key().to_owned() };
    caller.get("/sandbox?limit=100").await.1["items"].as_array().unwrap().len()
}

async fn control(api: &DaytonaApi, command: Value) {
    let url = api.url().strip_suffix("/api").unwrap().to_owned();
    let caller = Caller { client: reqwest::Client::new(), url, key: api.api_key().to_owned() };
    let (status, told) = caller.post("/admin/control", command).await;
    assert_eq!(status, 200, "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_loses_a_sandbox_is_told_and_has_another_with_the_history_intact() {
    let (api, folder) = (provider().await, folder());
    let served = Served::start_on(folder.path(), &config(""), &api);
    let caller = Caller::new(&served, &served.keys[1]);
    let conversation = holds(&caller).await;
    let said = json!({ "kind": "user", "text": "remember this" });
    caller.post(&format!("{conversation}/messages"), said).await;
    control(&api, json!({ "do": "kill_all" })).await;
    let died = with_patience(&caller, &conversation, 30.0).await;
    assert_eq!(died["result"]["outcome"], "sandbox_died", "{died}");
    let after = with_patience(&caller, &conversation, 30.0).await;
    assert_eq!(after["result"]["outcome"], "completed", "{after}");
    assert_eq!(after["result"]["exit_code"], 1, "the file is gone");
    assert_eq!(after["files_lost"], "died");
    let kinds = events(&caller, &conversation).await;
    let place = |kind: &str| kinds.iter().position(|it| it == kind);
    assert!(place("sandbox_died") < place("sandbox_replaced"), "{kinds:?}");
    assert!(place("sandbox_died").is_some());
    let (_, messages) = caller.get(&format!("{conversation}/messages")).await;
    assert_eq!(messages["items"][0]["text"], "remember this");
    assert_eq!(messages["items"][1]["kind"], "notice");
    let next = with_patience(&caller, &conversation, 30.0).await;
    assert_eq!(next["files_lost"], Value::Null, "it is told once");
    let (_, why) = caller.get(&format!("{conversation}/explain")).await;
    let told = |what: &str, text: &str| {
        let before = why["before"].as_array().unwrap().iter();
        before.filter(|it| it["what"] == what).any(|it| it["text"].as_str().unwrap().contains(text))
    };
    assert!(told("lost_sandbox", "it died at the provider"), "{why}");
    assert!(told("told_of_loss", "its files are gone (died)"), "{why}");
    assert!(told("waited", "for its sandbox"), "{why}");
    api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_idles_too_long_comes_back_to_its_history_and_a_new_sandbox() {
    let (api, folder) = (provider().await, folder());
    let served = Served::start_on(folder.path(), &config("idle_seconds = 0.3"), &api);
    let caller = Caller::new(&served, &served.keys[1]);
    let conversation = holds(&caller).await;
    let said = json!({ "kind": "user", "text": "long ago" });
    caller.post(&format!("{conversation}/messages"), said).await;
    let (status, _) = caller.post(&format!("{conversation}/turns/1/end"), json!({})).await;
    assert_eq!(status, 200);
    until(&caller, "/v1/capacity", |capacity| capacity["sandboxes"] == 0).await;
    let back = with_patience(&caller, &conversation, 30.0).await;
    assert_eq!((&back["turn"], &back["files_lost"]), (&json!(2), &json!("idle_timeout")), "{back}");
    let (_, context) = caller.get(&format!("{conversation}/context?budget_tokens=1000")).await;
    let told = context["items"].to_string();
    assert!(told.contains("long ago") && told.contains("is a new one (idle_timeout)"), "{told}");
    api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_adopt_files_outlive_a_kill_and_a_drain() {
    let (api, folder) = (provider().await, folder());
    let adopt = config("recovery = \"adopt\"");
    let served = Served::start_on(folder.path(), &adopt, &api);
    let key = served.keys[1].clone();
    let conversation = holds(&Caller::new(&served, &key)).await;
    served.kill();
    for is_in_order in [true, false] {
        let served = Served::start_on(folder.path(), &adopt, &api);
        let caller = Caller::new(&served, &key);
        let back = with_patience(&caller, &conversation, 30.0).await;
        assert_eq!(back["result"]["output"], "mine\n", "{back}");
        assert_eq!(back["files_lost"], Value::Null);
        if is_in_order {
            assert_eq!(served.end(), Some(0));
        }
        assert_eq!(sandboxes(&api).await, 1, "it is the same one, and is left for the next");
    }
    api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_orderly_end_answers_who_waits_and_lets_who_runs_finish() {
    let (api, folder) = (provider().await, folder());
    let small = config("")
        .replace("max_sandboxes = 10", "max_sandboxes = 1")
        .replace("free = 2", "free = 0");
    let served = Served::start_on(folder.path(), &small, &api);
    let caller = Caller::new(&served, &served.keys[1]);
    let (runs, waits) = (caller.open().await, caller.open().await);
    let go = folder.path().join("go");
    let execute = |conversation: &str, command: String| {
        let (caller, path) = (caller.clone(), format!("{conversation}/execute"));
        let body = json!({ "command": command, "patience_seconds": 60 });
        tokio::spawn(async move { caller.post(&path, body).await.1 })
    };
    let began = folder.path().join("began");
    let running = execute(
        &runs,
        format!(
            "touch {}; while [ ! -e {} ]; do sleep 0.02; done; echo ran",
            began.display(),
            go.display()
        ),
    );
    while !began.exists() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let waiting = execute(&waits, "true".to_owned());
    until(&caller, &format!("{waits}/explain"), |why| why["waits"] == true).await;
    let ending = tokio::task::spawn_blocking(move || served.end());
    let waited = waiting.await.unwrap();
    assert_eq!(waited["result"]["reason"], "shutting_down", "{waited}");
    std::fs::write(go, "").unwrap();
    let ran = running.await.unwrap();
    assert_eq!(ran["result"]["output"], "ran\n", "{ran}");
    assert_eq!(ending.await.unwrap(), Some(0));
    assert_eq!(sandboxes(&api).await, 0);
    api.stop().await;
}
