//! Keep alive: tells Daytona that a sandbox is in use. Background processes and looking at a
//! sandbox do not count as use there; only calls into it do, and this one.

use super::Daytona;
use super::client::{gone, send};
use super::probe::usable;
use super::refusal::Effect;
use crate::provider::{Alive, ProviderError, Target};
use reqwest::Method;

pub(super) async fn keep_alive(daytona: &Daytona, target: Target) -> Result<Alive, ProviderError> {
    let Some(id) = daytona.resolve(target).await? else {
        return Err(gone(&daytona.options.pool.write(target.name)));
    };
    // By id: by name this call has no effect and does not say so (v0.190.0).
    let request = daytona.request(Method::POST, &["sandbox", &id, "last-activity"]);
    match send(request, Effect::None).await {
        Ok(_) => {}
        // A missing route looks the same as a missing sandbox: what follows tells.
        Err(refused) if refused.is_not_found() => {}
        Err(refused) => return Err(refused.error),
    }
    let provider = usable(daytona, &id).await?;
    Ok(Alive { quiet: daytona.running.is_quiet(provider) })
}
