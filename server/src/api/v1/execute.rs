//! `/v1/conversations/{conversation}/execute`.

use super::super::app::App;
use super::super::auth::Account;
use super::super::error::{ApiError, ErrorBody, ErrorCode};
use super::super::extract::{InConversation, Json};
use super::super::middleware::IDEMPOTENCY_KEY;
use super::{patience, seconds, to_its_end, with_loss};
use crate::engine::Answered;
use crate::provider::CommandRequest;
use crate::service::{Execute, ExecuteError, Executed, Outcome};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;
use utoipa::ToSchema;

/// A command to run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewExecute {
    /// What the sandbox's shell is given.
    command: String,
    /// Where it runs; the sandbox's own working directory otherwise.
    #[serde(default)]
    working_directory: Option<String>,
    /// Further environment variables.
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// After this long it is killed, whole seconds (1 to 86,400; 60).
    #[serde(default = "a_minute")]
    timeout_seconds: u32,
    /// How long to wait for a sandbox, seconds (0 to 86,400); as configured if it is left out.
    #[serde(default)]
    patience_seconds: Option<f64>,
    /// In which turn; if it is left out, in the open one, or in one of its own.
    #[serde(default)]
    turn: Option<u32>,
    /// The class of sandbox for a turn of its own; the default one if it is left out.
    #[serde(default)]
    class: Option<String>,
}

fn a_minute() -> u32 {
    60
}

/// How an execute ended. A full pool is `unavailable`: a normal result, that an agent can read.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(crate) enum ExecuteOutcome {
    /// It ran to its end.
    Completed {
        /// The shell's exit code.
        exit_code: i32,
        /// Standard output and standard error, as they came.
        output: String,
        /// Whether its exit code (137) says that it was killed, most likely for its memory.
        killed_for_memory: bool,
    },
    /// It was stopped at its time limit.
    TimedOut,
    /// The sandbox died under it; its files are lost.
    SandboxDied,
    /// There was no sandbox to be had, or nobody knows what came of it.
    Unavailable {
        /// Why.
        reason: String,
        /// When asking again makes sense, seconds; null if that cannot be told.
        retry_after_seconds: Option<f64>,
    },
}

/// The answer to an execute.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExecuteAnswer {
    /// Its number within the conversation; null if it was never let go.
    execute: Option<u32>,
    /// The turn that it ran in.
    turn: u32,
    /// How it ended.
    result: ExecuteOutcome,
    /// How long a sandbox was waited for.
    waited_seconds: f64,
    /// How long it ran.
    ran_seconds: f64,
    /// Why the files of earlier turns are gone; null if they are not, or it was told before.
    files_lost: Option<String>,
}

impl From<Executed> for ExecuteAnswer {
    fn from(it: Executed) -> Self {
        Self {
            execute: it.execute,
            turn: it.turn,
            result: match it.outcome {
                Outcome::Completed { exit_code, output, killed_for_memory } => {
                    ExecuteOutcome::Completed { exit_code, output, killed_for_memory }
                }
                Outcome::TimedOut => ExecuteOutcome::TimedOut,
                Outcome::SandboxDied => ExecuteOutcome::SandboxDied,
                Outcome::Unavailable { reason, retry_after } => ExecuteOutcome::Unavailable {
                    reason: reason.name().to_owned(),
                    retry_after_seconds: retry_after.map(seconds),
                },
            },
            waited_seconds: seconds(it.waited),
            ran_seconds: seconds(it.took),
            files_lost: it.files_lost.map(|reason| reason.name().to_owned()),
        }
    }
}

/// Run a command in the conversation's sandbox
#[utoipa::path(
    post,
    path = "/v1/conversations/{conversation}/execute",
    tag = "executes",
    params(("conversation" = String, Path, description = "its name")),
    request_body = NewExecute,
    responses(
        (status = 200, description = "how it ended", body = ExecuteAnswer),
        (status = 400, description = "the request makes no sense", body = ErrorBody),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 404, description = "no such conversation", body = ErrorBody),
        (status = 409, description = "something runs already, or the turn or conversation is not open", body = ErrorBody)
    )
)]
pub(crate) async fn execute(
    State(app): State<App>,
    Account(account): Account,
    InConversation(key): InConversation,
    headers: HeaderMap,
    Json(body): Json<NewExecute>,
) -> Result<axum::Json<ExecuteAnswer>, ApiError> {
    let invalid = |message: &str| ApiError::new(ErrorCode::InvalidRequest, message);
    if body.command.is_empty() || body.command.contains('\0') {
        return Err(invalid("the command is empty or holds a zero byte"));
    }
    if !(1..=86_400).contains(&body.timeout_seconds) {
        return Err(invalid("timeout_seconds is out of range").hint("from 1 to 86400"));
    }
    let execute = Execute {
        command: CommandRequest {
            command: body.command,
            working_directory: body.working_directory,
            environment: body.environment,
            timeout: Duration::from_secs(u64::from(body.timeout_seconds)),
        },
        turn: body.turn,
        class: body.class,
        patience: patience(body.patience_seconds)?,
        // Whoever may ask again must be answered the same, also after a kill.
        answered: match headers.contains_key(IDEMPOTENCY_KEY) {
            true => Answered::WhenSafe,
            false => Answered::AtOnce,
        },
    };
    let service = app.service;
    match to_its_end(async move { service.execute(account, &key, execute).await }).await? {
        Ok(executed) => Ok(axum::Json(executed.into())),
        Err(ExecuteError::Service(error)) => Err(error.into()),
        Err(ExecuteError::Rejected { detail, files_lost }) => {
            let rejected = invalid(&format!("the provider rejects the command: {detail}"));
            Err(with_loss(rejected, files_lost))
        }
    }
}

/// Cancel what is under way in the conversation, waiting or running
#[utoipa::path(
    post,
    path = "/v1/conversations/{conversation}/cancel",
    tag = "executes",
    params(("conversation" = String, Path, description = "its name")),
    responses(
        (status = 204, description = "nothing is under way any more"),
        (status = 401, description = "no valid key", body = ErrorBody),
        (status = 404, description = "no such conversation", body = ErrorBody),
        (status = 409, description = "it is closed", body = ErrorBody)
    )
)]
pub(crate) async fn cancel(
    State(app): State<App>,
    Account(account): Account,
    InConversation(key): InConversation,
) -> Result<StatusCode, ApiError> {
    app.service.cancel(account, &key).await?;
    Ok(StatusCode::NO_CONTENT)
}
