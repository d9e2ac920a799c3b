//! The old list by page numbers, which newer clients do not use any more.

use super::Account;
use super::answer::{Outcome, Refused};
use super::credentials::Identity;
use super::list::{Filter, Query};
use super::view::Item;
use serde_json::{Value, json};

impl Account {
    pub(super) fn list_paginated(
        &mut self,
        identity: &Identity,
        query: &[(String, String)],
    ) -> Result<Outcome, Refused> {
        let query = Query(query);
        let page = query.whole("page", 1, None)?.unwrap_or(1);
        let limit = query.limit()?;
        let filter = Filter::read(&query)?;
        let mut items: Vec<Item> = if identity.owns_sandboxes() {
            self.listed().into_iter().filter(|item| filter.keeps(item)).collect()
        } else {
            Vec::new()
        };
        items.sort_by(|a, b| (b.created_ms, &b.id).cmp(&(a.created_ms, &a.id)));
        Ok(Outcome::ok(page_of(items.into_iter().map(|item| item.json).collect(), page, limit)))
    }
}

/// One page of everything, with the counts.
pub(super) fn page_of(items: Vec<Value>, page: u64, limit: usize) -> Value {
    let total = items.len();
    let skip = usize::try_from(page - 1).unwrap_or(usize::MAX).saturating_mul(limit);
    let items: Vec<Value> = items.into_iter().skip(skip).take(limit).collect();
    json!({
        "items": items,
        "total": total,
        "page": page,
        "totalPages": total.div_ceil(limit),
    })
}
