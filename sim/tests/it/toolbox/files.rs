//! Files: uploads, downloads, lists and the rest.

use super::served;
use serde_json::json;

#[tokio::test]
async fn a_file_can_be_written_listed_moved_and_deleted() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    let files = format!("/toolbox/{id}/files");
    let made =
        client.post(&format!("{files}/folder?path=/home/daytona/w&mode=750"), json!(null)).await;
    made.with(201);
    let info = client.get(&format!("{files}/info?path=w")).await.with(200);
    assert_eq!((&info["isDir"], &info["mode"]), (&json!(true), &json!("drwxr-x---")), "{info}");
    let written = client.upload(&id, "w/new/a.txt", "hello").await.with(200);
    assert_eq!(written, json!({ "name": "a.txt", "path": "w/new/a.txt", "type": "file" }));
    client.upload(&id, "w/new/a.txt", "hello again").await.with(200);
    let got = client.download(&id, "/home/daytona/w/new/a.txt").await;
    assert_eq!(got.headers["content-length"], "11");
    assert_eq!(got.text(), "hello again");
    let listed = client.get(&format!("{files}?path=w&depth=2")).await.with(200);
    let paths: Vec<&str> = listed
        .as_array()
        .expect("a list")
        .iter()
        .map(|file| file["path"].as_str().expect("a path"))
        .collect();
    assert_eq!(paths, ["/home/daytona/w/new", "/home/daytona/w/new/a.txt"]);
    assert_eq!((&listed[1]["size"], &listed[1]["permissions"]), (&json!(11), &json!("0644")));
    let moved = |from: &str, to: &str| format!("{files}/move?source={from}&destination={to}");
    client.post(&moved("w/new/a.txt", "w/b.txt"), json!(null)).await.with(200);
    client.post(&moved("w/b.txt", "w/new"), json!(null)).await.refused(409, "CONFLICT");
    client.post(&moved("w/none", "w/c"), json!(null)).await.refused(404, "FILE_NOT_FOUND");
    client.post(&moved("w/b.txt", "none/c"), json!(null)).await.refused(404, "FILE_NOT_FOUND");
    client.post(&format!("{files}/permissions?path=w/b.txt&mode=600"), json!(null)).await.with(200);
    let info = client.get(&format!("{files}/info?path=w/b.txt")).await.with(200);
    assert_eq!(info["mode"], "-rw-------");
    client.delete(&format!("{files}?path=w")).await.refused(400, "BAD_REQUEST");
    client.delete(&format!("{files}?path=w&recursive=true")).await.with(204);
    client.delete(&format!("{files}?path=w&recursive=true")).await.refused(404, "FILE_NOT_FOUND");
    assert_eq!(client.get(&files).await.with(200), json!([]));
    for path in ["", "/info", "/download"] {
        client.get(&format!("{files}{path}?path=none")).await.refused(404, "FILE_NOT_FOUND");
    }
    client.get(&format!("{files}/info")).await.refused(400, "BAD_REQUEST");
    client.delete(&format!("{files}?path=/&recursive=true")).await.refused(400, "BAD_REQUEST");
    api.stop().await;
}

fn part(name: &str, file: bool, content: &str) -> String {
    let file = if file { "; filename=\"x\"\r\nContent-Type: text/plain" } else { "" };
    format!("--B\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{content}\r\n")
}

#[tokio::test]
async fn many_files_go_up_and_down_in_one_form() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    let kind = "multipart/form-data; boundary=B";
    let path = format!("/toolbox/{id}/files/bulk-upload");
    // The official SDK sends all paths first.
    let form = part("files[0].path", false, "/home/daytona/a")
        + &part("files[1].path", false, "deep/b")
        + &part("files[0].file", true, "one")
        + &part("files[1].file", true, "two!")
        + "--B--\r\n";
    let written = client.send("POST", &path, kind, form).await.with(200);
    let wanted = json!([
        { "path": "/home/daytona/a", "bytes": 3 },
        { "path": "deep/b", "bytes": 4 },
    ]);
    assert_eq!(written["files"], wanted);
    let form = part("files[0].file", true, "lost")
        + &part("files[1].path", false, "kept")
        + &part("files[1].file", true, "kept")
        + "--B--\r\n";
    let partly = client.send("POST", &path, kind, form).await.with(400);
    assert_eq!(partly["errors"], json!(["file[0]: missing .path metadata"]));
    assert_eq!(partly["files"][0]["path"], "kept");
    assert_eq!(client.download(&id, "kept").await.text(), "kept");
    client.send("POST", &path, "text/plain", "x").await.with(400);
    let form = part("file", true, "single") + "--B--\r\n";
    let single = format!("/toolbox/{id}/files/upload-v2?path=single");
    client.send("POST", &single, kind, form).await.with(200);
    assert_eq!(client.download(&id, "single").await.text(), "single");

    let path = format!("/toolbox/{id}/files/bulk-download");
    let got = client.post(&path, json!({ "paths": ["a", "/nope", "deep"] })).await;
    assert_eq!(got.status, 200);
    assert_eq!(got.headers["content-type"], "multipart/form-data; boundary=DAYTONA-FILE-BOUNDARY");
    let text = got.text();
    assert!(text.contains("name=\"file\"; filename=\"a\""), "{text}");
    assert!(text.contains("\r\n\r\none\r\n"), "{text}");
    assert!(text.contains("name=\"error\"; filename=\"/nope\""), "{text}");
    assert!(text.contains("\"FILE_NOT_FOUND\""), "{text}");
    assert!(text.contains("path must be a file"), "{text}");
    assert!(text.ends_with("--DAYTONA-FILE-BOUNDARY--\r\n"), "{text}");
    client.post(&path, json!({ "paths": [] })).await.refused(400, "BAD_REQUEST");
    api.stop().await;
}

#[tokio::test]
async fn a_large_file_comes_back_as_it_went() {
    let (api, client) = served().await;
    let id = client.create(json!({})).await;
    let content: Vec<u8> = (0..20_000_000u32).map(|at| (at % 251) as u8).collect();
    client.upload(&id, "large", content.clone()).await.with(200);
    assert!(client.download(&id, "large").await.body == content, "it differs");
    let (_, sum) = client.execute(&id, "wc -c <large").await;
    assert_eq!(sum.trim(), "20000000");
    // Nothing half-written stays beside it.
    assert_eq!(client.execute(&id, "ls -A").await.1, "large\n");
    api.stop().await;
}
