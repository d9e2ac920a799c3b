//! What the simulated provider is like: the `[provider]` table of a scenario, resolved.

use crate::random::Distribution;
use sandpool_core::{Resources, Span, Verb};

/// Everything that can be set about the simulated provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// How long things take.
    pub latencies: Latencies,
    /// The provider's quota, as the provider counts it ([`Resources::UNLIMITED`] where unset).
    /// `slots` is unlimited by default: Daytona has no count limit, only resources.
    pub quota: Resources,
    /// Whether stopped sandboxes still hold disk.
    pub stopped_holds_disk: bool,
    /// Requests a minute.
    pub rate_limits: RateLimits,
    /// A list shows a sandbox's state as it was up to this long ago.
    pub list_lag: Span,
    /// Chance that a list misses some of its items and says so (`complete = false`), 0 to 1.
    pub list_partial: f64,
    /// Failure chances, by verb.
    pub faults: Vec<(Verb, VerbFaults)>,
    /// Chance that a create hangs in `creating` for [`Profile::stuck_for`], 0 to 1.
    pub stuck_creating: f64,
    /// Chance that a delete hangs in `destroying` for [`Profile::stuck_for`], 0 to 1.
    pub stuck_destroying: f64,
    /// How long a stuck sandbox stays stuck, seconds.
    pub stuck_for: Distribution,
    /// Silent deaths per sandbox-hour: the sandbox is gone and nobody is told.
    pub deaths_per_hour: f64,
    /// Group deaths per hour: a machine of the provider fails and takes a share of the sandboxes.
    pub group_deaths_per_hour: f64,
    /// Share of the sandboxes that a group death takes, 0 to 1.
    pub group_death_share: f64,
    /// Windows in which every call fails.
    pub outages: Vec<Outage>,
    /// What other tenants of the same quota use.
    pub other_tenants: OtherTenants,
    /// A started sandbox without activity this long is stopped, and deleted as ephemeral, by the
    /// provider itself. Zero, as in Daytona, and [`Span::MAX`] are never.
    pub auto_stop: Span,
}

impl Default for Profile {
    /// Daytona's first tier without faults, as the first user of this system met it: 11 seconds
    /// from the create to a prepared sandbox.
    fn default() -> Self {
        Self {
            latencies: Latencies::default(),
            // Tier 1: 10 vCPU, 10 GiB memory, 30 GiB disk, no limit on the number of sandboxes.
            quota: Resources {
                slots: Resources::UNLIMITED,
                memory_mb: 10 * 1024,
                cpu_milli: 10_000,
                disk_mb: 30 * 1024,
            },
            stopped_holds_disk: true,
            rate_limits: RateLimits { creates: 300, lifecycle: 10_000 },
            // Reported: a list by label is late by one to three seconds.
            list_lag: Span::from_secs(3),
            list_partial: 0.0,
            faults: Vec::new(),
            stuck_creating: 0.0,
            stuck_destroying: 0.0,
            // Daytona gives a hanging create up after 15 minutes.
            stuck_for: Distribution::Constant(900.0),
            deaths_per_hour: 0.0,
            group_deaths_per_hour: 0.0,
            group_death_share: 0.0,
            outages: Vec::new(),
            other_tenants: OtherTenants {
                sandboxes: None,
                step: Distribution::Exponential { mean: 600.0 },
            },
            auto_stop: Span::from_secs(30 * 60),
        }
    }
}

impl Profile {
    /// A provider that does everything at once and without bound: what remains of a run is the
    /// scheduler, which closed formulas can then judge.
    #[must_use]
    pub fn instant() -> Self {
        Self {
            latencies: Latencies::zero(),
            quota: Resources {
                slots: Resources::UNLIMITED,
                memory_mb: Resources::UNLIMITED,
                cpu_milli: Resources::UNLIMITED,
                disk_mb: Resources::UNLIMITED,
            },
            rate_limits: RateLimits { creates: u32::MAX, lifecycle: u32::MAX },
            list_lag: Span::ZERO,
            auto_stop: Span::MAX,
            ..Self::default()
        }
    }
}

/// How long the provider takes; all in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies {
    /// From a create request to started and reachable.
    pub create: Distribution,
    /// Share by which each further start under way lengthens a create (0.02: 10 others, 20 % longer).
    pub create_slowdown: f64,
    /// The prepare steps.
    pub prepare: Distribution,
    /// The prepare steps of single classes, by the class's index, where they differ.
    pub prepare_by_class: Vec<(u16, Distribution)>,
    /// From a delete request to gone.
    pub delete: Distribution,
    /// A short call: probe, find, list, keep alive, relabel, and the refusal of any call.
    pub call: Distribution,
}

impl Default for Latencies {
    /// Create: a mixture fitted to 6,327 public measurements of Daytona, create to first command,
    /// one at a time (computesdk/benchmarks, March to May 2026); in its bursts of 100 the median
    /// is 2.2 times as long, hence the slowdown. Prepare: what was missing to 11 seconds for the
    /// first user of this system. Delete: one public report of about 1.4 seconds (daytona#5138).
    fn default() -> Self {
        let lognormal = |mu, sigma| Distribution::LogNormal { mu, sigma };
        Self {
            create: Distribution::Mixture(vec![
                (0.7823, lognormal(-2.121, 0.297)),
                (0.1048, lognormal(-1.218, 0.076)),
                (0.1129, lognormal(-0.651, 0.864)),
            ]),
            create_slowdown: 0.012,
            prepare: lognormal(2.365, 0.15),
            prepare_by_class: Vec::new(),
            delete: lognormal(0.30, 0.25),
            call: Distribution::Constant(0.08),
        }
    }
}

impl Latencies {
    /// Everything at once.
    #[must_use]
    pub fn zero() -> Self {
        let zero = Distribution::Constant(0.0);
        Self {
            create: zero.clone(),
            create_slowdown: 0.0,
            prepare: zero.clone(),
            prepare_by_class: Vec::new(),
            delete: zero.clone(),
            call: zero,
        }
    }
}

/// Requests a minute; `u32::MAX` is unlimited. The request that exceeds a limit is refused, and so
/// is every further one of the kind for a whole minute from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimits {
    /// Creates a minute.
    pub creates: u32,
    /// Deletes, starts and stops a minute.
    pub lifecycle: u32,
}

/// Chances that a call of one verb goes wrong, each 0 to 1, together at most 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VerbFaults {
    /// The call is refused before anything is done (502, connection refused).
    pub unavailable: f64,
    /// The call is carried out and fails, leaving an errored sandbox in the case of a create.
    pub errored: f64,
    /// The request never arrives and no answer comes.
    pub lost_request: f64,
    /// The call is carried out, the answer never comes.
    pub lost_answer: f64,
    /// The request is refused for good (validation).
    pub rejected: f64,
}

/// A window in which every call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When it begins, from the start of the run.
    pub start: Span,
    /// How long it lasts.
    pub duration: Span,
    /// Whether calls get no answer at all instead of an error.
    pub silent: bool,
}

/// Use of the quota by others, as a step process.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherTenants {
    /// How many default-class sandboxes they hold at a time, drawn anew at each step; `None`: none.
    pub sandboxes: Option<Distribution>,
    /// How long each step lasts, seconds.
    pub step: Distribution,
}
