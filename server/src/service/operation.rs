//! What the operator asks: how the pool stands, and whether it agrees with the provider.

use super::{Service, ServiceError};
use crate::engine::PoolStatus;
use crate::provider::ProviderError;
use crate::store::ConversationKey;
use sandpool_core::{ConversationId, FoundState, Inventory, SandboxState};
use std::collections::{BTreeMap, BTreeSet};

/// How the pool stands, with the names of the open conversations.
pub(crate) struct Standing {
    pub(crate) pool: PoolStatus,
    pub(crate) names: BTreeMap<ConversationId, ConversationKey>,
}

/// Where the books and the provider's inventory disagree, at one look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// Whether the provider's list was complete: only then something can be missing.
    pub(crate) is_complete: bool,
    /// Sandboxes that the provider lists as this pool's.
    pub(crate) listed: usize,
    /// Of these, sandboxes that are not in the books: the provider's id and state. They are removed
    /// when they are seen for longer than `orphan_grace_seconds`.
    pub(crate) unknown: Vec<(String, FoundState)>,
    /// Sandboxes in use or warm that the provider does not list: their names. Each is probed when a
    /// second list misses it too.
    pub(crate) missing: Vec<String>,
    /// Creates whose answer was lost, and that are listed: their names. They are taken over.
    pub(crate) found: Vec<String>,
}

impl Service {
    pub(crate) async fn standing(&self) -> Result<Standing, ServiceError> {
        let names = self.directory.all();
        let pool = self.engine.status(names.keys().copied().collect()).await?;
        Ok(Standing { pool, names })
    }

    /// Asks the provider for its inventory and compares, without changing anything.
    pub(crate) async fn compare(&self) -> Result<Result<Comparison, ProviderError>, ServiceError> {
        let inventory = match self.provider.find_all().await {
            Ok(inventory) => inventory,
            Err(error) => return Ok(Err(error)),
        };
        // Afterwards: what the provider lists was in the books by then if it is ours.
        let standing = self.standing().await?;
        let text = |provider| self.provider.text_of(provider).unwrap_or_default();
        Ok(Ok(compare(&inventory, &standing.pool, text)))
    }
}

fn compare(
    inventory: &Inventory,
    pool: &PoolStatus,
    text: impl Fn(sandpool_core::ProviderId) -> String,
) -> Comparison {
    let names: BTreeSet<_> = pool.sandboxes.iter().map(|it| it.view.name).collect();
    let ids: BTreeSet<_> = pool.sandboxes.iter().filter_map(|it| it.view.provider).collect();
    let mut unknown = Vec::new();
    let (mut listed_names, mut listed_ids) = (BTreeSet::new(), BTreeSet::new());
    for item in &inventory.items {
        listed_ids.insert(item.provider);
        listed_names.extend(item.name);
        let is_known =
            ids.contains(&item.provider) || item.name.is_some_and(|name| names.contains(&name));
        if !is_known && item.state != FoundState::Destroying {
            unknown.push((text(item.provider), item.state));
        }
    }
    let is_listed = |view: &sandpool_core::SandboxView| {
        listed_names.contains(&view.name)
            || view.provider.is_some_and(|provider| listed_ids.contains(&provider))
    };
    let views = || pool.sandboxes.iter().map(|it| it.view);
    let missing = views()
        .filter(|view| view.state.is_leased() || view.state == SandboxState::Warm)
        .filter(|view| inventory.complete && !is_listed(view));
    let found = views().filter(|view| view.state == SandboxState::Limbo && is_listed(view));
    Comparison {
        is_complete: inventory.complete,
        listed: inventory.items.len(),
        unknown,
        missing: missing.map(|view| view.name.to_string()).collect(),
        found: found.map(|view| view.name.to_string()).collect(),
    }
}
