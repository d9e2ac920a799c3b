//! Relabel: whose a sandbox is, written where a restarted server finds it.

use super::Daytona;
use super::client::{gone, send};
use super::refusal::Effect;
use super::wire::Labels;
use crate::provider::{ProviderError, Relabelling, Target};
use reqwest::Method;

pub(super) async fn relabel(
    daytona: &Daytona,
    target: Target,
    new: Relabelling,
) -> Result<(), ProviderError> {
    let Some(id) = daytona.resolve(target).await? else {
        return Err(gone(&daytona.options.pool.write(target.name)));
    };
    let class = &daytona.template(new.class)?.class;
    // The call replaces every label, so every label is sent.
    let labels = daytona.options.pool.labels(new.epoch, class, new.conversation);
    let request =
        daytona.request(Method::PUT, &["sandbox", &id, "labels"]).json(&Labels { labels });
    match send(request, Effect::Change).await {
        Ok(_) => Ok(()),
        Err(refused) if refused.is_not_found() && daytona.get(&id).await?.is_none() => {
            daytona.forget(&id);
            Err(gone(&id))
        }
        Err(refused) => Err(refused.error),
    }
}
