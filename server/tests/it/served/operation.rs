//! What the operator sees, and does.

use super::{Caller, QUICK, Served, folder};

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
