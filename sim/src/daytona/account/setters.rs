//! What can be changed about a sandbox without changing its state.

use super::Account;
use super::answer::{Outcome, Refused};
use super::call::Interval;
use super::create::Minutes;
use super::credentials::Identity;
use super::validation::check_networks;
use sandpool_core::ProviderId;
use serde_json::{Value, json};

impl Account {
    /// The labels are replaced as a whole, and not looked at: whatever is there is stored.
    pub(super) fn set_labels(
        &mut self,
        identity: &Identity,
        key: &str,
        body: &Value,
    ) -> Result<Outcome, Refused> {
        let id = self.find(identity, key)?;
        let labels = body.get("labels").cloned().unwrap_or(Value::Null);
        if let Some(row) = self.rows.get_mut(&id) {
            row.labels = labels.clone();
        }
        self.remember(id, self.now);
        Ok(Outcome::ok(json!({ "labels": labels })))
    }

    pub(super) fn set_interval(
        &mut self,
        identity: &Identity,
        key: &str,
        interval: Interval,
        minutes: &str,
    ) -> Result<Outcome, Refused> {
        let id = self.find(identity, key)?;
        // The path is read as a number, and what is not a whole one breaks at the database.
        let number = minutes.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let number = number.ok_or_else(Refused::unexpected)?;
        match interval {
            Interval::AutoStop if number < 0.0 => {
                return Err(Refused::bad("Auto-stop interval must be non-negative"));
            }
            Interval::AutoArchive if number < 0.0 => {
                return Err(Refused::bad("Auto-archive interval must be non-negative"));
            }
            Interval::Ttl if number < 0.0 => {
                return Err(Refused::bad("TTL must be non-negative"));
            }
            _ => {}
        }
        if number.fract() != 0.0 {
            return Err(Refused::unexpected());
        }
        let cap = i64::from(self.settings.max_auto_archive_minutes);
        let whole = number as i64;
        let now = self.now;
        if let Some(row) = self.rows.get_mut(&id) {
            match interval {
                Interval::AutoStop => row.auto_stop = whole,
                Interval::AutoArchive => {
                    row.auto_archive = if whole == 0 { cap } else { whole.min(cap) };
                }
                Interval::AutoDelete => row.auto_delete = whole,
                Interval::Ttl => (row.ttl, row.ttl_from) = (whole, now),
            }
        }
        self.apply_lifetimes(id);
        self.settle(now);
        self.shown(201, id, key)
    }

    /// Tells the provider the intervals that the row has.
    fn apply_lifetimes(&mut self, id: ProviderId) {
        let Some(row) = self.rows.get(&id) else { return };
        let minutes = Minutes {
            auto_stop: row.auto_stop as f64,
            auto_archive: row.auto_archive as f64,
            auto_delete: row.auto_delete as f64,
            ttl: row.ttl as f64,
        };
        let from = row.ttl_from;
        self.cloud.set_lifetimes(self.now, id, minutes.lifetimes(), from);
        self.remember(id, self.now);
    }

    pub(super) fn set_public(
        &mut self,
        identity: &Identity,
        key: &str,
        text: &str,
    ) -> Result<Outcome, Refused> {
        let id = self.find(identity, key)?;
        if let Some(row) = self.rows.get_mut(&id) {
            row.public = text == "true";
        }
        self.remember(id, self.now);
        self.shown(201, id, key)
    }

    pub(super) fn set_network(
        &mut self,
        identity: &Identity,
        key: &str,
        body: &Value,
    ) -> Result<Outcome, Refused> {
        let id = self.find(identity, key)?;
        let list = |field: &str| body.get(field).and_then(Value::as_str).map(str::to_owned);
        let (networks, domains) = (list("networkAllowList"), list("domainAllowList"));
        if let Some(networks) = &networks {
            check_networks(networks)?;
        }
        let block = body.get("networkBlockAll").and_then(Value::as_bool);
        if let Some(row) = self.rows.get_mut(&id) {
            row.network_block_all = block.unwrap_or(row.network_block_all);
            row.network_allow_list = networks.or_else(|| row.network_allow_list.take());
            row.domain_allow_list = domains.or_else(|| row.domain_allow_list.take());
        }
        self.remember(id, self.now);
        self.shown(201, id, key)
    }

    /// Takes an id alone: by name it is answered in the same way and does nothing.
    pub(super) fn last_activity(
        &mut self,
        identity: &Identity,
        key: &str,
    ) -> Result<Outcome, Refused> {
        let id = self.find(identity, key)?;
        if self.rows.get(&id).is_some_and(|row| row.id.to_string() == key) {
            self.cloud.note_activity(self.now, id);
            self.remember(id, self.now);
        }
        Ok(Outcome::Answer { status: 201, body: None })
    }
}
