//! What the tests of the command share.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A scenario that takes a second: a pool of two, one of the variants is refused now and then.
pub(crate) const SMALL: &str = r#"
question = "Does a third sandbox help?"
duration = "1h"
warm_up = "5m"
replications = 4

[server]
max_sandboxes = 2
max_sandboxes_per_account = 2
borrow_keep_free = 0
idle_seconds = 60
warm_sandboxes = 0

[workload]
turns = 3
think_seconds = { exponential = { mean = 60 } }

[workload.arrivals.poisson]
per_hour = 30

[[variant]]
name = "three"
"server.max_sandboxes" = 3

[[variant]]
name = "one warm"
"server.warm_sandboxes" = 1

[[expect]]
measure = "leaked"
max = 0
"#;

/// A folder of this test's own, with [`SMALL`] in `small.toml`.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let sandbox = Self { folder: tempfile::tempdir().unwrap() };
        sandbox.write("small.toml", SMALL);
        sandbox
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Runs the command in the folder.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let output = self.command(arguments).output().unwrap();
        Ran::from(output)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sandpool-sim"));
        command.args(arguments).current_dir(self.path());
        command
    }
}

/// What a run of the command came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.out, self.err);
        self
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}
