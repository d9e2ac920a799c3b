//! Find: one sandbox by its unique name.

use super::Daytona;
use crate::provider::{Found, ProviderError};
use sandpool_core::SandboxName;

pub(super) async fn find(
    daytona: &Daytona,
    name: SandboxName,
) -> Result<Option<Found>, ProviderError> {
    let text = daytona.options.pool.write(name);
    let Some(sandbox) = daytona.get(&text).await? else { return Ok(None) };
    if !sandbox.bears(&daytona.options.pool) {
        tracing::warn!(name = text, "a sandbox has a name of this pool but not its labels");
        return Ok(None);
    }
    let provider = daytona.meet(&sandbox);
    Ok(sandbox.state.found().map(|state| Found { provider, state }))
}
