//! What an organization's API keeps beside the machine: names and labels as given, environments,
//! snapshots, keys, rate limits, and the order in which things are refused.
//!
//! Pure like the machine below it: time is an argument, and an answer is a value. A front over
//! HTTP only carries [`Call`]s in and [`Reply`]s out; the behaviour can be tested in virtual time.
//! The behaviour is that of Daytona's API server v0.190.0, the last open version.

mod answer;
mod call;
mod control;
mod create;
mod credentials;
mod identity;
mod lifecycle;
mod limits;
mod list;
mod paginated;
mod preview;
mod quota_text;
mod row;
mod setters;
mod settings;
mod snapshots;
#[cfg(test)]
mod tests;
mod validation;
mod view;
mod warm_pool;

pub use answer::{Outcome, Reply, Ticket};
pub use call::{Call, Caller, Interval};
pub use control::{ControlError, ToolboxFault};
pub use identity::Uuid;
pub use lifecycle::ToolboxAccess;
pub use settings::{AccountSettings, ApiLimit, ApiLimits, SnapshotSize};

use super::cloud::{Arrival, Cloud};
use super::record::Finished;
use answer::Refused;
use control::Interference;
use credentials::{Credentials, Identity};
use identity::Identities;
use limits::Limits;
use row::Row;
use sandpool_core::{Class, ProviderId, Span, Time};
use snapshots::Snapshots;
use std::collections::{BTreeMap, VecDeque};
use warm_pool::WarmPool;

/// One organization at the simulated Daytona, with everything that its API knows.
///
/// Drive it like the machine: put calls to [`Account::handle`]; jump to [`Account::next_at`] and
/// [`Account::advance`] there; ask [`Account::redeem`] for answers that wait. Time may not go back.
#[derive(Clone, Debug)]
pub struct Account {
    cloud: Cloud,
    settings: AccountSettings,
    identities: Identities,
    rows: BTreeMap<ProviderId, Row>,
    /// Who holds a name, renamed ones included.
    names: BTreeMap<String, ProviderId>,
    /// Sandboxes that are gone and that a late list still shows.
    fading: VecDeque<(Time, Row)>,
    credentials: Credentials,
    snapshots: Snapshots,
    warm: WarmPool,
    limits: Limits,
    interference: Interference,
    /// Why the organization may not create, if it may not.
    suspended: Option<String>,
    /// Images that were built before.
    images: std::collections::BTreeSet<String>,
    lists: u64,
    changes: u64,
    finished: Vec<Finished>,
    now: Time,
}

impl Account {
    /// An account without sandboxes.
    #[must_use]
    pub fn new(settings: AccountSettings) -> Self {
        let mut cloud =
            Cloud::new(&settings.profile, &[Class::default()], settings.seed, settings.replication);
        cloud.set_work_latencies(&settings.work);
        Self {
            cloud,
            identities: Identities::new(settings.seed),
            rows: BTreeMap::new(),
            names: BTreeMap::new(),
            fading: VecDeque::new(),
            credentials: Credentials::new(&settings),
            snapshots: Snapshots::new(&settings),
            warm: WarmPool::default(),
            limits: Limits::new(settings.limits),
            interference: Interference::default(),
            suspended: None,
            images: std::collections::BTreeSet::new(),
            lists: 0,
            changes: 0,
            finished: Vec::new(),
            now: Time::ZERO,
            settings,
        }
    }

    /// The provider below: the truth, for checkers.
    #[must_use]
    pub fn cloud(&self) -> &Cloud {
        &self.cloud
    }

    /// How the account was set up.
    #[must_use]
    pub fn settings(&self) -> &AccountSettings {
        &self.settings
    }

    /// Where the toolbox is served, which is known only once a port is bound.
    pub fn set_base_urls(&mut self, toolbox: String, preview: String) {
        self.settings.toolbox_url = toolbox;
        self.settings.preview_url = preview;
    }

    /// An instant as answers write it.
    #[must_use]
    pub fn instant_text(&self, now: Time) -> String {
        self.settings.iso(now)
    }

    /// When something happens next without a call; `None` if nothing ever will.
    #[must_use]
    pub fn next_at(&self) -> Option<Time> {
        let cloud = self.cloud.next_at();
        match (cloud, self.snapshots.next_at()) {
            (Some(cloud), Some(snapshot)) => Some(cloud.min(snapshot)),
            (cloud, snapshot) => cloud.or(snapshot),
        }
    }

    /// Lets everything happen that is due by `now`.
    pub fn advance(&mut self, now: Time) {
        loop {
            while let Some(at) = self.cloud.next_at().filter(|&at| at <= now) {
                self.now = self.now.max(at);
                self.cloud.step(at);
                self.settle(at);
            }
            let Some(at) = self.snapshots.next_at().filter(|&at| at <= now) else { break };
            self.snapshots.advance(at);
            self.changes += 1;
        }
        self.now = self.now.max(now);
        self.fading.retain(|&(until, _)| until > now);
    }

    /// Rises with every change that somebody may wait for.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Takes the bills of the sandboxes that went since the last call.
    pub fn take_finished(&mut self) -> std::vec::Drain<'_, Finished> {
        self.finished.drain(..)
    }

    /// Answers a call, or says for what the caller has to wait.
    pub fn handle(&mut self, now: Time, caller: &Caller<'_>, call: Call) -> Reply {
        self.advance(now);
        let (entity, arrival) = self.arrive(&call);
        let heard = match arrival {
            Arrival::Unavailable => return Reply::unheaded(Outcome::BadGateway),
            Arrival::Unheard => return Reply::unheaded(Outcome::Silence),
            Arrival::Rejected => true,
            Arrival::Served { heard, .. } => heard,
        };
        let mut headers = Vec::new();
        let outcome = match self.admit(caller, &call, &mut headers) {
            Err(refused) => refused.into_outcome(&mut headers),
            Ok(_) if arrival == Arrival::Rejected => Outcome::error(400, "Bad Request".to_owned()),
            Ok(identity) => {
                let fails = matches!(arrival, Arrival::Served { fails: true, .. });
                match self.carry_out(identity, call, entity, fails) {
                    Ok(outcome) => outcome,
                    Err(refused) => refused.into_outcome(&mut headers),
                }
            }
        };
        self.settle(self.now);
        self.warm_up();
        Reply { outcome, headers, heard }
    }

    /// The answer to a call that had to wait, once there is one.
    pub fn redeem(&mut self, now: Time, ticket: &Ticket) -> Option<Outcome> {
        self.advance(now);
        let failed = match self.cloud.see(ticket.sandbox) {
            Some(seen) if matches!(seen.stored, "error" | "build_failed") => {
                Some(seen.failure.map_or_else(String::new, |failure| failure.reason))
            }
            Some(seen) if seen.stored == "started" && !seen.pending => None,
            Some(_) if now < ticket.until => return None,
            _ => None,
        };
        if let Some(reason) = failed {
            return Some(Outcome::error(400, format!("Sandbox failed to start: {reason}")));
        }
        let view = match &ticket.view {
            // A create answers what it knew before it waited.
            Some(view) => view.clone(),
            None => match self.view_value(ticket.sandbox) {
                Some(view) => view,
                None => return Some(Outcome::not_found(&ticket.key)),
            },
        };
        Some(Outcome::Answer { status: 200, body: Some(view) })
    }

    /// Credentials and rate limits, in the order in which the real server checks them.
    fn admit(
        &mut self,
        caller: &Caller<'_>,
        call: &Call,
        headers: &mut Vec<(String, String)>,
    ) -> Result<Identity, Refused> {
        let now = self.now;
        self.limits.check_address(now, caller.address)?;
        let identity = match self.credentials.identify(caller, call) {
            Ok(identity) => identity,
            Err(refused) => {
                if refused.status() == 401 {
                    self.limits.count_failed_login(now, caller.address)?;
                }
                return Err(refused);
            }
        };
        self.limits.admit(now, caller.address, &identity, call, headers)?;
        Ok(identity)
    }

    /// What luck and interference make of a call on its way in.
    fn arrive(&mut self, call: &Call) -> (u64, Arrival) {
        let now = self.now;
        let asked = self.interference.take_arrival(call);
        let (entity, drawn) = match call {
            Call::Create { .. } => self.cloud.arrive_create(now),
            Call::List { .. } | Call::ListPaginated { .. } => (0, self.cloud.arrive_list(now)),
            call => match (call.verb(), call.key()) {
                (Some(verb), Some(key)) => {
                    let id = self.lookup(key);
                    (0, self.cloud.arrive_about(now, verb, id))
                }
                _ if self.cloud.is_reachable(now) => {
                    (0, Arrival::Served { heard: true, fails: false })
                }
                _ if self.cloud.is_mute(now) => (0, Arrival::Unheard),
                _ => (0, Arrival::Unavailable),
            },
        };
        (entity, asked.unwrap_or(drawn))
    }

    fn carry_out(
        &mut self,
        identity: Identity,
        call: Call,
        entity: u64,
        fails: bool,
    ) -> Result<Outcome, Refused> {
        if fails && !matches!(call, Call::Create { .. }) {
            return Err(Refused::unexpected());
        }
        match call {
            Call::Create { body } => self.create(&identity, &body, entity, fails),
            Call::Get { key } => self.get(&identity, &key),
            Call::List { query } => self.list(&identity, &query),
            Call::ListPaginated { query } => self.list_paginated(&identity, &query),
            Call::Start { key } => self.start(&identity, &key),
            Call::Stop { key } => self.stop(&identity, &key),
            Call::Delete { key } => self.delete(&identity, &key),
            Call::Archive { key } => self.archive(&identity, &key),
            Call::Recover { key, skip_start } => self.recover(&identity, &key, skip_start),
            Call::Resize { key, body } => self.resize(&identity, &key, &body),
            Call::Pause { key } => self.unsupported(&identity, &key, "Pausing"),
            Call::Fork { key } => self.unsupported(&identity, &key, "Forking"),
            Call::SetLabels { key, body } => self.set_labels(&identity, &key, &body),
            Call::SetInterval { key, interval, text } => {
                self.set_interval(&identity, &key, interval, &text)
            }
            Call::SetPublic { key, text } => self.set_public(&identity, &key, &text),
            Call::SetNetwork { key, body } => self.set_network(&identity, &key, &body),
            Call::LastActivity { key } => self.last_activity(&identity, &key),
            Call::PreviewUrl { key, port } => self.preview_url(&identity, &key, &port),
            Call::SignedPreviewUrl { key, port, query } => {
                self.signed_preview_url(&identity, &key, &port, &query)
            }
            Call::ToolboxUrl { key } => self.toolbox_url(&identity, &key),
            Call::Snapshots { query } => self.snapshots.list(&query, &self.settings),
            Call::Snapshot { key } => self.snapshots.get(&key, &self.settings),
            Call::CreateSnapshot { body } => {
                self.snapshots.create(self.now, &body, &self.settings, &mut self.identities)
            }
            Call::DeleteSnapshot { key } => self.snapshots.delete(self.now, &key, &self.settings),
            Call::ActivateSnapshot { key } => {
                self.snapshots.activate(self.now, &key, &self.settings)
            }
            Call::CurrentKey => self.credentials.current_key(&identity, &self.settings),
            Call::Keys => self.credentials.keys(&identity, &self.settings),
            Call::CreateKey { body } => {
                let at = self.settings.instant(self.now);
                self.credentials.create_key(&identity, &body, at, &mut self.identities)
            }
            Call::DeleteKey { name } => self.credentials.delete_key(&identity, &name),
            Call::Organizations => self.credentials.organizations(&identity, &self.settings),
            Call::Usage { organization } => self.credentials.usage(&identity, &organization),
            Call::Config => Ok(Outcome::ok(self.settings.config())),
            Call::Health => Ok(Outcome::ok(serde_json::json!({ "status": "ok" }))),
        }
    }

    /// The sandbox of an id, or else of a name.
    fn lookup(&self, key: &str) -> Option<ProviderId> {
        let by_id = Uuid::parse(key).and_then(|id| self.identities.sandbox(id));
        let id = by_id.or_else(|| self.names.get(key).copied())?;
        let seen = self.cloud.see(id)?;
        (!seen.is_hidden()).then_some(id)
    }

    /// The sandbox that a request of this organization is about.
    fn find(&self, identity: &Identity, key: &str) -> Result<ProviderId, Refused> {
        let id = if identity.owns_sandboxes() { self.lookup(key) } else { None };
        id.filter(|id| self.rows.contains_key(id)).ok_or_else(|| Refused::not_found(key))
    }

    /// Brings what the account keeps in line with what has happened at the provider.
    fn settle(&mut self, at: Time) {
        while let Some(change) = self.cloud.poll_change() {
            self.changes += 1;
            self.follow(change.provider, at);
        }
        self.finished.extend(self.cloud.take_finished());
    }

    /// Notes what a sandbox looks like now; forgets it when it is gone.
    fn follow(&mut self, id: ProviderId, at: Time) {
        let Some(row) = self.rows.get_mut(&id) else {
            self.warm.follow(id, &self.cloud);
            return;
        };
        let Some(seen) = self.cloud.see(id) else {
            let row = self.rows.remove(&id).expect("it was there");
            if self.names.get(&row.name) == Some(&id) {
                self.names.remove(&row.name);
            }
            self.identities.forget(row.id);
            let lag = self.settings.profile.list_lag;
            if lag > Span::ZERO {
                self.fading.push_back((at.plus(lag), row));
            }
            return;
        };
        if seen.is_started && row.daemon_version.is_none() {
            row.daemon_version = Some("v0.190.0");
        }
        if seen.stored == "archived" {
            row.backed_up_at = Some(at);
        }
        if let Some(build) = &row.build
            && matches!(seen.stored, "creating" | "started")
        {
            self.images.insert(build.dockerfile.clone());
        }
        if seen.desired == super::cloud::Desired::Destroyed && !row.renamed {
            // A delete frees the name the moment it is accepted.
            row.renamed = true;
            let instant = self.settings.instant(at);
            let name = format!("DESTROYED_{}_{instant}", row.name);
            if self.names.get(&row.name) == Some(&id) {
                self.names.remove(&row.name);
            }
            self.names.insert(name.clone(), id);
            row.name = name;
        }
        self.remember(id, at);
    }

    /// Keeps what lists will show of a sandbox for as long as they lag behind.
    fn remember(&mut self, id: ProviderId, at: Time) {
        let lag = self.settings.profile.list_lag;
        if lag == Span::ZERO {
            return;
        }
        let Some(seen) = self.cloud.see(id) else { return };
        let Some(row) = self.rows.get_mut(&id) else { return };
        let item = view::item(row, &seen, &self.settings);
        row.history.push_back((at, item));
        while row.history.get(1).is_some_and(|(since, _)| since.plus(lag) <= at) {
            row.history.pop_front();
        }
    }

    fn view_value(&self, id: ProviderId) -> Option<serde_json::Value> {
        let row = self.rows.get(&id)?;
        let seen = self.cloud.see(id)?;
        Some(view::sandbox(row, &seen, &self.settings))
    }

    /// The sandbox as an answer shows it.
    fn shown(&self, status: u16, id: ProviderId, key: &str) -> Result<Outcome, Refused> {
        let view = self.view_value(id).ok_or_else(|| Refused::not_found(key))?;
        Ok(Outcome::Answer { status, body: Some(view) })
    }

    fn get(&mut self, identity: &Identity, key: &str) -> Result<Outcome, Refused> {
        let id = self.find(identity, key)?;
        self.shown(200, id, key)
    }
}
