//! Every metric, declared once. The names here are what alert rules may use; a test compares.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// One label, by the name that the struct's field has.
macro_rules! label {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $kind:ty),+ })+) => {
        $($(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
        pub(super) struct $name { $(pub(super) $field: $kind),+ })+
    };
}

label! {
    /// Sandboxes as they stand.
    Standing { state: &'static str, class: String }
    /// How a claim was served.
    Served { by: &'static str }
    /// Why.
    Because { reason: &'static str }
    /// How it ended.
    Ended { outcome: &'static str }
    /// Of which class.
    OfClass { class: String }
    /// What money was for, and whose.
    Spent { account: u32, cause: &'static str }
    /// A call to the provider.
    Called { verb: &'static str, outcome: &'static str }
    /// A verb of the provider's.
    ByVerb { verb: &'static str }
    /// A request.
    Asked { method: String, route: String, status: &'static str }
    /// A route.
    ByRoute { route: String }
}

pub(super) type Seconds = Counter<f64, AtomicU64>;
type Timed<L> = Family<L, Histogram, fn() -> Histogram>;

/// Waits and starts: from 1 ms to about 2 min.
fn slow() -> Histogram {
    Histogram::new([
        0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0,
        128.0,
    ])
}

/// Requests and commits: from 0.1 ms to 10 s.
fn quick() -> Histogram {
    Histogram::new([
        0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0,
        2.5, 5.0, 10.0,
    ])
}

/// All metrics. Cheap to share.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    // The pool, set when it is asked for.
    pub(super) sandboxes: Family<Standing, Gauge>,
    pub(super) limit_sandboxes: Gauge,
    pub(super) used_sandboxes: Gauge,
    pub(super) free_sandboxes: Gauge,
    pub(super) used_memory_bytes: Gauge,
    pub(super) limit_is_lowered: Gauge,
    pub(super) waiting_executes: Gauge,
    pub(super) open_conversations: Gauge,
    pub(super) borrowing_accounts: Gauge,
    // What happened, counted from the events.
    pub(super) execute_wait: Timed<Served>,
    pub(super) claims_served: Family<Served, Counter>,
    pub(super) refusals: Family<Because, Counter>,
    pub(super) executes: Family<Ended, Counter>,
    pub(super) execute_seconds: Timed<Ended>,
    pub(super) start: Timed<OfClass>,
    pub(super) start_failures: Family<Because, Counter>,
    pub(super) hidden_start: Seconds,
    pub(super) exposed_start: Seconds,
    pub(super) files_lost: Family<Because, Counter>,
    pub(super) sandboxes_ended: Family<Because, Counter>,
    pub(super) limbo: Counter,
    pub(super) stuck: Counter,
    pub(super) drift: Family<Because, Counter>,
    pub(super) orphans_removed: Counter,
    pub(super) breaker_open: Family<OfClass, Gauge>,
    pub(super) reconciles: Counter,
    pub(super) illegal_transitions: Counter,
    pub(super) cost: Family<Spent, Seconds>,
    // The edges.
    pub(super) provider_calls: Family<Called, Counter>,
    pub(super) provider_call: Timed<ByVerb>,
    pub(super) store_commits: Counter,
    pub(super) store_commit: Histogram,
    pub(super) http_requests: Family<Asked, Counter>,
    pub(super) http_request: Timed<ByRoute>,
}

impl Metrics {
    /// All of them, at zero.
    pub(crate) fn new() -> Arc<Self> {
        let mut registry = Registry::with_prefix("sandpool");
        let slow: fn() -> Histogram = slow;
        let quick: fn() -> Histogram = quick;
        let metrics = Self {
            sandboxes: Family::default(),
            limit_sandboxes: Gauge::default(),
            used_sandboxes: Gauge::default(),
            free_sandboxes: Gauge::default(),
            used_memory_bytes: Gauge::default(),
            limit_is_lowered: Gauge::default(),
            waiting_executes: Gauge::default(),
            open_conversations: Gauge::default(),
            borrowing_accounts: Gauge::default(),
            execute_wait: Family::new_with_constructor(slow),
            claims_served: Family::default(),
            refusals: Family::default(),
            executes: Family::default(),
            execute_seconds: Family::new_with_constructor(slow),
            start: Family::new_with_constructor(slow),
            start_failures: Family::default(),
            hidden_start: Seconds::default(),
            exposed_start: Seconds::default(),
            files_lost: Family::default(),
            sandboxes_ended: Family::default(),
            limbo: Counter::default(),
            stuck: Counter::default(),
            drift: Family::default(),
            orphans_removed: Counter::default(),
            breaker_open: Family::default(),
            reconciles: Counter::default(),
            illegal_transitions: Counter::default(),
            cost: Family::default(),
            provider_calls: Family::default(),
            provider_call: Family::new_with_constructor(slow),
            store_commits: Counter::default(),
            store_commit: quick(),
            http_requests: Family::default(),
            http_request: Family::new_with_constructor(quick),
            registry: Registry::default(),
        };
        metrics.register_pool(&mut registry);
        metrics.register_events(&mut registry);
        metrics.register_edges(&mut registry);
        let version = vec![("version", env!("CARGO_PKG_VERSION"))];
        registry.register("build", "The program", Info::new(version));
        Arc::new(Self { registry, ..metrics })
    }

    fn register_pool(&self, to: &mut Registry) {
        to.register(
            "sandboxes",
            "Sandboxes that may exist, by state and class",
            self.sandboxes.clone(),
        );
        to.register(
            "limit_sandboxes",
            "Sandboxes that may exist at once",
            self.limit_sandboxes.clone(),
        );
        to.register(
            "used_sandboxes",
            "Slots of the provider that are taken",
            self.used_sandboxes.clone(),
        );
        to.register(
            "free_sandboxes",
            "Slots that can be promised; below 0 after discoveries",
            self.free_sandboxes.clone(),
        );
        to.register_with_unit(
            "used_memory",
            "Memory that sandboxes take",
            Unit::Bytes,
            self.used_memory_bytes.clone(),
        );
        to.register(
            "limit_is_lowered",
            "1 while the provider said full below our limit",
            self.limit_is_lowered.clone(),
        );
        to.register(
            "waiting_executes",
            "Executes that wait for a sandbox",
            self.waiting_executes.clone(),
        );
        to.register("open_conversations", "Open conversations", self.open_conversations.clone());
        to.register(
            "borrowing_accounts",
            "Accounts that hold more than their share",
            self.borrowing_accounts.clone(),
        );
    }

    fn register_events(&self, to: &mut Registry) {
        to.register_with_unit(
            "execute_wait",
            "How long executes waited for their sandbox (the exposed wait)",
            Unit::Seconds,
            self.execute_wait.clone(),
        );
        to.register(
            "claims_served",
            "Claims that got a sandbox, by how",
            self.claims_served.clone(),
        );
        to.register("refusals", "Executes that got none, by reason", self.refusals.clone());
        to.register("executes", "Executes that ended, by outcome", self.executes.clone());
        to.register_with_unit(
            "execute",
            "How long executes ran",
            Unit::Seconds,
            self.execute_seconds.clone(),
        );
        to.register_with_unit(
            "start",
            "From the decision to a ready sandbox",
            Unit::Seconds,
            self.start.clone(),
        );
        to.register("start_failures", "Starts that failed, by reason", self.start_failures.clone());
        to.register_with_unit(
            "hidden_start",
            "Start time that ran under the agent's own work",
            Unit::Seconds,
            self.hidden_start.clone(),
        );
        to.register_with_unit(
            "exposed_start",
            "Start time that somebody waited for",
            Unit::Seconds,
            self.exposed_start.clone(),
        );
        to.register(
            "files_lost",
            "Conversations that lost their files and were told, by reason",
            self.files_lost.clone(),
        );
        to.register(
            "sandboxes_ended",
            "Sandboxes whose end was decided or found, by reason",
            self.sandboxes_ended.clone(),
        );
        to.register("limbo", "Creates whose answer was lost", self.limbo.clone());
        to.register(
            "stuck_deletes",
            "Deletes that were tried in vain for long",
            self.stuck.clone(),
        );
        to.register("drift", "Disagreements with the provider, by what", self.drift.clone());
        to.register(
            "orphans_removed",
            "Sandboxes that nobody owned and that are gone",
            self.orphans_removed.clone(),
        );
        to.register(
            "breaker_open",
            "1 while a class's circuit breaker is open",
            self.breaker_open.clone(),
        );
        to.register(
            "reconciles",
            "Comparisons with the provider's inventory",
            self.reconciles.clone(),
        );
        to.register(
            "illegal_transitions",
            "State changes that must not be: a bug if not 0",
            self.illegal_transitions.clone(),
        );
        to.register(
            "cost_micro_dollars",
            "What sandboxes cost, by account (0: the pool's own) and cause",
            self.cost.clone(),
        );
    }

    fn register_edges(&self, to: &mut Registry) {
        to.register(
            "provider_calls",
            "Calls to the provider, by verb and outcome",
            self.provider_calls.clone(),
        );
        to.register_with_unit(
            "provider_call",
            "How long calls to the provider took",
            Unit::Seconds,
            self.provider_call.clone(),
        );
        to.register(
            "store_commits",
            "Batches that were synced to the disk",
            self.store_commits.clone(),
        );
        to.register_with_unit(
            "store_commit",
            "From handing a batch over until it is safe",
            Unit::Seconds,
            self.store_commit.clone(),
        );
        to.register(
            "http_requests",
            "Requests, by route and class of status",
            self.http_requests.clone(),
        );
        to.register_with_unit(
            "http_request",
            "How long requests took",
            Unit::Seconds,
            self.http_request.clone(),
        );
    }

    /// The text that Prometheus reads (OpenMetrics 1.0).
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("writing to a string cannot fail");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const ALERTS: &str = include_str!("../../../deploy/alerts.yml");
    const RUNBOOK: &str = include_str!("../../../deploy/runbook.md");

    /// Every name that can be served, with the endings that the format adds, read off the
    /// declarations above: a family without samples is not in the text.
    fn names() -> BTreeSet<String> {
        let text = include_str!("families.rs");
        let registered = text.split("to.register").skip(1).filter_map(|rest| {
            let has_unit = rest.starts_with("_with_unit");
            let arguments = &rest[rest.find('(')? + 1..];
            let name = arguments.split('"').nth(1)?;
            let unit = match arguments.split("Unit::").nth(1).filter(|_| has_unit) {
                None => String::new(),
                Some(unit) => format!("_{}", unit.split(',').next()?.to_lowercase()),
            };
            Some(format!("sandpool_{name}{unit}"))
        });
        let mut names = BTreeSet::new();
        for name in registered {
            for ending in ["", "_total", "_bucket", "_count", "_sum"] {
                names.insert(format!("{name}{ending}"));
            }
        }
        names
    }

    #[test]
    fn alerts_speak_of_metrics_that_exist_and_each_has_its_section() {
        let (known, mut used) = (names(), BTreeSet::new());
        for part in ALERTS.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_') {
            if part.starts_with("sandpool_") {
                used.insert(part.to_owned());
            }
        }
        assert!(used.len() > 15, "{used:?}");
        let unknown: Vec<_> = used.difference(&known).collect();
        assert!(unknown.is_empty(), "{unknown:?} are no metrics: {known:?}");
        let alerts: Vec<&str> =
            ALERTS.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
        let sections: Vec<&str> =
            RUNBOOK.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(alerts, sections);
        for alert in alerts {
            let link = format!("runbook.md#{}", alert.to_lowercase());
            assert!(ALERTS.contains(&link), "{alert} does not lead to its section");
        }
    }

    #[test]
    fn what_is_registered_is_what_is_served() {
        let metrics = Metrics::new();
        let text = metrics.text();
        for name in ["sandpool_used_memory_bytes", "sandpool_store_commit_seconds_bucket"] {
            assert!(names().contains(name) && text.contains(name), "{name}\n{text}");
        }
        let foreign = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.split([' ', '{']).next().unwrap_or_default())
            .find(|name| !names().contains(*name) && !name.starts_with("sandpool_build"));
        assert_eq!(foreign, None);
    }
}
