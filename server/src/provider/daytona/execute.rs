//! Execute: a command through the sandbox's toolbox.

use super::Daytona;
use super::client::{read_json, send};
use super::probe::usable;
use super::refusal::{Effect, Refused};
use super::wire::{CodeRun, Execute, Executed};
use crate::provider::{CommandOutcome, CommandRequest, ProviderError, Run};
use reqwest::{Method, StatusCode};
use sandpool_core::ProviderId;
use std::collections::BTreeMap;
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
    let environment = marked(daytona, provider, command)?;
    let timeout_seconds = whole_seconds(command.timeout);
    let patience =
        Duration::from_secs(timeout_seconds).saturating_add(daytona.options.execute_grace);
    let route = match &command.run {
        Run::Command(_) => "execute",
        Run::Code { .. } => "code-run",
    };
    let request =
        daytona.toolbox(provider, Method::POST, &["process", route]).await?.timeout(patience);
    let request = match &command.run {
        Run::Command(text) => request.json(&Execute {
            command: text,
            cwd: command.working_directory.as_deref(),
            timeout: timeout_seconds,
            envs: environment,
        }),
        Run::Code { language, code } => request.json(&CodeRun {
            code,
            language: language.name(),
            timeout: timeout_seconds,
            envs: environment,
        }),
    };
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

/// A command's environment, with the mark.
pub(super) fn marked(
    daytona: &Daytona,
    provider: ProviderId,
    command: &CommandRequest,
) -> Result<BTreeMap<String, String>, ProviderError> {
    let mut environment = command.environment.clone();
    environment.insert(MARK.to_owned(), daytona.known_text(provider)?);
    Ok(environment)
}

/// Whether anything answers in a sandbox; the result says whether no command of ours runs there.
/// The sandbox itself is asked, so the answer holds for commands of an earlier instance too.
pub(super) async fn answers(
    daytona: &Daytona,
    provider: ProviderId,
) -> Result<bool, ProviderError> {
    let id = daytona.known_text(provider)?;
    let command = search_for(&id);
    let body = Execute {
        command: &command,
        cwd: None,
        timeout: whole_seconds(daytona.options.probe_timeout),
        envs: BTreeMap::new(),
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

/// Looks for processes that bear a sandbox's mark. It writes `search=0` when there is one, 1 when
/// there is none, 2 when there is none and some processes could not be looked into, which are then
/// not ours. Anything else: there is no grep, and only our own count is left to go by.
fn search_for(id: &str) -> String {
    format!("grep -qs '{MARK}={id}' /proc/[0-9]*/environ; echo \"search=$?\"")
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_search_finds_a_marked_process_and_not_itself() {
        let id = format!("test-{}", std::process::id());
        let search = || {
            let output = Command::new("sh").args(["-c", &search_for(&id)]).output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        assert!(["search=1", "search=2"].contains(&search().as_str()));
        let mut marked = Command::new("sleep").arg("60").env(MARK, &id).spawn().unwrap();
        let while_it_runs = search();
        marked.kill().unwrap();
        marked.wait().unwrap();
        assert_eq!(while_it_runs, "search=0");
        assert_ne!(search(), "search=0");
    }
}
