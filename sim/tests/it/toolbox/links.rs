//! The routes for files reach nothing outside the sandbox's own directory, whatever they are told.

use super::served;
use serde_json::{Value, json};

#[tokio::test]
async fn no_path_leads_to_another_sandbox_or_out() {
    let (api, client) = served().await;
    let (mine, theirs) = (client.create(json!({})).await, client.create(json!({})).await);
    client.upload(&theirs, "secret", "theirs").await.with(200);
    let (_, home) = client.execute(&theirs, "printf %s \"$PWD\"").await;
    let secret = format!("{home}/secret");
    for path in [
        secret.clone(),
        format!("../../../{theirs}/fs/home/daytona/secret"),
        format!("/../../../../../../..{secret}"),
        format!("%2e%2e/%2e%2e/%2e%2e/%2e%2e/{theirs}/fs/home/daytona/secret"),
        "/etc/passwd".to_owned(),
    ] {
        let got = client.download(&mine, &path).await;
        got.refused(404, "FILE_NOT_FOUND");
    }
    assert_eq!(client.download(&theirs, &secret).await.text(), "theirs", "its own path is known");
    api.stop().await;
}

#[tokio::test]
async fn no_symbolic_link_leads_out() {
    let (api, client) = served().await;
    let (mine, theirs) = (client.create(json!({})).await, client.create(json!({})).await);
    client.upload(&theirs, "secret", "theirs").await.with(200);
    let (_, home) = client.execute(&theirs, "printf %s \"$PWD\"").await;
    let links = format!(
        "ln -s {home}/secret file; ln -s {home} dir; ln -s /etc/passwd host; ln -s / root;
         ln -s ../../../../{theirs}/fs/home/daytona up; ln -s loop loop"
    );
    assert_eq!(client.execute(&mine, &links).await, (0, String::new()));
    let files = format!("/toolbox/{mine}/files");
    for path in ["file", "dir/secret", "host", "root/etc/passwd", "up/secret", "loop"] {
        let got = client.download(&mine, path).await;
        assert!([400, 403, 404].contains(&got.status), "{path}: {} {}", got.status, got.text());
        let form = client.post(&format!("{files}/bulk-download"), json!({ "paths": [path] })).await;
        assert!(form.text().contains("name=\"error\""), "{path}: {}", form.text());
    }
    for path in ["dir", "root", "up"] {
        let got = client.get(&format!("{files}?path={path}")).await;
        assert_ne!(got.status, 200, "{path} was listed: {}", got.text());
    }
    // Writing, moving, deleting and changing do not reach through either.
    for path in ["dir/new", "up/new", "file"] {
        let _ = client.upload(&mine, path, "mine").await;
    }
    for path in ["dir/secret", "up/secret"] {
        let removed = client.delete(&format!("{files}?path={path}")).await;
        assert_ne!(removed.status, 204, "{path} was deleted");
        let change = format!("{files}/permissions?path={path}&mode=777");
        let mode = client.post(&change, Value::Null);
        assert_ne!(mode.await.status, 200, "{path} was changed");
        let to = format!("{files}/move?source={path}&destination=taken");
        assert_ne!(client.post(&to, Value::Null).await.status, 200, "{path} was moved");
    }
    let into = format!("{files}/move?source=loop&destination=dir/loop");
    assert_ne!(client.post(&into, Value::Null).await.status, 200);
    let made = client.post(&format!("{files}/folder?path=dir/made&mode=755"), Value::Null).await;
    assert_ne!(made.status, 201, "a directory was made outside");
    let (_, left) = client.execute(&theirs, "ls -A; cat secret; stat -c %a secret").await;
    assert_eq!(left, "secret\ntheirs644\n");
    api.stop().await;
}

#[tokio::test]
async fn deleting_a_link_leaves_what_it_leads_to() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    client.execute(&id, "mkdir kept; touch kept/file; ln -s kept link; ln -s .. tree").await;
    let files = format!("/toolbox/{id}/files");
    client.delete(&format!("{files}?path=link&recursive=true")).await.with(204);
    assert_eq!(client.execute(&id, "ls kept; ls").await.1, "file\nkept\ntree\n");
    // A link upwards does not send a deep list round in circles.
    let listed = client.get(&format!("{files}?depth=50")).await.with(200);
    assert_eq!(listed.as_array().map(Vec::len), Some(3), "{listed}");
    api.stop().await;
}

#[tokio::test]
async fn a_named_pipe_does_not_hold_a_download() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    client.execute(&id, "mkfifo pipe").await;
    client.download(&id, "pipe").await.refused(400, "BAD_REQUEST");
    api.stop().await;
}

#[tokio::test]
async fn links_that_lead_out_or_nowhere_are_listed_and_deleted_as_what_they_are() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    client.execute(&id, "ln -s /etc out; ln -s /etc/passwd file; ln -s nothing dangling").await;
    let files = format!("/toolbox/{id}/files");
    let listed = client.get(&files).await.with(200);
    let shown: Vec<_> = listed
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| {
            (it["name"].as_str(), it["isDir"] == true, it["mode"].as_str().map(|it| &it[..1]))
        })
        .collect();
    let link = |name| (Some(name), false, Some("L"));
    assert_eq!(shown, [link("dangling"), link("file"), link("out")]);
    for name in ["dangling", "file", "out"] {
        client.delete(&format!("{files}?path={name}")).await.with(204);
    }
    assert_eq!(client.execute(&id, "ls -A").await.1, "");
    assert!(std::path::Path::new("/etc/passwd").exists());
    api.stop().await;
}
