//! `/v1/conversations/{conversation}/execute`.

use super::super::app::App;
use super::super::auth::Account;
use super::super::error::{ApiError, ErrorBody, ErrorCode};
use super::super::extract::{InConversation, Json};
use super::super::middleware::IDEMPOTENCY_KEY;
use super::{execute_stream, patience, seconds, to_its_end, with_loss};
use crate::engine::Answered;
use crate::provider::{CommandRequest, Language, OutputSink, Run};
use crate::service::{Execute, ExecuteError, Executed, Outcome};
use axum::extract::State;
use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;
use utoipa::ToSchema;

/// What to run: a command, or code.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewExecute {
    /// What the sandbox's shell is given; either this or `code`.
    #[serde(default)]
    command: Option<String>,
    /// What an interpreter is given; wants `language`.
    #[serde(default)]
    code: Option<String>,
    /// What the code is in.
    #[serde(default)]
    language: Option<CodeLanguage>,
    /// Where the command runs; the sandbox's own working directory otherwise. Not for code.
    #[serde(default)]
    working_directory: Option<String>,
    /// Further environment variables.
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// After this long it is killed, whole seconds (1 to 86,400; 60).
    #[serde(default = "a_minute")]
    #[schema(minimum = 1, maximum = 86_400)]
    timeout_seconds: u32,
    /// How long to wait for a sandbox, seconds (0 to 86,400); as configured if it is left out.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 86_400)]
    patience_seconds: Option<f64>,
    /// In which turn; if it is left out, in the open one, or in one of its own.
    #[serde(default)]
    turn: Option<u32>,
    /// The class of sandbox for a turn of its own; the default one if it is left out.
    #[serde(default)]
    class: Option<String>,
}

/// What code can be in.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CodeLanguage {
    /// Python 3.
    Python,
    /// JavaScript, on Node.
    JavaScript,
    /// TypeScript, on Node.
    TypeScript,
}

impl NewExecute {
    /// What is run, or what is wrong with the request.
    fn into_command(self) -> Result<CommandRequest, ApiError> {
        let run = match (self.command, self.code, self.language) {
            (Some(command), None, None) => Run::Command(command),
            (None, Some(code), Some(language)) => {
                if self.working_directory.is_some() {
                    return Err(invalid("code runs in the sandbox's own working directory")
                        .hint("leave working_directory out, or change it in the code"));
                }
                let language = match language {
                    CodeLanguage::Python => Language::Python,
                    CodeLanguage::JavaScript => Language::JavaScript,
                    CodeLanguage::TypeScript => Language::TypeScript,
                };
                Run::Code { language, code }
            }
            _ => {
                return Err(invalid("neither a command nor code in a language")
                    .hint("either \"command\", or \"code\" and \"language\""));
            }
        };
        let command = CommandRequest {
            run,
            working_directory: self.working_directory,
            environment: self.environment,
            timeout: Duration::from_secs(u64::from(self.timeout_seconds)),
        };
        if command.text().trim().is_empty() || command.text().contains('\0') {
            return Err(invalid("there is nothing to run, or it holds a zero byte"));
        }
        if !(1..=86_400).contains(&self.timeout_seconds) {
            return Err(invalid("timeout_seconds is out of range").hint("from 1 to 86400"));
        }
        Ok(command)
    }
}

fn invalid(message: &str) -> ApiError {
    ApiError::new(ErrorCode::InvalidRequest, message)
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

/// Run a command or code in the conversation's sandbox
///
/// With `Accept: text/event-stream` the output comes as it is written: events `waiting` (why, and
/// how many are before it), `output` (`{"text": ...}`), and at the end `result` with the answer, or
/// `error` with an error's body. A streamed execute takes no idempotency key.
#[utoipa::path(
    post,
    path = "/v1/conversations/{conversation}/execute",
    tag = "executes",
    params(("conversation" = String, Path, description = "its name")),
    request_body = NewExecute,
    responses(
        (status = 200, description = "how it ended", content(
            (ExecuteAnswer = "application/json"),
            (String = "text/event-stream")
        )),
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
) -> Result<Response, ApiError> {
    let is_keyed = headers.contains_key(IDEMPOTENCY_KEY);
    let is_stream = headers
        .get(ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.contains("text/event-stream"));
    let (turn, class) = (body.turn, body.class.clone());
    let patience = patience(body.patience_seconds)?;
    let mut execute = Execute {
        command: body.into_command()?,
        turn,
        class,
        patience,
        // Whoever may ask again must be answered the same, also after a kill.
        answered: if is_keyed { Answered::WhenSafe } else { Answered::AtOnce },
        output: None,
    };
    if !is_stream {
        let service = app.service;
        let done = to_its_end(async move { service.execute(account, &key, execute).await }).await?;
        return Ok(axum::Json(told(done)?).into_response());
    }
    if is_keyed {
        return Err(invalid("a streamed execute takes no idempotency key")
            .hint("an answer is kept as a whole; ask without `Accept: text/event-stream`"));
    }
    let (output, parts) = OutputSink::new();
    execute.output = Some(output);
    let (service, conversation) = (app.service.clone(), key.clone());
    let done = tokio::spawn(async move { service.execute(account, &conversation, execute).await });
    execute_stream::answer(app.service, account, key, parts, done).await
}

/// The answer, or the error that stands for it.
pub(super) fn told(done: Result<Executed, ExecuteError>) -> Result<ExecuteAnswer, ApiError> {
    match done {
        Ok(executed) => Ok(executed.into()),
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
