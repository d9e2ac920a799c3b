//! Snapshots: what sandboxes are made from, and their own life (Daytona v0.190.0,
//! snapshot.service.ts).

use super::answer::{Outcome, Refused};
use super::create::text;
use super::identity::{Identities, Uuid};
use super::list::Query;
use super::paginated::page_of;
use super::quota_text::check_largest;
use super::settings::{AccountSettings, SnapshotSize};
use crate::random::Distribution;
use sandpool_core::{Span, Time};
use serde_json::{Value, json};

/// One snapshot.
#[derive(Clone, Debug)]
struct Snapshot {
    id: Uuid,
    name: String,
    image: String,
    size: SnapshotSize,
    general: bool,
    state: SnapshotState,
    /// When its state changes by itself; [`Time::MAX`] is never.
    due: Time,
    created_at: Time,
    updated_at: Time,
    used_at: Option<Time>,
}

/// States of a snapshot, by Daytona's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SnapshotState {
    Pending,
    Pulling,
    Active,
    Removing,
}

impl SnapshotState {
    const fn word(self) -> &'static str {
        match self {
            SnapshotState::Pending => "pending",
            SnapshotState::Pulling => "pulling",
            SnapshotState::Active => "active",
            SnapshotState::Removing => "removing",
        }
    }
}

/// Every snapshot.
#[derive(Clone, Debug)]
pub(super) struct Snapshots {
    all: Vec<Snapshot>,
    /// How long each step of a snapshot's own making takes.
    step: Span,
}

impl Snapshots {
    pub(super) fn new(settings: &AccountSettings) -> Self {
        let mut identities = Identities::new(settings.seed ^ 0x736e_6170);
        let made = |(name, size): &(String, SnapshotSize)| Snapshot {
            id: identities.next(),
            name: name.clone(),
            image: name.clone(),
            size: *size,
            general: true,
            state: SnapshotState::Active,
            due: Time::MAX,
            created_at: Time::ZERO,
            updated_at: Time::ZERO,
            used_at: Some(Time::ZERO),
        };
        // Making a snapshot is not what schedulers do: its length need not be drawn.
        let step = match &settings.work.build {
            Distribution::Constant(seconds) => Span::from_secs_f64(*seconds),
            _ => settings.work.tick,
        };
        Self { all: settings.snapshots.iter().map(made).collect(), step }
    }

    pub(super) fn next_at(&self) -> Option<Time> {
        self.all.iter().map(|snapshot| snapshot.due).min().filter(|&due| due < Time::MAX)
    }

    pub(super) fn advance(&mut self, now: Time) {
        for snapshot in &mut self.all {
            if snapshot.due > now {
                continue;
            }
            snapshot.updated_at = now;
            (snapshot.state, snapshot.due) = match snapshot.state {
                SnapshotState::Pending => (SnapshotState::Pulling, now.plus(self.step)),
                SnapshotState::Pulling => (SnapshotState::Active, Time::MAX),
                state => (state, Time::MAX),
            };
        }
        // What was being removed is not there any more.
        self.all.retain(|snapshot| {
            !(snapshot.state == SnapshotState::Removing && snapshot.due == Time::MAX)
        });
    }

    /// The name and size of a snapshot that sandboxes can be made from, by id or name.
    pub(super) fn usable(&self, key: &str) -> Result<(String, SnapshotSize), Refused> {
        let snapshot = self.find(key).ok_or_else(|| {
            Refused::bad(format!(
                "Snapshot {key} not found. Did you add it through the Daytona Dashboard?"
            ))
        })?;
        match snapshot.state {
            SnapshotState::Active => Ok((snapshot.name.clone(), snapshot.size)),
            state => Err(Refused::bad(format!("Snapshot {key} is {}", state.word()))),
        }
    }

    fn find(&self, key: &str) -> Option<&Snapshot> {
        let id = Uuid::parse(key);
        let by_id = self.all.iter().find(|snapshot| Some(snapshot.id) == id);
        by_id.or_else(|| self.all.iter().find(|snapshot| snapshot.name == key))
    }

    pub(super) fn list(
        &self,
        query: &[(String, String)],
        settings: &AccountSettings,
    ) -> Result<Outcome, Refused> {
        let query = Query(query);
        let page = query.whole("page", 1, None)?.unwrap_or(1);
        let limit = query.limit()?;
        let sorts = ["name", "state", "lastUsedAt", "createdAt"];
        let sort = query.one("sort").unwrap_or("lastUsedAt");
        if !sorts.contains(&sort) {
            let sorts = sorts.join(", ");
            return Err(Refused::bad(format!("sort must be one of the following values: {sorts}")));
        }
        let name = query.one("name").map(str::to_lowercase);
        let mut found: Vec<&Snapshot> = self
            .all
            .iter()
            .filter(|own| name.as_ref().is_none_or(|part| own.name.to_lowercase().contains(part)))
            .collect();
        found.sort_by(|a, b| match sort {
            "name" => a.name.cmp(&b.name),
            "state" => a.state.cmp(&b.state),
            "createdAt" => a.created_at.cmp(&b.created_at),
            _ => a.used_at.cmp(&b.used_at),
        });
        if query.one("order") != Some("asc") {
            found.reverse();
        }
        let items = found.into_iter().map(|snapshot| shown(snapshot, settings)).collect();
        Ok(Outcome::ok(page_of(items, page, limit)))
    }

    pub(super) fn get(&self, key: &str, settings: &AccountSettings) -> Result<Outcome, Refused> {
        let snapshot = self
            .find(key)
            .ok_or_else(|| Refused::because(404, format!("Snapshot with name {key} not found")))?;
        Ok(Outcome::ok(shown(snapshot, settings)))
    }

    pub(super) fn create(
        &mut self,
        now: Time,
        body: &Value,
        settings: &AccountSettings,
        identities: &mut Identities,
    ) -> Result<Outcome, Refused> {
        let name = text(body, "name").ok_or_else(|| Refused::bad("name must be a string"))?;
        let well_formed = |c: char| c.is_ascii_alphanumeric() || ".:-_/".contains(c);
        if name.is_empty() || !name.chars().all(well_formed) {
            return Err(Refused::bad(
                "Invalid snapshot name format. May contain letters, digits, dots, colons, and \
                 dashes",
            ));
        }
        let built = body.get("buildInfo").is_some_and(|info| !info.is_null());
        let image = match text(body, "imageName").filter(|image| !image.is_empty()) {
            Some(image) => {
                check_image(image)?;
                image.to_owned()
            }
            None if built => String::new(),
            None => {
                return Err(Refused::bad(
                    "Must specify an image name when not using a build info entry",
                ));
            }
        };
        let amount = |field: &str, default: f64| {
            let given = body.get(field).and_then(Value::as_f64).filter(|&amount| amount > 0.0);
            given.unwrap_or(default)
        };
        let (cpu, memory, disk) = (amount("cpu", 1.0), amount("memory", 1.0), amount("disk", 3.0));
        check_largest(settings, cpu, memory, disk)?;
        if self.all.iter().any(|snapshot| snapshot.name == name) {
            return Err(Refused::because(
                409,
                format!("Snapshot with name \"{name}\" already exists for this organization"),
            ));
        }
        let snapshot = Snapshot {
            id: identities.next(),
            name: name.to_owned(),
            image,
            size: SnapshotSize {
                cpu: cpu as u32,
                memory_gib: memory as u32,
                disk_gib: disk as u32,
            },
            general: false,
            state: SnapshotState::Pending,
            due: now.plus(self.step),
            created_at: now,
            updated_at: now,
            used_at: None,
        };
        let view = shown(&snapshot, settings);
        self.all.push(snapshot);
        Ok(Outcome::ok(view))
    }

    /// Takes an id alone. Sandboxes made from it live on.
    pub(super) fn delete(
        &mut self,
        now: Time,
        key: &str,
        settings: &AccountSettings,
    ) -> Result<Outcome, Refused> {
        let Some(id) = Uuid::parse(key) else {
            return Err(if self.find(key).is_some() {
                Refused::bad("Validation failed (uuid is expected)")
            } else {
                Refused::because(404, format!("Snapshot with name {key} not found"))
            });
        };
        let step = self.step;
        let own = self.all.iter_mut().find(|snapshot| snapshot.id == id && !snapshot.general);
        let snapshot = own.ok_or_else(|| {
            Refused::because(404, format!("Snapshot with ID or name {key} not found"))
        })?;
        snapshot.state = SnapshotState::Removing;
        snapshot.updated_at = now;
        // It is named in refusals for a while before it is forgotten.
        snapshot.due = now.plus(step).plus(Span::from_secs(10));
        Ok(Outcome::ok(shown(snapshot, settings)))
    }

    /// Only what is inactive can be activated, and nothing becomes inactive here.
    pub(super) fn activate(
        &mut self,
        _now: Time,
        key: &str,
        _settings: &AccountSettings,
    ) -> Result<Outcome, Refused> {
        match self.find(key) {
            None => Err(Refused::because(404, format!("Snapshot with ID or name {key} not found"))),
            Some(snapshot) if snapshot.state == SnapshotState::Active => {
                Err(Refused::bad(format!("Snapshot {} is already active", snapshot.name)))
            }
            Some(snapshot) => Err(Refused::bad(format!(
                "Snapshot {} cannot be activated - it is in {} state",
                snapshot.name,
                snapshot.state.word()
            ))),
        }
    }
}

fn check_image(image: &str) -> Result<(), Refused> {
    if image.contains("@sha256:") {
        return Ok(());
    }
    let last = image.rsplit('/').next().unwrap_or(image);
    match last.split_once(':') {
        None => Err(Refused::bad(
            "Image name must include a tag (e.g., ubuntu:22.04) or digest (@sha256:...)",
        )),
        Some((_, "latest")) => Err(Refused::bad("Images with tag \":latest\" are not allowed")),
        Some(_) => Ok(()),
    }
}

fn shown(snapshot: &Snapshot, settings: &AccountSettings) -> Value {
    let is_made = snapshot.state >= SnapshotState::Active;
    json!({
        "id": snapshot.id.to_string(),
        "organizationId": settings.organization_id,
        "general": snapshot.general,
        "name": snapshot.name,
        "imageName": snapshot.image,
        "state": snapshot.state.word(),
        "size": is_made.then_some(0.1),
        "entrypoint": null,
        "cpu": snapshot.size.cpu,
        "gpu": 0,
        "mem": snapshot.size.memory_gib,
        "disk": snapshot.size.disk_gib,
        "errorReason": null,
        "createdAt": settings.iso(snapshot.created_at),
        "updatedAt": settings.iso(snapshot.updated_at),
        "lastUsedAt": snapshot.used_at.map(|at| settings.iso(at)),
        "regionIds": [settings.region],
        "sandboxClass": "container",
    })
}
