//! `sandpool-sim daytona` as a process: what it says, and how it ends.

use super::Client;
use super::client::{entries, is_running, soon};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The command, being served. Killed when it is dropped, so that a failing test leaves nothing.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) first_line: String,
    pub(crate) client: Client,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    /// Its files go below `temporary`.
    pub(crate) fn start(temporary: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sandpool-sim"))
            .args(["daytona", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .env("TMPDIR", temporary)
            .env_remove("SANDPOOL_DAYTONA_KEY")
            .stdout(Stdio::piped())
            .spawn()
            .expect("it can be started");
        let output = child.stdout.take().expect("it is piped");
        let mut lines = BufReader::new(output).lines();
        let mut next = || lines.next().expect("a line").expect("text");
        let (first_line, url, key) = (next(), next(), next());
        let url = url.strip_prefix("DAYTONA_API_URL=").expect("the URL").to_owned();
        let key = key.strip_prefix("DAYTONA_API_KEY=").expect("the key").to_owned();
        Self { child, first_line, client: Client::new(&url, &key) }
    }

    /// Ends it by a signal; the answer is its exit code.
    pub(crate) fn end(mut self, by: Signal) -> Option<i32> {
        let process = Pid::from_raw(i32::try_from(self.child.id()).expect("a process id"));
        kill(process, by).expect("it is there");
        self.child.wait().expect("it ends").code()
    }
}

#[tokio::test]
async fn it_ends_well_by_signals_and_leaves_nothing() {
    // Killed outright it cannot clean up; the process that watches it does.
    for (signal, code) in [
        (Signal::SIGTERM, Some(0)),
        (Signal::SIGINT, Some(0)),
        (Signal::SIGHUP, Some(0)),
        (Signal::SIGKILL, None),
    ] {
        let temporary = tempfile::tempdir().expect("a directory");
        let served = Served::start(temporary.path(), &[]);
        let id = served.client.create(json!({})).await;
        let command = "setsid sleep 300 >/dev/null 2>&1 & echo $!";
        let (_, process) = served.client.execute(&id, command).await;
        let process: u32 = process.trim().parse().expect("a process id");
        assert_eq!(entries(temporary.path()), 1);
        assert_eq!(served.end(signal), code, "{signal}");
        if signal != Signal::SIGKILL {
            assert_eq!(entries(temporary.path()), 0, "{signal}: files are left");
        }
        soon("nothing is left", || entries(temporary.path()) == 0 && !is_running(process)).await;
    }
}

#[tokio::test]
async fn it_says_plainly_what_it_is() {
    let temporary = tempfile::tempdir().expect("a directory");
    let served = Served::start(temporary.path(), &["--api-key", "dtn_mine"]);
    assert!(
        served.first_line.starts_with("SIMULATED Daytona at http://127.0.0.1:"),
        "{}",
        served.first_line
    );
    assert!(served.first_line.contains("COMMANDS RUN ON THIS MACHINE"), "{}", served.first_line);
    let id = served.client.create(json!({})).await;
    assert_eq!(served.client.execute(&id, "echo ran").await.1, "ran\n");
    // Its own key is in its arguments, and not in the environment of a command.
    assert!(!served.client.execute(&id, "env").await.1.contains("dtn_mine"));
    let other = Served::start(temporary.path(), &["--exec", "none"]);
    assert!(other.first_line.contains("commands do not run"), "{}", other.first_line);
    let key = |served: &Served| format!("{:?}", served.client);
    assert_ne!(key(&served), key(&other), "a key is made up for each");
}

#[test]
fn it_listens_elsewhere_only_if_told_so() {
    let ran = Command::new(env!("CARGO_BIN_EXE_sandpool-sim"))
        .args(["daytona", "--listen", "0.0.0.0:0"])
        .output()
        .expect("it can be started");
    assert_eq!(ran.status.code(), Some(2));
    let text = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(text.contains("can be reached from other machines"), "{text}");
    assert!(text.contains("--allow-any-address"), "{text}");
    let temporary = tempfile::tempdir().expect("a directory");
    let mut insisting = Served::start(temporary.path(), &["--allow-any-address", "--exec", "none"]);
    assert!(insisting.child.try_wait().expect("it is ours").is_none(), "it runs");
}
