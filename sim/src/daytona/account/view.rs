//! A sandbox as answers show it, in full and in lists.

use super::row::Row;
use super::settings::AccountSettings;
use crate::daytona::cloud::{Desired, Seen};
use sandpool_core::Time;
use serde_json::{Map, Value, json};

/// A sandbox as a list has it, with what lists filter and sort by.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) stored: &'static str,
    pub(super) desired: Desired,
    pub(super) cpu: i64,
    pub(super) memory_gib: i64,
    pub(super) disk_gib: i64,
    pub(super) labels: Value,
    pub(super) snapshot: Option<String>,
    pub(super) public: bool,
    pub(super) recoverable: bool,
    pub(super) created_ms: i64,
    pub(super) activity_ms: i64,
    pub(super) json: Value,
}

impl Item {
    /// Whether it failed and was deleted.
    pub(super) fn is_hidden(&self) -> bool {
        self.desired == Desired::Destroyed && matches!(self.stored, "error" | "build_failed")
    }
}

pub(super) fn item(row: &Row, seen: &Seen, settings: &AccountSettings) -> Item {
    let mut object = common(row, seen, settings);
    object.insert("errorReason".to_owned(), reason(seen));
    Item {
        id: row.id.to_string(),
        name: row.name.clone(),
        stored: seen.stored,
        desired: seen.desired,
        cpu: seen.size.cpu_milli / 1000,
        memory_gib: seen.size.memory_mb / 1024,
        disk_gib: seen.size.disk_mb / 1024,
        labels: row.labels.clone(),
        snapshot: row.snapshot.clone(),
        public: row.public,
        recoverable: seen.failure.as_ref().is_some_and(|failure| failure.recoverable),
        created_ms: settings.instant(row.created_at),
        activity_ms: settings.instant(seen.last_activity),
        json: Value::Object(object),
    }
}

pub(super) fn sandbox(row: &Row, seen: &Seen, settings: &AccountSettings) -> Value {
    let mut object = common(row, seen, settings);
    let mut put = |key: &str, value: Value| {
        object.insert(key.to_owned(), value);
    };
    put("env", row.env.clone());
    put("kvm", json!(false));
    put("networkAllowList", json!(row.network_allow_list));
    put("domainAllowList", json!(row.domain_allow_list));
    put("volumes", row.volumes.clone());
    put("errorReason", reason(seen));
    if let Some(at) = row.backed_up_at {
        put("backupCreatedAt", json!(settings.iso(at)));
    }
    if let Some(build) = &row.build {
        let at = settings.iso(build.created_at);
        put(
            "buildInfo",
            json!({
                "dockerfileContent": build.dockerfile,
                "contextHashes": build.context_hashes,
                "createdAt": at,
                "updatedAt": at,
                "snapshotRef": format!("daytona-{:016x}", fingerprint(&build.dockerfile)),
            }),
        );
    }
    Value::Object(object)
}

/// What full views and list items share.
fn common(row: &Row, seen: &Seen, settings: &AccountSettings) -> Map<String, Value> {
    let backup = match (row.backed_up_at, seen.stored) {
        (_, "archiving") => "InProgress",
        (Some(_), _) => "Completed",
        (None, _) => "None",
    };
    let value = json!({
        "id": row.id.to_string(),
        "organizationId": settings.organization_id,
        "name": row.name,
        "target": row.target,
        "snapshot": row.snapshot,
        "user": row.user,
        "cpu": seen.size.cpu_milli / 1000,
        "gpu": 0,
        "memory": seen.size.memory_mb / 1024,
        "disk": seen.size.disk_mb / 1024,
        "public": row.public,
        "networkBlockAll": row.network_block_all,
        "labels": row.labels,
        "state": seen.state,
        "desiredState": desired_word(seen.desired),
        "recoverable": seen.failure.as_ref().is_some_and(|failure| failure.recoverable),
        "backupState": backup,
        "autoStopInterval": row.auto_stop,
        "autoArchiveInterval": row.auto_archive,
        "autoDeleteInterval": row.auto_delete,
        "sandboxClass": "container",
        "createdAt": settings.iso(row.created_at),
        "updatedAt": settings.iso(seen.updated_at),
        "lastActivityAt": settings.iso(seen.last_activity),
        "runnerId": RUNNER_ID,
        "toolboxProxyUrl": settings.toolbox_url,
    });
    let Value::Object(mut object) = value else { unreachable!("it was written as an object") };
    if row.snapshot.is_none() {
        object.remove("snapshot");
    }
    if let Some(version) = row.daemon_version {
        object.insert("daemonVersion".to_owned(), json!(version));
    }
    if let Some(at) = seen.ends_at.filter(|&at| at < Time::MAX) {
        object.insert("autoDestroyAt".to_owned(), json!(settings.iso(at)));
    }
    object
}

fn reason(seen: &Seen) -> Value {
    seen.failure.as_ref().map_or(Value::Null, |failure| json!(failure.reason))
}

fn desired_word(desired: Desired) -> &'static str {
    match desired {
        Desired::Started => "started",
        Desired::Stopped => "stopped",
        Desired::Archived => "archived",
        Desired::Resized => "resized",
        Desired::Destroyed => "destroyed",
    }
}

/// The one machine that carries the sandboxes.
pub(super) const RUNNER_ID: &str = "7d0c5a1e-3b6f-4c2d-9e80-51a4c7f2b936";

/// A short fingerprint of a text (64-bit FNV-1a).
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
