//! Carries prepare steps out, on any provider.

use super::{FileSource, PrepareSteps};
use crate::provider::{
    CommandOutcome, CommandRequest, FileContent, ProviderError, SandboxProvider,
};
use sandpool_core::ProviderId;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Lines of a failed step's output that are told.
const TOLD_LINES: usize = 5;

/// Carries the steps out in their order.
///
/// # Errors
/// [`ProviderError::Errored`] with the end of a failed step's output, or when the time is over;
/// else what the provider said.
pub(in crate::provider) async fn run(
    provider: &dyn SandboxProvider,
    sandbox: ProviderId,
    steps: &PrepareSteps,
) -> Result<(), ProviderError> {
    let limit = Duration::from_secs(u64::from(steps.timeout_seconds));
    let deadline = Instant::now() + limit;
    timeout_at(deadline, run_all(provider, sandbox, steps, deadline)).await.unwrap_or_else(|_| {
        Err(ProviderError::Errored {
            detail: format!("the prepare steps took more than {} seconds", steps.timeout_seconds),
        })
    })
}

async fn run_all(
    provider: &dyn SandboxProvider,
    sandbox: ProviderId,
    steps: &PrepareSteps,
    deadline: Instant,
) -> Result<(), ProviderError> {
    let folder = steps.working_directory.as_deref();
    let run = async |command: String, inside: Option<&str>| {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut request = CommandRequest::new(command, left);
        request.working_directory = inside.map(str::to_owned);
        succeeded(request.text(), provider.execute(sandbox, &request).await?)
    };
    if let Some(folder) = folder {
        run(format!("mkdir -p {}", quoted(folder)), None).await?;
    }
    if !steps.files.is_empty() {
        let files = contents(steps).await?;
        provider.write_files(sandbox, &files).await?;
    }
    if !steps.packages.is_empty() {
        let packages: Vec<_> = steps.packages.iter().map(|package| quoted(package)).collect();
        let pip = "python3 -m pip install --quiet --no-input --disable-pip-version-check";
        run(format!("{pip} {}", packages.join(" ")), folder).await?;
    }
    for command in &steps.commands {
        run(command.clone(), folder).await?;
    }
    Ok(())
}

async fn contents(steps: &PrepareSteps) -> Result<Vec<FileContent>, ProviderError> {
    let mut files = Vec::with_capacity(steps.files.len());
    for file in &steps.files {
        let content = match &file.source {
            FileSource::Content(text) => text.clone().into_bytes(),
            FileSource::From(path) => {
                tokio::fs::read(path).await.map_err(|error| ProviderError::Rejected {
                    detail: format!("cannot read {}: {error}", path.display()),
                })?
            }
        };
        let path = match &steps.working_directory {
            Some(folder) if !file.path.starts_with('/') => {
                format!("{}/{}", folder.trim_end_matches('/'), file.path)
            }
            _ => file.path.clone(),
        };
        files.push(FileContent { path, content });
    }
    Ok(files)
}

fn succeeded(command: &str, outcome: CommandOutcome) -> Result<(), ProviderError> {
    let detail = match outcome {
        CommandOutcome::Completed { exit_code: 0, .. } => return Ok(()),
        CommandOutcome::Completed { exit_code, output } => {
            let lines: Vec<_> = output.trim_end().lines().collect();
            let end = lines[lines.len().saturating_sub(TOLD_LINES)..].join("\n");
            format!("prepare step {command:?} ended with {exit_code}: {end}")
        }
        CommandOutcome::TimedOut => format!("prepare step {command:?} took too long"),
    };
    Err(ProviderError::Errored { detail })
}

/// The text as one word of a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_the_shell_stays_one_word() {
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's; rm -rf /"), r"'it'\''s; rm -rf /'");
    }
}
