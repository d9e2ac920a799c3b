//! Destroy: one call, then looking until the sandbox is gone.

use super::Daytona;
use super::client::send;
use super::create::longer;
use super::refusal::Effect;
use super::wire::State;
use crate::provider::{ProviderError, Target};
use reqwest::Method;
use tokio::time::{Instant, sleep};

pub(super) async fn destroy(daytona: &Daytona, target: Target) -> Result<(), ProviderError> {
    let Some(id) = daytona.resolve(target).await? else {
        // Nothing of that name is ours.
        return Ok(());
    };
    // By id, never by name: a delete renames at once, and look-ups by name go stale for 10 s.
    match send(daytona.request(Method::DELETE, &["sandbox", &id]), Effect::Change).await {
        Ok(_) => {}
        // Not believed alone, nor is a conflict: it may be our own earlier delete under way.
        Err(refused) if refused.is_not_found() => {}
        Err(refused) if matches!(refused.error, ProviderError::Conflict { .. }) => {
            match daytona.get(&id).await? {
                None => {}
                Some(sandbox) if matches!(sandbox.state, State::Destroying | State::Destroyed) => {}
                Some(_) => return Err(refused.error),
            }
        }
        Err(refused) => return Err(refused.error),
    }
    wait_until_gone(daytona, &id).await?;
    daytona.forget(&id);
    Ok(())
}

async fn wait_until_gone(daytona: &Daytona, id: &str) -> Result<(), ProviderError> {
    let options = &daytona.options;
    let deadline = Instant::now() + options.destroy_timeout;
    let mut pause = options.poll_first;
    loop {
        let seen = match daytona.get(id).await {
            Ok(None) => return Ok(()),
            Ok(Some(sandbox)) if sandbox.state == State::Destroyed => return Ok(()),
            Ok(Some(sandbox)) => format!("the sandbox is still {:?}", sandbox.state),
            Err(ProviderError::RateLimited { retry_after }) => {
                pause = pause.max(retry_after);
                "too many requests".to_owned()
            }
            Err(error @ ProviderError::Rejected { .. }) => return Err(error),
            Err(error) => error.to_string(),
        };
        if Instant::now() + pause >= deadline {
            // Until it is confirmed gone it holds its place; the scheduler asks again.
            return Err(ProviderError::Conflict { detail: seen });
        }
        sleep(pause).await;
        pause = longer(pause, options.poll_longest);
    }
}
