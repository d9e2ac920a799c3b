//! A command for a sandbox, and how it ended.

use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::mpsc;

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Run {
    /// A text that the shell is given.
    Command(String),
    /// Code that an interpreter of the sandbox is given.
    Code {
        /// Whose it is.
        language: Language,
        /// The code.
        code: String,
    },
}

/// Languages that code can be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Python 3.
    Python,
    /// JavaScript, on Node.
    JavaScript,
    /// TypeScript, on Node.
    TypeScript,
}

impl Language {
    /// Its name, as the API and Daytona have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::TypeScript => "typescript",
        }
    }
}

/// Something to run in a sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRequest {
    /// What is run.
    pub run: Run,
    /// Where it runs; the sandbox's own working directory otherwise. Code always runs there.
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
            run: Run::Command(command.into()),
            working_directory: None,
            environment: BTreeMap::new(),
            timeout,
        }
    }

    /// The command or the code.
    #[must_use]
    pub fn text(&self) -> &str {
        match &self.run {
            Run::Command(text) | Run::Code { code: text, .. } => text,
        }
    }
}

/// Where output goes as it comes. Whoever listens may go away.
#[derive(Clone, Debug)]
pub struct OutputSink(mpsc::UnboundedSender<String>);

impl OutputSink {
    /// A sink, and where what goes into it comes out.
    #[must_use]
    pub fn new() -> (Self, mpsc::UnboundedReceiver<String>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    /// Passes a part of the output on.
    pub fn send(&self, part: impl Into<String>) {
        // Nobody may listen any more; it stands in the result as well.
        let _ = self.0.send(part.into());
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
