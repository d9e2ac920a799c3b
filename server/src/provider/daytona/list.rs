//! The inventory: every page of the list, and then each sandbox by its id.
//!
//! The list is a search index that runs seconds behind: it shows deleted sandboxes as started and
//! leaves new ones out (daytonaio/daytona#5138). What it shows is therefore confirmed one by one.
//! What it leaves out cannot be: absence is for the scheduler to judge.

use super::Daytona;
use super::client::{read_json, send};
use super::refusal::Effect;
use super::wire::{Page, Sandbox};
use crate::provider::ProviderError;
use futures_util::{StreamExt, stream};
use reqwest::Method;
use sandpool_core::{ClassId, Inventory, InventoryItem};
use std::collections::BTreeMap;

/// The most that the API gives at once (published API description v0.205.1).
const PAGE: &str = "200";
/// Pages that are read at most: a list that never ends is not complete.
const MOST_PAGES: usize = 500;
/// Sandboxes that are confirmed at once.
const AT_ONCE: usize = 8;

pub(super) async fn find_all(daytona: &Daytona) -> Result<Inventory, ProviderError> {
    let (listed, mut complete) = list(daytona).await?;
    let mut confirmed =
        stream::iter(listed.into_values().map(
            async |listed| match daytona.get(&listed.id).await {
                Ok(seen) => (seen, true),
                Err(_) => (Some(listed), false),
            },
        ))
        .buffered(AT_ONCE);
    let mut items = Vec::new();
    while let Some((sandbox, is_confirmed)) = confirmed.next().await {
        complete &= is_confirmed;
        let Some(sandbox) = sandbox else { continue };
        let Some(state) = sandbox.state.found() else { continue };
        items.push(InventoryItem {
            provider: daytona.meet(&sandbox),
            name: daytona.options.pool.read(&sandbox.name),
            class: class_of(daytona, &sandbox),
            state,
        });
    }
    Ok(Inventory { complete, items })
}

/// By id: a sandbox that moves between pages while they are read comes twice. Only a first page
/// that fails is an error; what was read before a later one failed is still worth knowing.
async fn list(daytona: &Daytona) -> Result<(BTreeMap<String, Sandbox>, bool), ProviderError> {
    let labels =
        serde_json::to_string(&daytona.options.pool.selector()).expect("a map of texts is JSON");
    let mut listed = BTreeMap::new();
    let mut cursor: Option<String> = None;
    for page_number in 0..MOST_PAGES {
        // By creation: the default order is by last activity, which changes under the reader.
        let mut query =
            vec![("limit", PAGE), ("sort", "createdAt"), ("order", "asc"), ("labels", &labels)];
        if let Some(cursor) = &cursor {
            query.push(("cursor", cursor));
        }
        let request = daytona.request(Method::GET, &["sandbox"]).query(&query);
        let page: Result<Page, ProviderError> = match send(request, Effect::None).await {
            Ok(response) => read_json(response, Effect::None).await,
            Err(refused) => Err(refused.error),
        };
        let page = match page {
            Ok(page) => page,
            Err(error) if page_number == 0 => return Err(error),
            Err(_) => return Ok((listed, false)),
        };
        // The filter is the server's; that nothing foreign is touched is ours to make sure.
        let ours = page.items.into_iter().filter(|sandbox| sandbox.bears(&daytona.options.pool));
        listed.extend(ours.map(|sandbox| (sandbox.id.clone(), sandbox)));
        match page.next_cursor {
            None => return Ok((listed, true)),
            // A cursor that leads to itself would be followed for ever.
            next if next == cursor => return Ok((listed, false)),
            next => cursor = next,
        }
    }
    Ok((listed, false))
}

fn class_of(daytona: &Daytona, sandbox: &Sandbox) -> ClassId {
    let name = sandbox.label("class");
    let place =
        daytona.options.templates.iter().position(|template| Some(template.class.as_str()) == name);
    ClassId(place.and_then(|place| u16::try_from(place).ok()).unwrap_or(0))
}
