//! Running one command to its end, or to its time limit.

use super::capture::Captured;
use super::process_group::kill_group;
use super::shell::shell;
use super::workspace::Workspace;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;
use tokio::process::Child;

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::daytona_api) enum Run {
    /// A text that the shell reads from its standard input, as the daemon gives it.
    Script(String),
    /// A shell script with arguments and something to read.
    WithInput {
        /// What the shell does.
        script: String,
        /// `$1` and so on.
        arguments: Vec<String>,
        /// Its standard input.
        input: String,
    },
}

/// A command as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::daytona_api) struct Command {
    /// What is run.
    pub(in crate::daytona_api) run: Run,
    /// A path of the API.
    pub(in crate::daytona_api) working_directory: Option<String>,
    /// Variables beside the sandbox's own.
    pub(in crate::daytona_api) env: BTreeMap<String, String>,
    /// How long it may take, on the clock on the wall; `None` is for ever.
    pub(in crate::daytona_api) time_limit: Option<Duration>,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::daytona_api) enum Outcome {
    /// By itself.
    Ended {
        /// Its exit code; -1 if a signal ended it.
        exit_code: i32,
        /// What it wrote, errors included, in the order in which it wrote.
        output: String,
    },
    /// It could not be started.
    NotStarted {
        /// Why.
        reason: String,
    },
    /// It and its process group were killed at the time limit.
    TimedOut,
    /// The sandbox ended under it.
    SandboxStopped,
}

impl Workspace {
    /// Runs a command. `stops` is how often the sandbox had been stopped when it was let in.
    pub(in crate::daytona_api) async fn run(
        self: Arc<Self>,
        command: Command,
        stops: u64,
    ) -> Outcome {
        if !self.runs_commands() {
            return Outcome::Ended { exit_code: 0, output: String::new() };
        }
        let (mut child, output) = match self.spawn(&command) {
            Ok(started) => started,
            Err(error) => return Outcome::NotStarted { reason: error.to_string() },
        };
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).unwrap_or_default();
        if self.has_started(leader, stops) {
            let late = Arc::clone(&self);
            // It panics only where that has been reported.
            let _ = tokio::task::spawn_blocking(move || late.kill_marked()).await;
        }
        let input = match command.run {
            Run::Script(text) => text,
            Run::WithInput { input, .. } => input,
        };
        let writer = child.stdin.take().map(|mut pipe| {
            tokio::spawn(async move {
                // A command need not read what it is given.
                let _ = pipe.write_all(input.as_bytes()).await;
            })
        });
        let mut captured = Captured::default();
        let status = {
            let ends = finish(&mut child, output, &mut captured);
            match command.time_limit {
                None => Some(ends.await),
                Some(limit) => tokio::time::timeout(limit, ends).await.ok(),
            }
        };
        if status.is_none() {
            kill_group(leader);
            // It was killed: this does not take long, and its status means nothing.
            let _ = child.wait().await;
        }
        self.groups.remove(leader);
        if let Some(writer) = writer {
            writer.abort();
        }
        if self.stops() != stops {
            return Outcome::SandboxStopped;
        }
        match status {
            None => Outcome::TimedOut,
            Some(Err(error)) => Outcome::NotStarted { reason: error.to_string() },
            Some(Ok(status)) => {
                Outcome::Ended { exit_code: code_of(status), output: captured.into_text() }
            }
        }
    }

    fn spawn(&self, command: &Command) -> io::Result<(Child, pipe::Receiver)> {
        let (reader, writer) = io::pipe()?;
        let directory = self.working_directory(command.working_directory.as_deref());
        let mut process = self.process(&directory, &command.env);
        if let Run::WithInput { script, arguments, .. } = &command.run {
            process.args(["-c", script, shell()]).args(arguments);
        }
        process.stdin(Stdio::piped()).stdout(writer.try_clone()?).stderr(writer);
        let child = process.spawn().map_err(|error| {
            // The system's own word for it does not say which directory.
            if directory.is_dir() {
                error
            } else {
                io::Error::new(error.kind(), format!("chdir {}: {error}", directory.display()))
            }
        })?;
        // The command still holds the writing end, which would keep the pipe open for ever.
        drop(process);
        Ok((child, pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?))
    }

    /// The shell, in a process group of its own and with the sandbox's environment.
    pub(super) fn process(
        &self,
        directory: &Path,
        env: &BTreeMap<String, String>,
    ) -> tokio::process::Command {
        let mut process = tokio::process::Command::new(shell());
        process
            .env_clear()
            .envs(self.environment(env))
            .current_dir(directory)
            .process_group(0)
            .kill_on_drop(true);
        process
    }
}

/// Waits until nobody holds the output any more and the shell has ended: as with the daemon, a
/// child in the background that keeps the output open keeps the call open.
async fn finish(
    child: &mut Child,
    output: pipe::Receiver,
    captured: &mut Captured,
) -> io::Result<ExitStatus> {
    captured.read_all(output).await?;
    child.wait().await
}

/// The exit code as the daemon tells it: -1 for what a signal ended.
pub(super) fn code_of(status: ExitStatus) -> i32 {
    if status.signal().is_some() { -1 } else { status.code().unwrap_or(-1) }
}
