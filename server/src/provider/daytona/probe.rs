//! Probe: what the API says, and whether anything in the sandbox answers. Both are needed: one
//! whose inside was killed is shown as started for minutes (daytonaio/daytona#5140).

use super::Daytona;
use super::client::gone;
use super::execute::answers;
use crate::provider::{Alive, ProviderError, Target};
use sandpool_core::{FoundState, ProviderId};

pub(super) async fn probe(daytona: &Daytona, target: Target) -> Result<Alive, ProviderError> {
    let Some(id) = daytona.resolve(target).await? else {
        return Err(gone(&daytona.options.pool.write(target.name)));
    };
    let provider = usable(daytona, &id).await?;
    let nothing_runs = answers(daytona, provider).await?;
    Ok(Alive { quiet: nothing_runs && daytona.running.is_quiet(provider) })
}

/// The sandbox's number, if the API says that it is started.
pub(super) async fn usable(daytona: &Daytona, id: &str) -> Result<ProviderId, ProviderError> {
    let Some(sandbox) = daytona.get(id).await? else {
        daytona.forget(id);
        return Err(gone(id));
    };
    match sandbox.state.found() {
        Some(FoundState::Running) => Ok(daytona.meet(&sandbox)),
        Some(FoundState::Starting) => {
            Err(ProviderError::Conflict { detail: format!("the sandbox is {:?}", sandbox.state) })
        }
        _ => Err(ProviderError::Gone { detail: sandbox.failed() }),
    }
}
