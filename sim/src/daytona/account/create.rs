//! Creates: what is refused, in which order, and what is made (Daytona v0.190.0,
//! sandbox.controller.ts and sandbox.service.ts).

use super::Account;
use super::answer::{Outcome, Refused, Ticket};
use super::credentials::Identity;
use super::quota_text::{check_largest, full, no_gpu};
use super::row::{Build, Row};
use super::validation::{check_create, check_networks};
use crate::daytona::cloud::{ApiCreate, Lifetimes, Recipe, RunnerState};
use sandpool_core::{ProviderId, Resources, Span};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// A create from a snapshot, and a start, wait this long for the sandbox and then answer anyway.
pub(super) const WAIT: Span = Span::from_secs(30);

impl Account {
    /// The refusals come in this order: form; resources beside a snapshot, or a snapshot beside a
    /// recipe; region; snapshot; suspension; size; quota; volumes; no machine; intervals and
    /// networks; name.
    pub(super) fn create(
        &mut self,
        identity: &Identity,
        body: &Value,
        number: u64,
        fails: bool,
    ) -> Result<Outcome, Refused> {
        check_create(body)?;
        let recipe = body.get("buildInfo").filter(|info| !info.is_null());
        let named = text(body, "snapshot").filter(|name| !name.trim().is_empty());
        let amounts = Amounts::of(body);
        if recipe.is_some() && named.is_some() {
            return Err(Refused::bad("Cannot specify a snapshot when using a build info entry"));
        }
        if recipe.is_none() && amounts.any() {
            return Err(Refused::bad("Cannot specify Sandbox resources when using a snapshot"));
        }
        let target = self.region_of(identity, body)?;
        let (snapshot, amounts) = match recipe {
            Some(_) => (None, amounts.or_default()),
            None => {
                let name = named.unwrap_or_else(|| self.settings.default_snapshot());
                let (name, size) = self.snapshots.usable(name)?;
                (Some(name), Amounts::of_snapshot(size))
            }
        };
        self.not_suspended()?;
        let auto_delete = number_or(body, "autoDeleteInterval", -1.0);
        self.check_quota(&amounts, auto_delete)?;
        check_volumes(body)?;
        if recipe.is_none() && self.cloud.runner() == RunnerState::KnownDown {
            return Err(Refused::bad("No available runners"));
        }
        let minutes = self.intervals(body)?;
        if let Some(networks) = text(body, "networkAllowList") {
            check_networks(networks)?;
        }
        let name = text(body, "name").filter(|name| !name.is_empty()).map(str::to_owned);
        if let Some(name) = name.as_ref().filter(|name| self.names.contains_key(*name)) {
            return Err(Refused::because(409, format!("Sandbox with name {name} already exists")));
        }
        // The database has whole numbers only, and finds that out last.
        let whole = [minutes.auto_stop, minutes.auto_archive, minutes.auto_delete, minutes.ttl];
        if whole.iter().any(|minutes| minutes.fract() != 0.0) || !amounts.are_whole() {
            return Err(Refused::unexpected());
        }
        let lifetimes = minutes.lifetimes();
        let size = amounts.resources();
        let now = self.now;

        let warm = if recipe.is_none() { self.take_warm(body, snapshot.as_deref()) } else { None };
        let (id, is_warm) = match warm {
            Some(id) => {
                self.cloud.claim_warm(now, id, size, lifetimes);
                (id, true)
            }
            None => {
                let dockerfile = recipe.and_then(|info| info.get("dockerfileContent"));
                let known = dockerfile
                    .and_then(Value::as_str)
                    .is_none_or(|content| self.images.contains(content));
                let recipe = if known && self.cloud.runner() != RunnerState::KnownDown {
                    Recipe::Ready
                } else {
                    Recipe::ToBuild
                };
                let create = ApiCreate { number, size, recipe, lifetimes, fails };
                (self.cloud.make(now, create), false)
            }
        };
        let row = self.row_of(id, number, body, name, snapshot, target, &minutes);
        self.names.insert(row.name.clone(), id);
        self.rows.insert(id, row);
        self.follow(id, now);
        // What the answer shows is what was known before anything happened.
        let view = self.view_value(id).ok_or_else(Refused::unexpected)?;
        if is_warm || recipe.is_some() {
            return Ok(Outcome::ok(view));
        }
        let until = now.plus(WAIT);
        Ok(Outcome::Wait(Ticket { sandbox: id, until, key: String::new(), view: Some(view) }))
    }

    /// The region of a create: the one that it names, or the organization's default.
    fn region_of(&self, identity: &Identity, body: &Value) -> Result<String, Refused> {
        let named = text(body, "target").filter(|target| !target.is_empty());
        if named.is_some_and(|target| target != self.settings.region) {
            return Err(Refused::because(404, "Region not found"));
        }
        if !identity.owns_sandboxes() {
            return Err(match named {
                None => Refused::bad(
                    "This organization does not have a default region. Please open the Daytona \
                     Dashboard to set a default region.",
                ),
                Some(target) => Refused::because(
                    403,
                    format!(
                        "Region {target} is not available to the organization for class container"
                    ),
                ),
            });
        }
        Ok(self.settings.region.clone())
    }

    fn check_quota(&mut self, amounts: &Amounts, auto_delete: f64) -> Result<(), Refused> {
        if amounts.gpu > 0.0 && auto_delete != 0.0 {
            return Err(Refused::bad(
                "GPU sandboxes must be ephemeral - set autoDeleteInterval to 0",
            ));
        }
        check_largest(&self.settings, amounts.cpu, amounts.memory, amounts.disk)?;
        if let Some(dimension) = self.cloud.short_of(self.now, amounts.resources()) {
            return Err(full(dimension, self.cloud.quota()));
        }
        if amounts.gpu > 0.0 { Err(no_gpu()) } else { Ok(()) }
    }

    /// The intervals of a create, defaults filled in.
    fn intervals(&self, body: &Value) -> Result<Minutes, Refused> {
        let cap = f64::from(self.settings.max_auto_archive_minutes);
        let auto_stop = number_or(body, "autoStopInterval", 15.0);
        if auto_stop < 0.0 {
            return Err(Refused::bad("Auto-stop interval must be non-negative"));
        }
        let auto_archive = number_or(body, "autoArchiveInterval", 10_080.0);
        if auto_archive < 0.0 {
            return Err(Refused::bad("Auto-archive interval must be non-negative"));
        }
        let auto_archive = if auto_archive == 0.0 { cap } else { auto_archive.min(cap) };
        let auto_delete = number_or(body, "autoDeleteInterval", -1.0);
        let ttl = number_or(body, "ttlMinutes", 0.0);
        if ttl < 0.0 {
            return Err(Refused::bad("TTL must be non-negative"));
        }
        Ok(Minutes { auto_stop, auto_archive, auto_delete, ttl })
    }

    #[expect(clippy::too_many_arguments, reason = "a row is made of all of them, and only here")]
    fn row_of(
        &mut self,
        id: ProviderId,
        number: u64,
        body: &Value,
        name: Option<String>,
        snapshot: Option<String>,
        target: String,
        minutes: &Minutes,
    ) -> Row {
        let uuid = self.identities.of_sandbox(id);
        let given = |field: &str| body.get(field).filter(|value| !value.is_null()).cloned();
        let owned = |field: &str| text(body, field).map(str::to_owned);
        let build = given("buildInfo").map(|info| Build {
            dockerfile: text(&info, "dockerfileContent").unwrap_or_default().to_owned(),
            context_hashes: info.get("contextHashes").cloned().unwrap_or_else(|| json!([])),
            created_at: self.now,
        });
        Row {
            id: uuid,
            number,
            name: name.unwrap_or_else(|| uuid.to_string()),
            renamed: false,
            labels: given("labels").unwrap_or_else(|| json!({})),
            env: given("env").unwrap_or_else(|| json!({})),
            user: owned("user").unwrap_or_else(|| "daytona".to_owned()),
            public: body.get("public").and_then(Value::as_bool).unwrap_or(false),
            network_block_all: body
                .get("networkBlockAll")
                .and_then(Value::as_bool)
                .unwrap_or(false),
            network_allow_list: owned("networkAllowList"),
            domain_allow_list: owned("domainAllowList"),
            snapshot,
            build,
            volumes: given("volumes").unwrap_or_else(|| json!([])),
            target,
            auto_stop: minutes.auto_stop as i64,
            auto_archive: minutes.auto_archive as i64,
            auto_delete: minutes.auto_delete as i64,
            ttl_from: self.now,
            ttl: minutes.ttl as i64,
            created_at: self.now,
            backed_up_at: None,
            daemon_version: None,
            token: self.identities.secret()[..32].to_owned(),
            history: VecDeque::new(),
        }
    }
}

/// The resources of a create, as given: vCPUs, GiB, gpus.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Amounts {
    cpu: f64,
    memory: f64,
    disk: f64,
    gpu: f64,
}

impl Amounts {
    fn of(body: &Value) -> Self {
        let amount = |field: &str| number_or(body, field, 0.0);
        Self {
            cpu: amount("cpu"),
            memory: amount("memory"),
            disk: amount("disk"),
            gpu: amount("gpu"),
        }
    }

    fn of_snapshot(size: super::SnapshotSize) -> Self {
        Self {
            cpu: f64::from(size.cpu),
            memory: f64::from(size.memory_gib),
            disk: f64::from(size.disk_gib),
            gpu: 0.0,
        }
    }

    /// Zero is as good as nothing.
    fn any(&self) -> bool {
        [self.cpu, self.memory, self.disk, self.gpu].iter().any(|&amount| amount != 0.0)
    }

    fn or_default(self) -> Self {
        let or = |amount, default| if amount == 0.0 { default } else { amount };
        Self {
            cpu: or(self.cpu, 1.0),
            memory: or(self.memory, 1.0),
            disk: or(self.disk, 3.0),
            gpu: self.gpu,
        }
    }

    fn are_whole(&self) -> bool {
        [self.cpu, self.memory, self.disk, self.gpu].iter().all(|amount| amount.fract() == 0.0)
    }

    fn resources(&self) -> Resources {
        Resources::of_sandbox(self.memory, self.cpu, self.disk)
    }
}

/// Intervals in minutes, as the API has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Minutes {
    /// Zero is never.
    pub(super) auto_stop: f64,
    pub(super) auto_archive: f64,
    /// Negative is never, zero is when it stops.
    pub(super) auto_delete: f64,
    /// Zero is never.
    pub(super) ttl: f64,
}

impl Minutes {
    pub(super) fn lifetimes(&self) -> Lifetimes {
        let span = |minutes: f64| Span::from_secs_f64(minutes * 60.0);
        let never_at = |never: bool, minutes| if never { Span::MAX } else { span(minutes) };
        Lifetimes {
            auto_stop: never_at(self.auto_stop <= 0.0, self.auto_stop),
            auto_archive: span(self.auto_archive),
            auto_delete: never_at(self.auto_delete < 0.0, self.auto_delete),
            ttl: never_at(self.ttl <= 0.0, self.ttl),
        }
    }
}

/// There are no volumes here: every one that is named is unknown.
fn check_volumes(body: &Value) -> Result<(), Refused> {
    let volumes = body.get("volumes").and_then(Value::as_array);
    let first = volumes.and_then(|volumes| volumes.first());
    match first {
        None => Ok(()),
        Some(volume) => {
            let id = volume.get("volumeId").and_then(Value::as_str).unwrap_or_default();
            Err(Refused::because(404, format!("Volume '{id}' not found")))
        }
    }
}

pub(super) fn text<'a>(body: &'a Value, field: &str) -> Option<&'a str> {
    body.get(field).and_then(Value::as_str)
}

fn number_or(body: &Value, field: &str, default: f64) -> f64 {
    body.get(field).and_then(Value::as_f64).unwrap_or(default)
}
