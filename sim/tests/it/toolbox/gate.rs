//! The proxy in front of the toolboxes: keys, states, faults, and what is not served.

use super::client::soon;
use super::served;
use serde_json::{Value, json};

#[tokio::test]
async fn a_key_is_wanted() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    let path = format!("/toolbox/{id}/process/execute");
    let body = json!({ "command": "touch made" });
    for key in ["", "dtn_wrong", "dtn_tes"] {
        client.with_key(key).post(&path, body.clone()).await.refused(401, "UNAUTHORIZED");
    }
    assert_eq!(client.execute(&id, "ls").await.1, "");
    api.stop().await;
}

#[tokio::test]
async fn what_is_not_served_is_not_found() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    for path in ["/git/status", "/files/find?path=x", "/no/such", "/", "/process/execute"] {
        let got = client.get(&format!("/toolbox/{id}{path}")).await;
        assert_eq!((got.status, got.text().as_str()), (404, "404 page not found"), "{path}");
    }
    let unknown = client.get("/toolbox/00000000-0000-4000-8000-000000000000/version").await;
    let refused = unknown.refused(404, "NOT_FOUND");
    let message = refused["message"].as_str().expect("a text");
    assert!(message.starts_with("not found: sandbox container not found"), "{message}");
    let version = client.get(&format!("/toolbox/{id}/version")).await.with(200);
    assert_eq!(version["version"], "0.190.0");
    api.stop().await;
}

#[tokio::test]
async fn a_stopped_sandbox_runs_nothing_and_keeps_its_files() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    client.upload(&id, "note", "kept").await.with(200);
    client.stop(&id).await;
    let path = format!("/toolbox/{id}/process/execute");
    let refused =
        client.post(&path, json!({ "command": "true" })).await.refused(400, "BAD_REQUEST");
    let message = refused["message"].as_str().expect("a text");
    assert!(message.ends_with("Is the Sandbox started?"), "{message}");
    client.post(&format!("/api/sandbox/{id}/start"), Value::Null).await.with(200);
    client.until(&id, "started").await;
    assert_eq!(client.download(&id, "note").await.text(), "kept");
    client.remove(&id).await;
    client.download(&id, "note").await.refused(404, "NOT_FOUND");
    api.stop().await;
}

#[tokio::test]
async fn a_command_that_the_sandbox_ends_under_gets_no_answer_of_its_own() {
    let (api, client) = served().await;
    for how in ["stop", "delete"] {
        let id = client.create(json!({})).await;
        let (other, sandbox) = (client.clone(), id.clone());
        let running = tokio::spawn(async move {
            let path = format!("/toolbox/{sandbox}/process/execute");
            other.post(&path, json!({ "command": "touch begun; sleep 300" })).await
        });
        let begun = api.directory().join(&id).join("fs/home/daytona/begun");
        soon("it has begun", || begun.exists()).await;
        if how == "stop" {
            client.stop(&id).await
        } else {
            client.remove(&id).await
        }
        let got = running.await.expect("no panic");
        assert_eq!((got.status, got.text().as_str()), (502, ""), "{how}");
    }
    api.stop().await;
}

#[tokio::test]
async fn faults_strike_toolboxes_too() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    let path = format!("/toolbox/{id}/process/execute");
    let control = async |body: Value| client.post("/admin/control", body).await.with(200);
    let kind = "application/json";
    control(json!({ "do": "lose_answer", "call": "execute" })).await;
    let body = json!({ "command": "touch done" }).to_string();
    assert!(client.try_send("POST", &path, kind, body).await.is_none());
    assert_eq!(client.execute(&id, "ls").await.1, "done\n");
    control(json!({ "do": "runner_down", "known": false })).await;
    let got = client.post(&path, json!({ "command": "touch not" })).await;
    assert_eq!((got.status, got.text().as_str()), (502, ""));
    control(json!({ "do": "runner_up" })).await;
    assert_eq!(client.execute(&id, "ls").await.1, "done\n");
    api.stop().await;
}
