//! Executes: a command in the conversation's sandbox, with a typed outcome.

use super::lazy_sandbox::{InSandbox, LazySandbox, Missing};
use super::{Service, ServiceError};
use crate::engine::Answered;
use crate::provider::{CommandOutcome, CommandRequest, OutputSink};
use crate::store::ConversationKey;
use sandpool_core::{ExecuteOutcome, Reason, Span, TurnId, Used};

/// What is to be run.
#[derive(Clone, Debug)]
pub(crate) struct Execute {
    /// The command.
    pub(crate) command: CommandRequest,
    /// In which turn; none: in the open one, or in one of its own.
    pub(crate) turn: Option<u32>,
    /// The class of a turn of its own.
    pub(crate) class: Option<String>,
    /// How long to wait for a sandbox; none: as configured.
    pub(crate) patience: Option<Span>,
    /// Whether its end is on the disk before it is told.
    pub(crate) answered: Answered,
    /// Where its output goes as it comes, if anybody wants it so.
    pub(crate) output: Option<OutputSink>,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It ran to its end.
    Completed { exit_code: i32, output: String, killed_for_memory: bool },
    /// It was stopped at its time limit.
    TimedOut,
    /// The sandbox died under it; its files are lost.
    SandboxDied,
    /// There was no sandbox, or nobody knows what came of it.
    Unavailable { reason: Reason, retry_after: Option<Span> },
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Executed {
    /// Its number; none if it was never let go.
    pub(crate) execute: Option<u32>,
    /// The turn.
    pub(crate) turn: u32,
    /// How it ended.
    pub(crate) outcome: Outcome,
    /// How long a sandbox was waited for.
    pub(crate) waited: Span,
    /// How long it ran.
    pub(crate) took: Span,
    /// Why files of earlier turns are gone, if it is told now.
    pub(crate) files_lost: Option<Reason>,
}

/// What an execute comes to when it is not answered by an outcome.
#[derive(Debug)]
pub(crate) enum ExecuteError {
    /// It could not begin.
    Service(ServiceError),
    /// The provider turned the command itself down.
    Rejected { detail: String, files_lost: Option<Reason> },
}

impl From<ServiceError> for ExecuteError {
    fn from(error: ServiceError) -> Self {
        Self::Service(error)
    }
}

impl Service {
    /// Runs a command in the conversation's sandbox. Goes on to its end even if the caller does
    /// not listen any more, if it is awaited in a task of its own.
    pub(crate) async fn execute(
        &self,
        account: u32,
        key: &ConversationKey,
        execute: Execute,
    ) -> Result<Executed, ExecuteError> {
        let conversation = self.open_one(account, key).await?;
        let sandbox = LazySandbox {
            service: self,
            conversation,
            turn: execute.turn.map(TurnId),
            class: self.class(execute.class.as_deref())?,
            patience: execute.patience,
            answered: execute.answered,
        };
        let (command, output) = (&execute.command, execute.output.as_ref());
        let run = |provider| async move {
            match output {
                None => self.provider.execute(provider, command).await,
                Some(output) => self.provider.execute_streamed(provider, command, output).await,
            }
        };
        answer(sandbox.with(run, tell).await?)
    }
}

/// How a result counts, and what is kept of it.
fn tell(outcome: &CommandOutcome) -> (ExecuteOutcome, Used, String) {
    match outcome {
        CommandOutcome::Completed { exit_code, output } => {
            let used = Used {
                exit_code: Some(*exit_code),
                peak_memory_mb: None,
                killed_for_memory: outcome.looks_killed_for_memory(),
            };
            let kept = serde_json::json!({ "exit_code": exit_code, "output": output });
            (ExecuteOutcome::Completed, used, kept.to_string())
        }
        CommandOutcome::TimedOut => {
            (ExecuteOutcome::TimedOut, Used::default(), r#"{"timed_out":true}"#.to_owned())
        }
    }
}

fn answer(done: InSandbox<CommandOutcome>) -> Result<Executed, ExecuteError> {
    let outcome = match done.result {
        Ok(outcome) => {
            let killed_for_memory = outcome.looks_killed_for_memory();
            match outcome {
                CommandOutcome::Completed { exit_code, output } => {
                    Outcome::Completed { exit_code, output, killed_for_memory }
                }
                CommandOutcome::TimedOut => Outcome::TimedOut,
            }
        }
        Err(Missing::Unavailable { reason, retry_after }) => {
            Outcome::Unavailable { reason, retry_after }
        }
        Err(Missing::Died) => Outcome::SandboxDied,
        Err(Missing::Unknown { detail }) => {
            tracing::warn!(%detail, "nobody knows what came of an execute");
            Outcome::Unavailable { reason: Reason::Unreachable, retry_after: None }
        }
        Err(Missing::CutOff { reason }) => Outcome::Unavailable { reason, retry_after: None },
        Err(Missing::Rejected { detail } | Missing::NoSuchFile { path: detail }) => {
            return Err(ExecuteError::Rejected { detail, files_lost: done.files_lost });
        }
    };
    Ok(Executed {
        execute: done.execute.map(|execute| execute.0),
        turn: done.turn.0,
        outcome,
        waited: done.waited,
        took: done.took,
        files_lost: done.files_lost,
    })
}
