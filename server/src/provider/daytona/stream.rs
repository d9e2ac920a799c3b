//! Execute with the output as it comes: a command in a session of its own, whose logs are asked for
//! again and again.
//!
//! The toolbox's `execute` answers at the end, and following a session's logs wants a web socket. A
//! session has no time limit: it is kept here, and ends with the session.

use super::Daytona;
use super::client::{read_json, send};
use super::execute::{about_the_sandbox, execute, marked};
use super::refusal::Effect;
use super::wire::{NewSession, SessionBegun, SessionCommand, SessionExecute, SessionLogs};
use crate::provider::{CommandOutcome, CommandRequest, OutputSink, ProviderError, Run};
use reqwest::{Method, RequestBuilder};
use sandpool_core::ProviderId;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// So long is waited between two looks, from the first to the last: doubled while nothing comes.
const SOON: Duration = Duration::from_millis(20);
const LATE: Duration = Duration::from_millis(500);

/// Looks in a row that may fail before it is given up: one is not yet news of the command.
const MOST_FAILED: u32 = 5;

pub(super) async fn execute_streamed(
    daytona: &Daytona,
    provider: ProviderId,
    command: &CommandRequest,
    output: &OutputSink,
) -> Result<CommandOutcome, ProviderError> {
    let Run::Command(text) = &command.run else {
        // A session has no interpreters: the output of code comes at its end.
        let outcome = execute(daytona, provider, command).await?;
        if let CommandOutcome::Completed { output: text, .. } = &outcome
            && !text.is_empty()
        {
            output.send(text.as_str());
        }
        return Ok(outcome);
    };
    let _under_way = daytona.running.begin(provider);
    let environment = marked(daytona, provider, command)?;
    let line = line(text, command.working_directory.as_deref(), &environment);
    let session = session_name()?;
    let toolbox = Toolbox { daytona, provider };
    toolbox.post(&["process", "session"], &NewSession { session_id: &session }).await?;
    // From here on it goes with this, also when nobody waits any more.
    let ends = toolbox.request(Method::DELETE, &["process", "session", &session]).await?;
    let guard = Session { ends: Some(ends) };
    let until = Instant::now() + command.timeout;
    let body = SessionExecute { command: &line, run_async: true };
    let path = ["process", "session", session.as_str(), "exec"];
    let begun: SessionBegun =
        toolbox.ask(Method::POST, &path, Some(&body), Effect::Command).await?;
    let ended = toolbox.follow(&session, &begun.cmd_id, until, output).await;
    guard.end().await;
    ended
}

/// The toolbox of one sandbox.
struct Toolbox<'a> {
    daytona: &'a Daytona,
    provider: ProviderId,
}

impl Toolbox<'_> {
    async fn request(
        &self,
        method: Method,
        path: &[&str],
    ) -> Result<RequestBuilder, ProviderError> {
        self.daytona.toolbox(self.provider, method, path).await
    }

    async fn post(&self, path: &[&str], body: &impl Serialize) -> Result<(), ProviderError> {
        let request = self.request(Method::POST, path).await?.json(body);
        match send(request, Effect::None).await {
            Ok(_) => Ok(()),
            Err(refused) => Err(about_the_sandbox(self.daytona, self.provider, refused).await),
        }
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        body: Option<&SessionExecute<'_>>,
        effect: Effect,
    ) -> Result<T, ProviderError> {
        let mut request = self.request(method, path).await?;
        if let Some(body) = body {
            request = request.json(body);
        }
        match send(request, effect).await {
            Ok(response) => read_json(response, effect).await,
            Err(refused) => Err(about_the_sandbox(self.daytona, self.provider, refused).await),
        }
    }

    /// Passes on what comes until the command has ended or its time is over.
    async fn follow(
        &self,
        session: &str,
        id: &str,
        until: Instant,
        output: &OutputSink,
    ) -> Result<CommandOutcome, ProviderError> {
        let of_command = ["process", "session", session, "command", id];
        let of_logs = ["process", "session", session, "command", id, "logs"];
        let (mut told, mut wait, mut failed) = (0, SOON, 0);
        loop {
            // In this order: what is there once it has ended is all of it.
            let look = async {
                let command: SessionCommand =
                    self.ask(Method::GET, &of_command, None, Effect::None).await?;
                let logs: SessionLogs = self.ask(Method::GET, &of_logs, None, Effect::None).await?;
                Ok::<_, ProviderError>((command.exit_code, logs.output))
            };
            match look.await {
                Ok((exit_code, text)) => {
                    failed = 0;
                    let end = if exit_code.is_some() { text.len() } else { certain(&text) };
                    if let Some(part) = text.get(told..end).filter(|part| !part.is_empty()) {
                        output.send(part);
                        told = end;
                        wait = SOON;
                    }
                    if let Some(exit_code) = exit_code {
                        return Ok(CommandOutcome::Completed { exit_code, output: text });
                    }
                }
                Err(error @ (ProviderError::Gone { .. } | ProviderError::Conflict { .. })) => {
                    return Err(error);
                }
                Err(error) => {
                    failed += 1;
                    if failed == MOST_FAILED {
                        return Err(ProviderError::Lost { detail: error.to_string() });
                    }
                }
            }
            if Instant::now() >= until {
                return Ok(CommandOutcome::TimedOut);
            }
            tokio::time::sleep_until((Instant::now() + wait).min(until)).await;
            wait = (wait * 2).min(LATE);
        }
    }
}

/// A session that ends with this.
struct Session {
    ends: Option<RequestBuilder>,
}

impl Session {
    /// Ends it, and waits for that: what runs in it is killed.
    async fn end(mut self) {
        if let Some(ends) = self.ends.take()
            && let Err(refused) = send(ends, Effect::None).await
        {
            tracing::warn!(error = %refused.error, "a session was not ended; it ends with its sandbox");
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(ends) = self.ends.take() {
            tokio::spawn(async move { drop(send(ends, Effect::None).await) });
        }
    }
}

/// How much of a text is certain: a character of which only a part has come is shown as U+FFFD, and
/// is another one later.
fn certain(text: &str) -> usize {
    text.trim_end_matches(char::REPLACEMENT_CHARACTER).len()
}

/// One line for the session's shell: both outputs as one, in the order of writing.
fn line(command: &str, cwd: Option<&str>, environment: &BTreeMap<String, String>) -> String {
    let variables: String = environment
        .iter()
        .map(|(name, value)| format!(" {}", quoted(&format!("{name}={value}"))))
        .collect();
    let change = cwd.map(|cwd| format!("cd -- {} && ", quoted(cwd))).unwrap_or_default();
    format!("({change}exec env{variables} sh -c {}) 2>&1", quoted(command))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn session_name() -> Result<String, ProviderError> {
    let mut bytes = [0_u8; 12];
    getrandom::fill(&mut bytes)
        .map_err(|error| ProviderError::Unavailable { detail: error.to_string() })?;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("sandpool-{hex}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_keeps_what_it_is_given_as_it_is() {
        let environment = BTreeMap::from([("A".to_owned(), "it's $HOME".to_owned())]);
        let line = line("echo \"$A\"; pwd; echo late >&2", Some("/"), &environment);
        let ran = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "it's $HOME\n/\nlate\n");
    }

    #[test]
    fn a_character_that_is_cut_is_not_certain() {
        assert_eq!(certain("ab\u{fffd}"), 2);
        assert_eq!(certain("\u{fffd}b"), 4);
    }
}
