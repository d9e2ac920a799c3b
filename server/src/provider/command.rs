//! A command for a sandbox, and how it ended.

use std::collections::BTreeMap;
use std::time::Duration;

/// A command to run in a sandbox's shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRequest {
    /// What the shell is given.
    pub command: String,
    /// Where it runs; the sandbox's own working directory otherwise.
    pub working_directory: Option<String>,
    /// Further environment variables.
    pub environment: BTreeMap<String, String>,
    /// After this long it is killed. Rounded up to whole seconds, at least one.
    pub timeout: Duration,
}

impl CommandRequest {
    /// A command with nothing special about it.
    #[must_use]
    pub fn new(command: impl Into<String>, timeout: Duration) -> Self {
        Self {
            command: command.into(),
            working_directory: None,
            environment: BTreeMap::new(),
            timeout,
        }
    }
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// It ended by itself.
    Completed {
        /// The shell's exit code.
        exit_code: i32,
        /// Standard output and standard error, as they came.
        output: String,
    },
    /// The provider killed it when its time was over.
    TimedOut,
}

impl CommandOutcome {
    /// Whether the exit code is that of a process killed outright (137), which in a sandbox mostly
    /// means that its memory was used up: the provider says nothing more.
    #[must_use]
    pub fn looks_killed_for_memory(&self) -> bool {
        matches!(self, Self::Completed { exit_code: 137, .. })
    }
}
