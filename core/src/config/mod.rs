//! The policy block: what an operator tunes in a scenario and pastes into the server.

mod keys;

pub use keys::{Conflict, KEYS, Key, KeyKind, Value};

use crate::policy::{IdlePolicy, QueuePolicy, ReclaimPolicy, StartPolicy, WarmPolicy};
use crate::resources::Resources;
use crate::time::Span;
use serde::{Deserialize, Serialize};

/// A sandbox template. Index 0 of [`Config::classes`] is the default class, in whose size the
/// reserve ([`Config::borrow_keep_free`]) is counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Class {
    /// What people call it.
    pub name: String,
    /// What one sandbox of it takes; `slots` is 1.
    pub resources: Resources,
    /// Whether a created sandbox needs a prepare step before it is ready.
    pub prepares: bool,
    /// Warm sandboxes to keep ready (0 to 100,000; 0: none).
    pub warm_sandboxes: i64,
}

impl Default for Class {
    /// The default class: 1 vCPU, 1 GB memory, 3 GB disk, prepared, one kept warm.
    fn default() -> Self {
        Self {
            name: "default".to_owned(),
            resources: Resources::of_sandbox(1.0, 1.0, 3.0),
            prepares: true,
            warm_sandboxes: 1,
        }
    }
}

/// What a restarted scheduler does with the sandboxes that an earlier instance left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recovery {
    /// Remove them all.
    #[default]
    Destroy,
    /// Rebind those that the store maps to a live conversation, remove the rest.
    Adopt,
}

/// Everything the scheduler needs to know. The file's keys, with units, ranges and defaults, are
/// declared in [`KEYS`]; the fields here hold the same values in the scheduler's own units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// The quota: slots always, the other dimensions [`Resources::UNLIMITED`] where unset.
    pub max: Resources,
    /// Sandboxes that are an account's normal share.
    pub max_sandboxes_per_account: i64,
    /// Memory that is an account's normal share, MB.
    pub max_memory_mb_per_account: i64,
    /// Default-class sandboxes that must still fit after a borrower's admission.
    pub borrow_keep_free: i64,
    /// How long a blocked claim waits for capacity ([`Span::MAX`]: for ever).
    pub sandbox_wait: Span,
    /// Blocked claims that may wait at once; one more is refused.
    pub max_waiting: i64,
    /// Times that younger claims may overtake a waiting one before capacity is held for it.
    pub max_overtakes: i64,
    /// An idle sandbox outside a turn ends after this long.
    pub idle: Span,
    /// An idle sandbox may be reclaimed only this long after its last use.
    pub reclaim_idle: Span,
    /// A turn without activity and without a running command ends after this long.
    pub turn_timeout: Span,
    /// A start (create and prepare) that takes longer has failed; also bounds an admitted claim.
    pub start_timeout: Span,
    /// Failed starts that a claim survives, plus one.
    pub max_start_attempts: i64,
    /// Starts under way at once.
    pub max_starting: i64,
    /// A warm sandbox above target ends after this long.
    pub warm_surplus: Span,
    /// A warm sandbox older than this is replaced.
    pub warm_max_age: Span,
    /// Upper bound of a warm target that follows demand.
    pub warm_max: i64,
    /// Share of claims, in percent, that a forecast pool is sized to serve warm.
    pub warm_hit_percent: i64,
    /// Leased and warm sandboxes are kept alive, and thereby checked, this often.
    pub keep_alive: Span,
    /// The provider's own auto-stop, the last net.
    pub provider_auto_stop: Span,
    /// The provider's inventory is compared with the ledger this often.
    pub reconcile: Span,
    /// An unknown sandbox labelled ours is removed after this long.
    pub orphan_grace: Span,
    /// A sandbox whose existence is unknown holds its slot at least this long.
    pub limbo_hold: Span,
    /// A provider call without an answer is given up after this long.
    pub operation_timeout: Span,
    /// After the provider said full while the ledger said free, the lower limit holds this long.
    pub full_hold: Span,
    /// Failed starts in a row that open a class's circuit breaker.
    pub breaker_failures: i64,
    /// The breaker stays open this long, doubling while trials fail.
    pub breaker_open: Span,
    /// First delay after a failure; doubles with each further one.
    pub retry_base: Span,
    /// Longest delay between retries.
    pub retry_max: Span,
    /// How long a shutdown waits for running commands.
    pub drain_grace: Span,
    /// What happens to an earlier instance's sandboxes.
    pub recovery: Recovery,
    /// When a turn's sandbox is asked for.
    pub start_policy: StartPolicy,
    /// With [`StartPolicy::Likely`]: start at the turn's begin from this chance on, percent.
    pub start_likely_percent: i64,
    /// How many sandboxes are kept warm.
    pub warm_policy: WarmPolicy,
    /// Who is admitted first.
    pub queue_policy: QueuePolicy,
    /// Whose idle sandbox is taken first.
    pub reclaim_policy: ReclaimPolicy,
    /// When an idle sandbox ends.
    pub idle_policy: IdlePolicy,
    /// With [`IdlePolicy::Pressure`]: the idle time while capacity is short.
    pub idle_pressure: Span,
    /// With [`IdlePolicy::Pressure`]: capacity is short while fewer default-class sandboxes fit.
    pub idle_pressure_free: i64,
    /// The classes; the first is the default one. 1 to 64 of them.
    pub classes: Vec<Class>,
}

impl Default for Config {
    fn default() -> Self {
        let mut config = Config {
            max: Resources {
                slots: 0,
                memory_mb: Resources::UNLIMITED,
                cpu_milli: Resources::UNLIMITED,
                disk_mb: Resources::UNLIMITED,
            },
            max_sandboxes_per_account: 0,
            max_memory_mb_per_account: Resources::UNLIMITED,
            borrow_keep_free: 0,
            sandbox_wait: Span::ZERO,
            max_waiting: 0,
            max_overtakes: 0,
            idle: Span::ZERO,
            reclaim_idle: Span::ZERO,
            turn_timeout: Span::ZERO,
            start_timeout: Span::ZERO,
            max_start_attempts: 0,
            max_starting: 0,
            warm_surplus: Span::ZERO,
            warm_max_age: Span::ZERO,
            warm_max: 0,
            warm_hit_percent: 0,
            keep_alive: Span::ZERO,
            provider_auto_stop: Span::ZERO,
            reconcile: Span::ZERO,
            orphan_grace: Span::ZERO,
            limbo_hold: Span::ZERO,
            operation_timeout: Span::ZERO,
            full_hold: Span::ZERO,
            breaker_failures: 0,
            breaker_open: Span::ZERO,
            retry_base: Span::ZERO,
            retry_max: Span::ZERO,
            drain_grace: Span::ZERO,
            recovery: Recovery::default(),
            start_policy: StartPolicy::default(),
            start_likely_percent: 0,
            warm_policy: WarmPolicy::default(),
            queue_policy: QueuePolicy::default(),
            reclaim_policy: ReclaimPolicy::default(),
            idle_policy: IdlePolicy::default(),
            idle_pressure: Span::ZERO,
            idle_pressure_free: 0,
            classes: vec![Class::default()],
        };
        // One source for every default: the key table.
        for key in KEYS {
            (key.set)(&mut config, key.default);
        }
        config
    }
}

impl Config {
    /// The default class.
    #[must_use]
    pub fn default_class(&self) -> &Class {
        &self.classes[0]
    }

    /// The class called `name`.
    #[must_use]
    pub fn class_named(&self, name: &str) -> Option<crate::id::ClassId> {
        let index = self.classes.iter().position(|class| class.name == name)?;
        Some(crate::id::ClassId(index as u16))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_first_tier() {
        let config = Config::default();
        assert_eq!(config.max.slots, 10);
        assert_eq!(config.max.memory_mb, 10 * 1024);
        assert_eq!(config.max.cpu_milli, Resources::UNLIMITED);
        assert_eq!(config.max_sandboxes_per_account, 3);
        assert_eq!(config.borrow_keep_free, 2);
        assert_eq!(config.classes[0].warm_sandboxes, 1);
        assert_eq!(config.sandbox_wait, Span::from_secs(30));
        assert_eq!(config.idle, Span::from_secs(900));
        assert_eq!(config.reclaim_idle, Span::from_secs(10));
        assert!(config.conflicts().is_empty());
    }
}
