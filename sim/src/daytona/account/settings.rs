//! How the simulated account is set up.

use crate::daytona::cloud::WorkLatencies;
use crate::daytona::profile::{Latencies, Profile};
use crate::random::Distribution;
use sandpool_core::{Resources, Span, Time};
use serde_json::{Value, json};

/// A limit of the API: so many requests in each window, then none for a whole window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApiLimit {
    /// Requests.
    pub limit: u32,
    /// Length of the window, seconds.
    pub window_seconds: u32,
}

/// The limits of the API; `None` is no limit, and then no header speaks of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApiLimits {
    /// Calls without credentials, by address.
    pub anonymous: Option<ApiLimit>,
    /// Calls with wrong credentials, by address.
    pub failed_auth: Option<ApiLimit>,
    /// Calls that no other limit counts, by organization.
    pub authenticated: Option<ApiLimit>,
    /// Creates, by organization.
    pub create: Option<ApiLimit>,
    /// Deletes, starts, stops and the like, by organization.
    pub lifecycle: Option<ApiLimit>,
}

/// What sandboxes from a snapshot get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotSize {
    /// vCPUs.
    pub cpu: u32,
    /// GiB.
    pub memory_gib: u32,
    /// GiB.
    pub disk_gib: u32,
}

/// Everything that can be set about the account.
#[derive(Clone, Debug)]
pub struct AccountSettings {
    /// The provider: latencies of creates and deletes, faults, quota.
    pub profile: Profile,
    /// How long the provider works at everything else.
    pub work: WorkLatencies,
    /// Fixes every bit of luck, ids included.
    pub seed: u64,
    /// Part of the key of the provider's luck, as in the simulator.
    pub replication: u32,
    /// Milliseconds since 1970 at the start of the provider's time.
    pub epoch_ms: i64,
    /// The organization that owns the sandboxes: a UUID.
    pub organization_id: String,
    /// The key of the organization.
    pub api_key: String,
    /// The organization's only region.
    pub region: String,
    /// Snapshots that exist from the beginning, the default one first.
    pub snapshots: Vec<(String, SnapshotSize)>,
    /// Limits of the API.
    pub limits: ApiLimits,
    /// Most that one sandbox may have.
    pub largest: SnapshotSize,
    /// Cap of the auto-archive interval, minutes; also what zero means.
    pub max_auto_archive_minutes: u32,
    /// Whether resizes are served; where they are not, the route is unknown.
    pub resize: bool,
    /// Where the toolbox is served, without a closing slash.
    pub toolbox_url: String,
    /// Where previews would be served, without a closing slash.
    pub preview_url: String,
}

impl Default for AccountSettings {
    /// An organization of the first tier that a test of a client wants: quick, and without faults.
    /// The quota is the one with 20 GiB of memory, so that cpu is what runs out first.
    fn default() -> Self {
        let quick = Distribution::Constant(0.2);
        let profile = Profile {
            latencies: Latencies {
                create: quick.clone(),
                create_slowdown: 0.0,
                delete: quick,
                ..Latencies::zero()
            },
            quota: Resources {
                slots: Resources::UNLIMITED,
                memory_mb: 20 * 1024,
                cpu_milli: 10_000,
                disk_mb: 30 * 1024,
            },
            list_lag: Span::ZERO,
            ..Profile::default()
        };
        let size = |cpu, memory_gib, disk_gib| SnapshotSize { cpu, memory_gib, disk_gib };
        Self {
            profile,
            work: WorkLatencies::quick(),
            seed: 1,
            replication: 0,
            epoch_ms: 1_790_000_000_000,
            organization_id: "4f1c2d9a-7b3e-4a60-8c15-2e9d70b6a834".to_owned(),
            api_key: "dtn_simulated".to_owned(),
            region: "us".to_owned(),
            snapshots: vec![
                ("ubuntu:22.04".to_owned(), size(1, 1, 3)),
                ("daytona-small".to_owned(), size(1, 1, 3)),
                ("daytona-medium".to_owned(), size(2, 4, 8)),
                ("daytona-large".to_owned(), size(4, 8, 10)),
            ],
            limits: ApiLimits::default(),
            largest: size(4, 8, 10),
            max_auto_archive_minutes: 43_200,
            resize: true,
            toolbox_url: "http://127.0.0.1:3986/toolbox".to_owned(),
            preview_url: "http://127.0.0.1:3986/preview".to_owned(),
        }
    }
}

impl AccountSettings {
    /// Milliseconds since 1970 at an instant of the provider's time.
    pub(super) fn instant(&self, at: Time) -> i64 {
        self.epoch_ms.saturating_add((at.as_nanos() / 1_000_000) as i64)
    }

    /// An instant as the API writes it.
    pub(super) fn iso(&self, at: Time) -> String {
        iso(self.instant(at))
    }

    /// `GET /config`: what everybody may know.
    pub(super) fn config(&self) -> Value {
        let limit = |limit: Option<ApiLimit>| match limit {
            None => json!({}),
            Some(limit) => json!({ "ttl": limit.window_seconds, "limit": limit.limit }),
        };
        json!({
            "version": API_VERSION,
            "linkedAccountsEnabled": false,
            "announcements": {},
            "proxyTemplateUrl": format!("{}/{{{{PORT}}}}-{{{{sandboxId}}}}", self.preview_url),
            "proxyToolboxUrl": self.toolbox_url,
            "defaultSnapshot": self.default_snapshot(),
            "dashboardUrl": DASHBOARD_URL,
            "maxAutoArchiveInterval": self.max_auto_archive_minutes,
            "maintananceMode": false,
            "environment": "simulated",
            "rateLimit": {
                "failedAuth": limit(self.limits.failed_auth),
                "authenticated": limit(self.limits.authenticated),
                "sandboxCreate": limit(self.limits.create),
                "sandboxLifecycle": limit(self.limits.lifecycle),
            },
        })
    }

    /// The snapshot of a create that names none.
    pub(super) fn default_snapshot(&self) -> &str {
        self.snapshots.first().map_or("", |(name, _)| name)
    }
}

/// The version whose behaviour this is, in the header of every answer.
pub(super) const API_VERSION: &str = "0.190.0";

pub(super) const DASHBOARD_URL: &str = "https://app.daytona.io/dashboard";

/// Milliseconds since 1970 in ISO 8601.
pub(super) fn iso(instant_ms: i64) -> String {
    let timestamp = jiff::Timestamp::from_millisecond(instant_ms).unwrap_or_default();
    timestamp.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

/// Reads an ISO 8601 instant, or a date alone, into milliseconds since 1970.
pub(super) fn instant_of(text: &str) -> Option<i64> {
    let timestamp: Result<jiff::Timestamp, _> = text.parse();
    let from_date = || format!("{text}T00:00:00Z").parse::<jiff::Timestamp>().ok();
    timestamp.ok().or_else(from_date).map(|timestamp| timestamp.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written_to_the_millisecond_and_read_back() {
        assert_eq!(iso(1_796_073_604_698), "2026-11-30T21:20:04.698Z");
        assert_eq!(iso(1_796_073_604_000), "2026-11-30T21:20:04.000Z");
        assert_eq!(instant_of("2026-11-30T21:20:04.698Z"), Some(1_796_073_604_698));
        assert_eq!(instant_of("2026-11-30"), Some(1_795_996_800_000));
        assert_eq!(instant_of("soon"), None);
    }
}
