//! Every key of the `[server]` block: name, kind, range, default, what zero means, what it does.
//!
//! This table is the only declaration: defaults, validation, the JSON schema, the reference page
//! and the variant labels of a comparison are all read from it.

use super::{Config, Recovery};
use crate::policy::{IdlePolicy, QueuePolicy, ReclaimPolicy, StartPolicy, WarmPolicy};
use crate::resources::Resources;
use crate::time::Span;

/// What may be written behind a key. All ranges are inclusive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeyKind {
    /// A whole number.
    Count {
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
    },
    /// A length of time in seconds; fractions allowed.
    Seconds {
        /// Smallest value, seconds.
        min: f64,
        /// Largest value, seconds.
        max: f64,
        /// Whether the word `"unlimited"` is allowed.
        unlimited: bool,
    },
    /// An amount in GB (1,024 MB) or vCPUs; fractions allowed, and the word `"unlimited"`.
    Amount {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// A value of a key, in the key's own unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Count(i64),
    /// Seconds, GB or vCPUs.
    Number(f64),
    /// Index into the words of [`KeyKind::Choice`].
    Choice(usize),
    /// The word `"unlimited"`.
    Unlimited,
}

/// One key of the policy block.
pub struct Key {
    /// The key as written.
    pub name: &'static str,
    /// What may be written.
    pub kind: KeyKind,
    /// The value when the key is left out.
    pub default: Value,
    /// What zero means, where zero is allowed and means something of its own.
    pub zero: Option<&'static str>,
    /// What the key does, in one sentence.
    pub doc: &'static str,
    /// Reads the key from a configuration.
    pub get: fn(&Config) -> Value,
    /// Writes the key into a configuration. The value must be of [`Key::kind`] and in range.
    pub set: fn(&mut Config, Value),
}

/// Two keys that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The key to point at.
    pub key: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl KeyKind {
    /// Whether a value of this kind is in its range.
    #[must_use]
    pub fn accepts(self, value: Value) -> bool {
        match (self, value) {
            (KeyKind::Count { min, max }, Value::Count(count)) => (min..=max).contains(&count),
            (
                KeyKind::Seconds { min, max, .. } | KeyKind::Amount { min, max },
                Value::Number(number),
            ) => (min..=max).contains(&number),
            (KeyKind::Seconds { unlimited, .. }, Value::Unlimited) => unlimited,
            (KeyKind::Amount { .. }, Value::Unlimited) => true,
            (KeyKind::Choice(words), Value::Choice(index)) => index < words.len(),
            _ => false,
        }
    }
}

fn has_negative(resources: Resources) -> bool {
    let Resources { slots, memory_mb, cpu_milli, disk_mb } = resources;
    [slots, memory_mb, cpu_milli, disk_mb].into_iter().any(|amount| amount < 0)
}

/// Most sandboxes of one class that can be kept warm.
const MOST_WARM: i64 = 100_000;

impl Config {
    /// Keys whose values are out of their range, and classes that no sandbox can have. A file's
    /// reader finds these before; settings that are made in code are checked by this.
    #[must_use]
    pub fn out_of_range(&self) -> Vec<Conflict> {
        let of_keys =
            KEYS.iter().filter(|key| !key.kind.accepts((key.get)(self))).map(|key| Conflict {
                key: key.name,
                message: format!("{:?} is out of range", (key.get)(self)),
                hint: format!("allowed is {:?}", key.kind),
            });
        let of_classes = self.classes.iter().filter_map(|class| {
            let impossible = has_negative(class.resources)
                || class.resources.slots != 1
                || !(0..=MOST_WARM).contains(&class.warm_sandboxes);
            impossible.then(|| Conflict {
                key: "classes",
                message: format!("class {:?} asks for what no sandbox can have", class.name),
                hint: format!("one slot, no negative amounts, and 0 to {MOST_WARM} warm sandboxes"),
            })
        });
        of_keys.chain(of_classes).collect()
    }

    /// Pairs of keys that contradict each other, each in range by itself.
    #[must_use]
    pub fn conflicts(&self) -> Vec<Conflict> {
        let mut found = Vec::new();
        if self.limbo_hold < self.start_timeout {
            found.push(Conflict {
                key: "limbo_hold_seconds",
                message: format!(
                    "a lost create may still succeed within start_timeout_seconds = {}, but its slot is given up after {}",
                    self.start_timeout.as_secs_f64(),
                    self.limbo_hold.as_secs_f64()
                ),
                hint: "make limbo_hold_seconds at least start_timeout_seconds".to_owned(),
            });
        }
        if self.retry_max < self.retry_base {
            found.push(Conflict {
                key: "retry_max_seconds",
                message: format!(
                    "shorter than retry_base_seconds = {}",
                    self.retry_base.as_secs_f64()
                ),
                hint: "make retry_max_seconds at least retry_base_seconds".to_owned(),
            });
        }
        if self.provider_auto_stop < self.keep_alive.times(2) {
            found.push(Conflict {
                key: "provider_auto_stop_seconds",
                message: format!(
                    "one missed keep-alive (every {} s) would let the provider stop a leased sandbox",
                    self.keep_alive.as_secs_f64()
                ),
                hint: "make provider_auto_stop_seconds at least twice keep_alive_seconds".to_owned(),
            });
        }
        found
    }
}

const fn count(value: i64) -> Value {
    Value::Count(value)
}

const fn number(value: f64) -> Value {
    Value::Number(value)
}

fn as_count(value: Value) -> i64 {
    match value {
        Value::Count(count) => count,
        Value::Number(number) => number as i64,
        Value::Choice(index) => index as i64,
        Value::Unlimited => Resources::UNLIMITED,
    }
}

fn as_span(value: Value) -> Span {
    match value {
        Value::Unlimited => Span::MAX,
        Value::Number(seconds) => Span::from_secs_f64(seconds),
        Value::Count(seconds) => Span::from_secs_f64(seconds as f64),
        Value::Choice(_) => Span::ZERO,
    }
}

fn from_span(span: Span) -> Value {
    if span.is_unbounded() { Value::Unlimited } else { Value::Number(span.as_secs_f64()) }
}

fn as_scaled(value: Value, units: f64) -> i64 {
    match value {
        Value::Unlimited => Resources::UNLIMITED,
        Value::Number(amount) => (amount * units).round() as i64,
        Value::Count(amount) => (amount as f64 * units).round() as i64,
        Value::Choice(_) => 0,
    }
}

fn from_scaled(amount: i64, units: f64) -> Value {
    if amount >= Resources::UNLIMITED {
        Value::Unlimited
    } else {
        Value::Number(amount as f64 / units)
    }
}

const DAY: f64 = 86_400.0;

macro_rules! counts {
    ($name:literal, $min:literal..=$max:literal, $default:literal, $zero:expr, $doc:literal, |$c:ident| $field:expr) => {
        Key {
            name: $name,
            kind: KeyKind::Count { min: $min, max: $max },
            default: count($default),
            zero: $zero,
            doc: $doc,
            get: |$c| Value::Count($field),
            set: |$c, value| $field = as_count(value),
        }
    };
}

macro_rules! seconds {
    ($name:literal, $min:literal..=$max:expr, $default:literal, $zero:expr, $doc:literal, |$c:ident| $field:expr) => {
        seconds!($name, $min..=$max, $default, $zero, $doc, |$c| $field, false)
    };
    ($name:literal, $min:literal..=$max:expr, $default:literal, $zero:expr, $doc:literal, |$c:ident| $field:expr, $unlimited:literal) => {
        Key {
            name: $name,
            kind: KeyKind::Seconds { min: $min, max: $max, unlimited: $unlimited },
            default: number($default),
            zero: $zero,
            doc: $doc,
            get: |$c| from_span($field),
            set: |$c, value| $field = as_span(value),
        }
    };
}

macro_rules! amounts {
    ($name:literal, $min:literal..=$max:literal, $default:expr, $zero:expr, $doc:literal, $units:literal, |$c:ident| $field:expr) => {
        Key {
            name: $name,
            kind: KeyKind::Amount { min: $min, max: $max },
            default: $default,
            zero: $zero,
            doc: $doc,
            get: |$c| from_scaled($field, $units),
            set: |$c, value| $field = as_scaled(value, $units),
        }
    };
}

macro_rules! choices {
    ($name:literal, $words:expr, $all:expr, $doc:literal, |$c:ident| $field:expr) => {
        Key {
            name: $name,
            kind: KeyKind::Choice($words),
            default: Value::Choice(0),
            zero: None,
            doc: $doc,
            get: |$c| Value::Choice($all.iter().position(|&one| one == $field).unwrap_or(0)),
            set: |$c, value| $field = $all[as_count(value) as usize % $all.len()],
        }
    };
}

/// The keys of the policy block, in the order in which they are documented.
pub const KEYS: &[Key] = &[
    counts!(
        "max_sandboxes",
        0..=1_000_000,
        10,
        Some("nothing is admitted"),
        "Sandboxes that may exist at once.",
        |c| c.max.slots
    ),
    amounts!(
        "max_memory_gb",
        0.0..=10_000_000.0,
        number(10.0),
        Some("nothing that needs memory is admitted"),
        "Memory, in GB, that all sandboxes together may take.",
        1024.0,
        |c| c.max.memory_mb
    ),
    amounts!(
        "max_cpu",
        0.0..=10_000_000.0,
        Value::Unlimited,
        Some("nothing that needs cpu is admitted"),
        "vCPUs that all sandboxes together may take.",
        1000.0,
        |c| c.max.cpu_milli
    ),
    amounts!(
        "max_disk_gb",
        0.0..=10_000_000.0,
        Value::Unlimited,
        Some("nothing that needs disk is admitted"),
        "Disk, in GB, that all sandboxes together may take.",
        1024.0,
        |c| c.max.disk_mb
    ),
    counts!(
        "max_sandboxes_per_account",
        1..=1_000_000,
        3,
        None,
        "An account's normal share; beyond it an account borrows.",
        |c| c.max_sandboxes_per_account
    ),
    amounts!(
        "max_memory_gb_per_account",
        0.0..=10_000_000.0,
        Value::Unlimited,
        Some("whatever an account holds beyond one sandbox is borrowed"),
        "An account's normal share of memory, in GB.",
        1024.0,
        |c| c.max_memory_mb_per_account
    ),
    counts!(
        "borrow_keep_free",
        0..=1_000_000,
        2,
        Some("a borrower may take the last free slot"),
        "Default-class sandboxes that must still fit into the free capacity after a borrower's admission.",
        |c| c.borrow_keep_free
    ),
    counts!(
        "warm_sandboxes",
        0..=100_000,
        1,
        Some("no warm pool"),
        "Ready sandboxes kept for nobody in particular: of the default class, or a table by class.",
        |c| c.classes[0].warm_sandboxes
    ),
    seconds!(
        "sandbox_wait_seconds",
        0.0..=DAY,
        30.0,
        Some("a claim that cannot be admitted at once is refused"),
        "How long a blocked execute waits for capacity.",
        |c| c.sandbox_wait,
        true
    ),
    counts!(
        "max_waiting",
        0..=1_000_000,
        1_000,
        Some("nobody may wait"),
        "Blocked claims that may wait at once; one more is refused.",
        |c| c.max_waiting
    ),
    counts!(
        "max_overtakes",
        0..=1_000_000,
        10,
        Some("strict order of arrival"),
        "Times that younger claims may overtake a waiting one before capacity is held for it.",
        |c| c.max_overtakes
    ),
    seconds!(
        "idle_seconds",
        0.0..=604_800.0,
        900.0,
        Some("a sandbox ends with its turn"),
        "An idle sandbox outside a turn ends after this long.",
        |c| c.idle
    ),
    seconds!(
        "reclaim_idle_seconds",
        0.0..=DAY,
        10.0,
        Some("an idle sandbox is never protected"),
        "An idle sandbox may be reclaimed only this long after its last use.",
        |c| c.reclaim_idle
    ),
    seconds!(
        "turn_timeout_seconds",
        1.0..=604_800.0,
        1_800.0,
        None,
        "A turn without activity and without a running command ends after this long.",
        |c| c.turn_timeout
    ),
    seconds!(
        "start_timeout_seconds",
        0.1..=3_600.0,
        60.0,
        None,
        "A start that takes longer has failed; also bounds an admitted claim's wait for its start.",
        |c| c.start_timeout
    ),
    counts!(
        "max_start_attempts",
        1..=100,
        3,
        None,
        "Starts that may fail on behalf of one claim before it is refused.",
        |c| c.max_start_attempts
    ),
    counts!("max_starting", 1..=100_000, 5, None, "Starts under way at once.", |c| c.max_starting),
    seconds!(
        "warm_surplus_seconds",
        0.0..=DAY,
        60.0,
        Some("a warm sandbox above target ends at once"),
        "A warm sandbox above target ends after this long.",
        |c| c.warm_surplus
    ),
    seconds!(
        "warm_max_age_seconds",
        1.0..=604_800.0,
        3_600.0,
        None,
        "A warm sandbox older than this is replaced.",
        |c| c.warm_max_age
    ),
    choices!(
        "warm_policy",
        WarmPolicy::NAMES,
        WarmPolicy::ALL,
        "How the warm target is set: as written, following demand, or forecast from the recent past.",
        |c| c.warm_policy
    ),
    counts!(
        "warm_max",
        0..=100_000,
        5,
        Some("no warm pool"),
        "With warm_policy demand or forecast: the largest target.",
        |c| c.warm_max
    ),
    counts!(
        "warm_hit_percent",
        1..=99,
        90,
        None,
        "With warm_policy forecast: share of claims that the pool is sized to serve warm.",
        |c| c.warm_hit_percent
    ),
    choices!(
        "start_policy",
        StartPolicy::NAMES,
        StartPolicy::ALL,
        "When a sandbox is asked for: as a turn begins, at its first execute, or as it begins if code is likely.",
        |c| c.start_policy
    ),
    counts!(
        "start_likely_percent",
        1..=100,
        50,
        None,
        "With start_policy likely: ask at the turn's begin from this chance on.",
        |c| c.start_likely_percent
    ),
    choices!(
        "queue_policy",
        QueuePolicy::NAMES,
        QueuePolicy::ALL,
        "Who is admitted first among those that fit.",
        |c| c.queue_policy
    ),
    choices!(
        "reclaim_policy",
        ReclaimPolicy::NAMES,
        ReclaimPolicy::ALL,
        "Whose idle sandbox is taken first when capacity is full.",
        |c| c.reclaim_policy
    ),
    choices!(
        "idle_policy",
        IdlePolicy::NAMES,
        IdlePolicy::ALL,
        "When an idle sandbox ends: after idle_seconds, or sooner while capacity is short.",
        |c| c.idle_policy
    ),
    seconds!(
        "idle_pressure_seconds",
        0.0..=604_800.0,
        60.0,
        Some("idle sandboxes end at once while capacity is short"),
        "With idle_policy pressure: the idle time while capacity is short.",
        |c| c.idle_pressure
    ),
    counts!(
        "idle_pressure_free",
        0..=1_000_000,
        2,
        Some("capacity is never called short"),
        "With idle_policy pressure: capacity is short while fewer default-class sandboxes than this fit.",
        |c| c.idle_pressure_free
    ),
    seconds!(
        "keep_alive_seconds",
        1.0..=DAY,
        300.0,
        None,
        "Leased and warm sandboxes are kept alive, and thereby checked, this often.",
        |c| c.keep_alive
    ),
    seconds!(
        "provider_auto_stop_seconds",
        60.0..=2_592_000.0,
        1_800.0,
        None,
        "The provider's own auto-stop, the last net when nothing of ours is alive.",
        |c| c.provider_auto_stop
    ),
    seconds!(
        "reconcile_seconds",
        1.0..=DAY,
        60.0,
        None,
        "The provider's inventory is compared with the ledger this often.",
        |c| c.reconcile
    ),
    seconds!(
        "orphan_grace_seconds",
        0.0..=DAY,
        60.0,
        Some("an orphan is removed at its first sighting"),
        "A sandbox labelled ours that nobody owns is removed after this long.",
        |c| c.orphan_grace
    ),
    seconds!(
        "limbo_hold_seconds",
        0.1..=DAY,
        120.0,
        None,
        "A sandbox whose create was never answered holds its slot at least this long.",
        |c| c.limbo_hold
    ),
    seconds!(
        "operation_timeout_seconds",
        0.1..=3_600.0,
        30.0,
        None,
        "A provider call other than a start is given up after this long, and retried.",
        |c| c.operation_timeout
    ),
    seconds!(
        "full_hold_seconds",
        0.0..=DAY,
        60.0,
        Some("the limit is not lowered"),
        "After the provider said full while the ledger said free, the lower limit holds this long.",
        |c| c.full_hold
    ),
    counts!(
        "breaker_failures",
        1..=1_000,
        5,
        None,
        "Failed starts in a row that open a class's circuit breaker.",
        |c| c.breaker_failures
    ),
    seconds!(
        "breaker_open_seconds",
        0.1..=3_600.0,
        30.0,
        None,
        "The breaker stays open this long, doubling while trials fail (at most sixteenfold).",
        |c| c.breaker_open
    ),
    seconds!(
        "retry_base_seconds",
        0.01..=3_600.0,
        1.0,
        None,
        "Delay after a first failure; doubles with each further one.",
        |c| c.retry_base
    ),
    seconds!(
        "retry_max_seconds",
        0.01..=3_600.0,
        60.0,
        None,
        "Longest delay between retries.",
        |c| c.retry_max
    ),
    seconds!(
        "drain_grace_seconds",
        0.0..=3_600.0,
        30.0,
        Some("running commands are cut off"),
        "How long a shutdown waits for running commands.",
        |c| c.drain_grace
    ),
    choices!(
        "recovery",
        &["destroy", "adopt"],
        [Recovery::Destroy, Recovery::Adopt],
        "What a restarted server does with the sandboxes that it left behind.",
        |c| c.recovery
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_reads_back_what_was_written() {
        for key in KEYS {
            let mut config = Config::default();
            let values: Vec<Value> = match key.kind {
                KeyKind::Count { min, max } => vec![count(min), count(max)],
                KeyKind::Seconds { min, max, unlimited } => {
                    let mut values = vec![number(min), number(max)];
                    if unlimited {
                        values.push(Value::Unlimited);
                    }
                    values
                }
                KeyKind::Amount { min, max } => vec![number(min), number(max), Value::Unlimited],
                KeyKind::Choice(words) => (0..words.len()).map(Value::Choice).collect(),
            };
            for value in values {
                (key.set)(&mut config, value);
                assert_eq!((key.get)(&config), value, "{}", key.name);
            }
        }
    }

    #[test]
    fn every_default_is_in_range_and_names_are_unique() {
        let mut names: Vec<_> = KEYS.iter().map(|key| key.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KEYS.len());
        for key in KEYS {
            match (key.kind, key.default) {
                (KeyKind::Count { min, max }, Value::Count(value)) => {
                    assert!((min..=max).contains(&value), "{}", key.name);
                    assert_eq!(min == 0, key.zero.is_some(), "{}: say what zero means", key.name);
                }
                (KeyKind::Seconds { min, max, .. }, Value::Number(value)) => {
                    assert!((min..=max).contains(&value), "{}", key.name);
                    assert_eq!(min == 0.0, key.zero.is_some(), "{}: say what zero means", key.name);
                }
                (KeyKind::Amount { .. }, Value::Number(_) | Value::Unlimited)
                | (KeyKind::Choice(_), Value::Choice(0)) => {}
                other => panic!("{}: {other:?}", key.name),
            }
        }
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        assert_eq!(Config::default().out_of_range(), []);
        let mut config = Config { keep_alive: Span::ZERO, max_starting: -1, ..Config::default() };
        config.classes[0].resources.memory_mb = -1;
        let keys: Vec<_> = config.out_of_range().iter().map(|conflict| conflict.key).collect();
        assert_eq!(keys, ["max_starting", "keep_alive_seconds", "classes"]);
    }

    #[test]
    fn contradictions_are_named() {
        let config = Config {
            limbo_hold: Span::from_secs(1),
            retry_max: Span::from_millis(10),
            provider_auto_stop: Span::from_secs(60),
            ..Config::default()
        };
        let keys: Vec<_> = config.conflicts().iter().map(|conflict| conflict.key).collect();
        assert_eq!(keys, ["limbo_hold_seconds", "retry_max_seconds", "provider_auto_stop_seconds"]);
    }
}
