//! Execute: a command through the sandbox's toolbox.

use super::Daytona;
use super::client::{read_json, send};
use super::probe::usable;
use super::refusal::{Effect, Refused};
use super::wire::{Execute, Executed};
use crate::provider::{CommandOutcome, CommandRequest, ProviderError};
use reqwest::{Method, StatusCode};
use sandpool_core::ProviderId;
use std::time::Duration;

/// Stands in the environment of every command and of all that it starts, with the sandbox's id as
/// its value. A probe finds what still runs by it, also after a restart.
const MARK: &str = "SANDPOOL_EXECUTE";

pub(super) async fn execute(
    daytona: &Daytona,
    provider: ProviderId,
    command: &CommandRequest,
) -> Result<CommandOutcome, ProviderError> {
    let _under_way = daytona.running.begin(provider);
    let mut environment = command.environment.clone();
    environment.insert(MARK.to_owned(), daytona.known_text(provider)?);
    let timeout_seconds = whole_seconds(command.timeout);
    let body = Execute {
        command: &command.command,
        cwd: command.working_directory.as_deref(),
        timeout: timeout_seconds,
        envs: environment,
    };
    let patience =
        Duration::from_secs(timeout_seconds).saturating_add(daytona.options.execute_grace);
    let request = daytona
        .toolbox(provider, Method::POST, &["process", "execute"])
        .await?
        .timeout(patience)
        .json(&body);
    match send(request, Effect::Command).await {
        Ok(response) => {
            let executed: Executed = read_json(response, Effect::Command).await?;
            Ok(CommandOutcome::Completed { exit_code: executed.exit_code, output: executed.result })
        }
        Err(refused) if refused.status == Some(StatusCode::REQUEST_TIMEOUT) => {
            Ok(CommandOutcome::TimedOut)
        }
        Err(refused) => Err(about_the_sandbox(daytona, provider, refused).await),
    }
}

/// Whether anything answers in a sandbox; the result says whether no command of ours runs there.
/// The sandbox itself is asked, so the answer holds for commands of an earlier instance too.
pub(super) async fn answers(
    daytona: &Daytona,
    provider: ProviderId,
) -> Result<bool, ProviderError> {
    let id = daytona.known_text(provider)?;
    // 0: found. 1: not found. 2: not found, and some processes could not be looked into, which are
    // not ours. Anything else: there is no grep here, and only our own count is left to go by.
    let command = format!("grep -qs '{MARK}={id}' /proc/[0-9]*/environ; echo \"search=$?\"");
    let body = Execute {
        command: &command,
        cwd: None,
        timeout: whole_seconds(daytona.options.probe_timeout),
        envs: std::collections::BTreeMap::new(),
    };
    let request = daytona
        .toolbox(provider, Method::POST, &["process", "execute"])
        .await?
        .timeout(daytona.options.probe_timeout)
        .json(&body);
    match send(request, Effect::None).await {
        Ok(response) => {
            let executed: Executed = read_json(response, Effect::None).await?;
            Ok(executed.result.trim() != "search=0")
        }
        Err(refused) => Err(about_the_sandbox(daytona, provider, refused).await),
    }
}

/// A refusal of the toolbox in the light of what the API says of the sandbox: that a sandbox is
/// gone is believed only of the API.
pub(super) async fn about_the_sandbox(
    daytona: &Daytona,
    provider: ProviderId,
    refused: Refused,
) -> ProviderError {
    if !refused.is_about_state() && !refused.is_not_found() {
        return refused.error;
    }
    let Ok(id) = daytona.known_text(provider) else { return refused.error };
    match usable(daytona, &id).await {
        Err(error @ (ProviderError::Gone { .. } | ProviderError::Conflict { .. })) => error,
        // It was for certain not carried out; why, nobody knows yet.
        _ => ProviderError::Unavailable { detail: refused.message },
    }
}

fn whole_seconds(duration: Duration) -> u64 {
    let seconds = duration.as_secs() + u64::from(duration.subsec_nanos() > 0);
    seconds.max(1)
}
