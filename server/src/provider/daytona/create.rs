//! Create: one call, then looking until the sandbox has started and answers.

use super::Daytona;
use super::client::{read_json, send};
use super::execute::answers;
use super::refusal::Effect;
use super::wire::{BuildInfo, CreateSandbox, Sandbox, State};
use crate::provider::{Origin, ProviderError, SandboxTemplate};
use reqwest::Method;
use sandpool_core::{ClassId, ProviderId, SandboxName};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Probes that a started sandbox must at least have left unanswered before it counts as failed: a
/// single slow one may use up the whole `silent_timeout`.
const LEAST_SILENT_PROBES: u32 = 4;

pub(super) async fn create(
    daytona: &Daytona,
    name: SandboxName,
    class: ClassId,
) -> Result<ProviderId, ProviderError> {
    let body = body(daytona, name, daytona.template(class)?);
    let request = daytona
        .request(Method::POST, &["sandbox"])
        .timeout(daytona.options.create_call_timeout)
        .json(&body);
    let response = send(request, Effect::Change).await.map_err(|refused| refused.error)?;
    let sandbox: Sandbox = read_json(response, Effect::Change).await?;
    let provider = daytona.meet(&sandbox);
    wait_until_it_answers(daytona, provider, sandbox).await?;
    Ok(provider)
}

fn body<'a>(
    daytona: &'a Daytona,
    name: SandboxName,
    template: &'a SandboxTemplate,
) -> CreateSandbox<'a> {
    let options = &daytona.options;
    let (snapshot, image) = match &template.origin {
        Origin::Default => (None, None),
        Origin::Snapshot(snapshot) => (Some(snapshot.as_str()), None),
        Origin::Image(image) => (None, Some(image)),
    };
    let sized = |amount: i64, unit: i64| {
        // Whole units, rounded up: the API takes no fractions.
        image.map(|_| u32::try_from(((amount + unit - 1) / unit).max(1)).unwrap_or(u32::MAX))
    };
    let resources = &template.resources;
    CreateSandbox {
        name: options.pool.write(name),
        labels: options.pool.labels(name.epoch, &template.class, None),
        env: &template.environment,
        snapshot,
        build_info: image.map(|image| BuildInfo { dockerfile_content: format!("FROM {image}\n") }),
        target: options.target.as_deref(),
        cpu: sized(resources.cpu_milli, 1000),
        memory: sized(resources.memory_mb, 1024),
        disk: sized(resources.disk_mb, 1024),
        auto_stop_interval: options.auto_stop_minutes.get(),
        auto_delete_interval: options.auto_delete_minutes,
    }
}

/// The answer to a create says `creating` even of a sandbox that has started
/// (daytonaio/daytona#2474): only looking tells.
async fn wait_until_it_answers(
    daytona: &Daytona,
    provider: ProviderId,
    mut sandbox: Sandbox,
) -> Result<(), ProviderError> {
    let options = &daytona.options;
    let id = sandbox.id.clone();
    let deadline = Instant::now() + options.start_timeout;
    let mut pause = options.poll_first;
    let mut silent_probes = 0;
    let mut silent_since = None;
    loop {
        match sandbox.state {
            State::Started => {
                let since = *silent_since.get_or_insert_with(Instant::now);
                match answers(daytona, provider).await {
                    Ok(_) => return Ok(()),
                    // This tells nothing about the sandbox.
                    Err(ProviderError::RateLimited { retry_after }) => {
                        pause = pause.max(retry_after);
                    }
                    Err(_) => silent_probes += 1,
                }
                // Some start without anything in them that answers, and never recover
                // (daytonaio/daytona#3425); in others it merely comes up later than the sandbox.
                if silent_probes >= LEAST_SILENT_PROBES && since.elapsed() >= options.silent_timeout
                {
                    let detail = "the sandbox started, but does not answer".to_owned();
                    return Err(ProviderError::Errored { detail });
                }
            }
            State::Error
            | State::BuildFailed
            | State::Stopped
            | State::Stopping
            | State::Archived
            | State::Archiving
            | State::Destroying
            | State::Destroyed => {
                return Err(ProviderError::Errored { detail: sandbox.failed() });
            }
            _ => {}
        }
        if Instant::now() + pause >= deadline {
            // It may start yet. The scheduler has the name to find it by.
            let detail = format!("the sandbox is still {:?}", sandbox.state);
            return Err(ProviderError::Lost { detail });
        }
        sleep(pause).await;
        pause = longer(pause, options.poll_longest);
        match daytona.get(&id).await {
            Ok(Some(seen)) => {
                daytona.meet(&seen);
                sandbox = seen;
            }
            Ok(None) => {
                let detail = "the sandbox vanished while it was starting".to_owned();
                return Err(ProviderError::Errored { detail });
            }
            // Looking is harmless: the next look may be answered.
            Err(ProviderError::RateLimited { retry_after }) => pause = pause.max(retry_after),
            Err(ProviderError::Rejected { detail }) => return Err(ProviderError::Lost { detail }),
            Err(_) => {}
        }
    }
}

/// The next pause between two looks.
pub(super) fn longer(pause: Duration, longest: Duration) -> Duration {
    (pause + pause / 4).min(longest)
}
