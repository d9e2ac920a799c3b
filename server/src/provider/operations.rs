//! One of the scheduler's operations as one call to the provider.

use super::{ProviderError, Relabelling, SandboxProvider, Target};
use sandpool_core::{Operation, Reply, Verb};

/// Carries the operation out and gives the provider's answer. `epoch` is the running instance's.
pub async fn carry_out(provider: &dyn SandboxProvider, epoch: u32, operation: &Operation) -> Reply {
    let replied = reply_to(provider, epoch, operation).await;
    replied.unwrap_or_else(|error| {
        tracing::debug!(verb = operation.verb.name(), name = %operation.name, %error, "the provider did not do it");
        error.reply()
    })
}

async fn reply_to(
    provider: &dyn SandboxProvider,
    epoch: u32,
    operation: &Operation,
) -> Result<Reply, ProviderError> {
    let target = Target { provider: operation.provider, name: operation.name };
    Ok(match operation.verb {
        Verb::Create => {
            Reply::Created { provider: provider.create(operation.name, operation.class).await? }
        }
        Verb::Prepare => {
            provider.prepare(target, operation.class).await?;
            Reply::Prepared
        }
        Verb::Destroy => {
            provider.destroy(target).await?;
            Reply::Destroyed
        }
        Verb::Probe => Reply::Alive { quiet: provider.probe(target).await?.quiet },
        Verb::KeepAlive => Reply::Alive { quiet: provider.keep_alive(target).await?.quiet },
        Verb::Find => match provider.find(operation.name).await? {
            Some(found) => Reply::Found { provider: found.provider, state: found.state },
            None => Reply::Absent,
        },
        Verb::FindAll => Reply::Inventory(provider.find_all().await?),
        Verb::Relabel => {
            let labels =
                Relabelling { epoch, class: operation.class, conversation: operation.conversation };
            provider.relabel(target, labels).await?;
            Reply::Relabelled
        }
    })
}
