//! The engine's hands: a provider, and what an earlier instance has left with it.

use super::operations::Hands;
use crate::metrics::Metrics;
use crate::provider::{SandboxProvider, carry_out};
use sandpool_core::{ClassId, InventoryItem, Operation, ProviderId, Reply, SandboxName, Verb};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Carries operations out at a provider.
#[derive(Debug)]
pub(crate) struct ProviderHands {
    provider: Arc<dyn SandboxProvider>,
    metrics: Arc<Metrics>,
    epoch: u32,
    /// Sandboxes that an earlier instance had decided on. A list may not show them yet, so the
    /// first inventory is completed by looking for each by its name.
    left: Mutex<Vec<(SandboxName, ClassId)>>,
}

impl ProviderHands {
    pub(crate) fn new(
        provider: Arc<dyn SandboxProvider>,
        metrics: Arc<Metrics>,
        epoch: u32,
        left: Vec<(SandboxName, ClassId)>,
    ) -> Self {
        Self { provider, metrics, epoch, left: Mutex::new(left) }
    }

    /// Adds what the list does not show. Until every name has had its answer the inventory is not
    /// complete.
    async fn complete(&self, reply: Reply) -> Reply {
        let Reply::Inventory(mut inventory) = reply else { return reply };
        if !inventory.complete {
            return Reply::Inventory(inventory);
        }
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let listed: BTreeSet<SandboxName> =
            inventory.items.iter().filter_map(|item| item.name).collect();
        for &(name, class) in left.iter().filter(|(name, _)| !listed.contains(name)) {
            match self.provider.find(name).await {
                Ok(Some(found)) => inventory.items.push(InventoryItem {
                    provider: found.provider,
                    name: Some(name),
                    class,
                    state: found.state,
                }),
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%name, %error, "cannot tell whether an earlier sandbox exists");
                    inventory.complete = false;
                    return Reply::Inventory(inventory);
                }
            }
        }
        self.left.lock().unwrap_or_else(PoisonError::into_inner).clear();
        Reply::Inventory(inventory)
    }
}

impl Hands for ProviderHands {
    fn text_of(&self, provider: ProviderId) -> Option<String> {
        self.provider.text_of(provider)
    }

    fn number_of(&self, text: &str) -> ProviderId {
        self.provider.number_of(text)
    }

    async fn carry_out(&self, operation: Operation) -> Reply {
        let began = tokio::time::Instant::now();
        let reply = carry_out(self.provider.as_ref(), self.epoch, &operation).await;
        self.metrics.provider_called(operation.verb, &reply, began.elapsed());
        if operation.verb == Verb::FindAll { self.complete(reply).await } else { reply }
    }
}
