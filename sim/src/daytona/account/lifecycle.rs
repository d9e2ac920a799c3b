//! Starts, stops, deletes and their kind: which state allows what, and the text where it does not.

use super::answer::{Outcome, Refused, Ticket};
use super::create::{WAIT, text};
use super::credentials::Identity;
use super::quota_text::{check_largest, full};
use super::validation::check_resize;
use super::{Account, Uuid};
use crate::daytona::cloud::{Deny, Desired, Seen};
use sandpool_core::{Dimension, ProviderId, Resources, Time};
use serde_json::Value;

/// What the toolbox needs to know of a sandbox before it lets a request through.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolboxAccess {
    /// The sandbox at the provider.
    pub provider: ProviderId,
    /// Its id, as the API shows it.
    pub id: Uuid,
    /// Whether commands can run in it.
    pub is_started: bool,
    /// How often what ran in it has come to its end.
    pub stops: u32,
    /// The state that answers show, by Daytona's word for it.
    pub state: &'static str,
    /// Its environment, as it was given.
    pub env: Value,
    /// Whether its files are there or come back: not once it is being deleted.
    pub exists: bool,
}

impl Account {
    /// What the toolbox needs to know of a sandbox, by id or name; `None` if there is none.
    pub fn toolbox_access(&mut self, now: Time, key: &str) -> Option<ToolboxAccess> {
        self.advance(now);
        let id = self.lookup(key)?;
        let row = self.rows.get(&id)?;
        let seen = self.cloud.see(id)?;
        Some(ToolboxAccess {
            provider: id,
            id: row.id,
            is_started: seen.is_started,
            stops: seen.stops,
            state: seen.state,
            env: row.env.clone(),
            exists: seen.desired != Desired::Destroyed,
        })
    }

    /// Whether a bearer's secret may use the toolboxes of this account.
    #[must_use]
    pub fn may_use_toolbox(&self, secret: &str) -> bool {
        self.credentials.opens_sandboxes(secret)
    }

    /// A command begins in a sandbox: its auto-stop keeps away until it ends.
    pub fn command_begun(&mut self, now: Time, provider: ProviderId) {
        self.advance(now);
        self.cloud.command_begun(now, provider);
    }

    /// A command has ended.
    pub fn command_ended(&mut self, now: Time, provider: ProviderId) {
        self.advance(now);
        self.cloud.command_ended(now, provider);
    }

    /// Somebody uses a sandbox: its auto-stop counts from now.
    pub fn note_activity(&mut self, now: Time, provider: ProviderId) {
        self.advance(now);
        self.cloud.note_activity(now, provider);
        self.remember(provider, now);
    }

    pub(super) fn start(&mut self, identity: &Identity, key: &str) -> Result<Outcome, Refused> {
        let id = self.find(identity, key)?;
        let before = self.seen(id, key)?;
        self.cloud.start(self.now, id).map_err(|deny| self.refusal(deny))?;
        self.settle(self.now);
        if matches!(before.stored, "started" | "archived") {
            // There is nothing to wait for, or it would take too long: the caller has to look.
            return self.shown(200, id, key);
        }
        Ok(self.wait_for(id, key))
    }

    pub(super) fn stop(&mut self, identity: &Identity, key: &str) -> Result<Outcome, Refused> {
        let id = self.find(identity, key)?;
        self.cloud.halt_over_api(self.now, id).map_err(|deny| self.refusal(deny))?;
        self.settle_showing(id, key)
    }

    pub(super) fn delete(&mut self, identity: &Identity, key: &str) -> Result<Outcome, Refused> {
        let id = self.find(identity, key)?;
        // A delete that takes no time is answered with what it would have shown.
        let mut view = self.view_value(id).ok_or_else(|| Refused::not_found(key))?;
        self.cloud.delete_over_api(self.now, id).map_err(|deny| self.refusal(deny))?;
        self.settle(self.now);
        if let Some(shown) = self.view_value(id) {
            view = shown;
        } else if let Some(object) = view.as_object_mut() {
            let name = text(&Value::Object(object.clone()), "name").unwrap_or_default().to_owned();
            let instant = self.settings.instant(self.now);
            object.insert("name".to_owned(), format!("DESTROYED_{name}_{instant}").into());
            object.insert("state".to_owned(), "destroying".into());
            object.insert("desiredState".to_owned(), "destroyed".into());
        }
        Ok(Outcome::ok(view))
    }

    pub(super) fn archive(&mut self, identity: &Identity, key: &str) -> Result<Outcome, Refused> {
        let id = self.find(identity, key)?;
        self.cloud.archive(self.now, id).map_err(|deny| self.refusal(deny))?;
        self.settle_showing(id, key)
    }

    pub(super) fn recover(
        &mut self,
        identity: &Identity,
        key: &str,
        skip_start: bool,
    ) -> Result<Outcome, Refused> {
        let id = self.find(identity, key)?;
        self.cloud.recover(self.now, id, skip_start).map_err(|deny| self.refusal(deny))?;
        self.settle(self.now);
        if skip_start { self.shown(200, id, key) } else { Ok(self.wait_for(id, key)) }
    }

    pub(super) fn resize(
        &mut self,
        identity: &Identity,
        key: &str,
        body: &Value,
    ) -> Result<Outcome, Refused> {
        if !self.settings.resize {
            return Err(Refused::because(404, format!("Cannot POST /api/sandbox/{key}/resize")));
        }
        check_resize(body)?;
        let id = self.find(identity, key)?;
        let old = self.seen(id, key)?.size;
        let amount =
            |field: &str, old: i64| body.get(field).and_then(Value::as_f64).unwrap_or(old as f64);
        let cpu = amount("cpu", old.cpu_milli / 1000);
        let memory = amount("memory", old.memory_mb / 1024);
        let disk = amount("disk", old.disk_mb / 1024);
        let size = Resources::of_sandbox(memory, cpu, disk);
        let disk_named = body.get("disk").is_some_and(|disk| !disk.is_null());
        self.cloud.check_resize(id, size, disk_named).map_err(|deny| self.refusal(deny))?;
        self.not_suspended()?;
        check_largest(&self.settings, cpu, memory, disk)?;
        self.cloud.resize(self.now, id, size, disk_named).map_err(|deny| self.refusal(deny))?;
        self.settle_showing(id, key)
    }

    /// What containers cannot do.
    pub(super) fn unsupported(
        &mut self,
        identity: &Identity,
        key: &str,
        what: &str,
    ) -> Result<Outcome, Refused> {
        self.find(identity, key)?;
        Err(Refused::because(422, format!("{what} is not supported for this sandbox")))
    }

    /// A suspended organization may not grow; what it has goes on, starts and stops.
    pub(super) fn not_suspended(&self) -> Result<(), Refused> {
        match &self.suspended {
            None => Ok(()),
            Some(reason) => {
                Err(Refused::because(403, format!("Organization is suspended: {reason}")))
            }
        }
    }

    fn settle_showing(&mut self, id: ProviderId, key: &str) -> Result<Outcome, Refused> {
        self.settle(self.now);
        self.shown(200, id, key)
    }

    fn wait_for(&self, id: ProviderId, key: &str) -> Outcome {
        let until = self.now.plus(WAIT);
        Outcome::Wait(Ticket { sandbox: id, until, key: key.to_owned(), view: None })
    }

    pub(super) fn seen(&self, id: ProviderId, key: &str) -> Result<Seen, Refused> {
        self.cloud.see(id).ok_or_else(|| Refused::not_found(key))
    }

    /// The provider's refusal in the API's words.
    fn refusal(&self, deny: Deny) -> Refused {
        let text = match deny {
            Deny::InProgress => {
                return Refused::because(409, "Sandbox state change in progress");
            }
            Deny::Full(dimension) => return full(dimension, self.cloud.quota()),
            Deny::Errored => "Sandbox is in an errored state",
            Deny::NotStoppable => "Sandbox is not in a stoppable state",
            Deny::NotStopped => "Sandbox is not stopped",
            Deny::Ephemeral => "Ephemeral sandboxes cannot be archived",
            Deny::NotValid => "Sandbox is not in valid state",
            Deny::NotRecoverable => "Sandbox is not in a recoverable state",
            Deny::NothingChanged => {
                "No resource changes specified - sandbox is already at the desired configuration"
            }
            Deny::DiskDecreased => "Sandbox disk size cannot be decreased",
            Deny::DiskWhileRunning => "Disk resize can only be performed on a stopped sandbox",
            Deny::ShrunkWhileRunning(Dimension::Cpu) => {
                "Sandbox must be in stopped state to decrease the number of CPU cores"
            }
            Deny::ShrunkWhileRunning(_) => "Sandbox must be in stopped state to decrease memory",
        };
        Refused::bad(text)
    }
}
