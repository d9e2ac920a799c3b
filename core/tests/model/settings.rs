//! Random settings: small numbers and short times, so that a few hundred steps meet everything.

use proptest::prelude::*;
use sandpool_core::{
    Class, Config, IdlePolicy, QueuePolicy, ReclaimPolicy, Recovery, Resources, Span, StartPolicy,
    WarmPolicy,
};

fn seconds(choices: &'static [f64]) -> impl Strategy<Value = Span> {
    proptest::sample::select(choices).prop_map(Span::from_secs_f64)
}

fn count(choices: &'static [i64]) -> impl Strategy<Value = i64> {
    proptest::sample::select(choices)
}

/// A sandbox template, small or large in each dimension, with or without a prepare step.
fn class(name: &'static str) -> impl Strategy<Value = Class> {
    (
        count(&[1024, 512, 2048, 4096]),
        count(&[1000, 0, 2000]),
        count(&[0, 3072]),
        any::<bool>(),
        count(&[0, 0, 1, 2]),
    )
        .prop_map(move |(memory_mb, cpu_milli, disk_mb, prepares, warm_sandboxes)| Class {
            name: name.to_owned(),
            resources: Resources { slots: 1, memory_mb, cpu_milli, disk_mb },
            prepares,
            warm_sandboxes,
        })
}

/// The quota: slots always, the other dimensions limited now and then; room for nothing is rare,
/// since then nothing happens.
fn quota() -> impl Strategy<Value = Resources> {
    const NONE: i64 = Resources::UNLIMITED;
    let rarely = |amount: i64, usual: &'static [i64]| prop_oneof![30 => proptest::sample::select(usual), 1 => Just(amount)];
    (
        rarely(0, &[4, 3, 2, 1, 5, 6, 10]),
        rarely(0, &[NONE, NONE, 10 * 1024, 8 * 1024, 4 * 1024]),
        rarely(0, &[NONE, NONE, NONE, 6000, 4000]),
        rarely(1024, &[NONE, NONE, NONE, 18 * 1024, 9 * 1024]),
    )
        .prop_map(|(slots, memory_mb, cpu_milli, disk_mb)| Resources {
            slots,
            memory_mb,
            cpu_milli,
            disk_mb,
        })
}

fn shares(config: Config) -> impl Strategy<Value = Config> {
    (
        quota(),
        count(&[1, 2, 3]),
        count(&[Resources::UNLIMITED, Resources::UNLIMITED, 2048, 1024, 0]),
        count(&[0, 1, 2, 3]),
        seconds(&[10.0, 30.0, 10.0, 3.0, 1.0, 0.0, f64::INFINITY]),
        count(&[1000, 1000, 1000, 3, 1, 0]),
        count(&[3, 2, 1, 0]),
        prop_oneof![Just(1), 1_usize..=3],
        (class("default"), class("large"), class("odd")),
    )
        .prop_map(
            move |(
                max,
                share,
                memory_share,
                keep,
                wait,
                waiting,
                overtakes,
                classes,
                (a, b, c),
            )| {
                let mut config = config.clone();
                config.max = max;
                config.max_sandboxes_per_account = share;
                config.max_memory_mb_per_account = memory_share;
                config.borrow_keep_free = keep;
                config.sandbox_wait = wait;
                config.max_waiting = waiting;
                config.max_overtakes = overtakes;
                config.classes = [a, b, c].into_iter().take(classes).collect();
                config
            },
        )
}

fn lives(config: Config) -> impl Strategy<Value = Config> {
    (
        seconds(&[30.0, 5.0, 900.0, 0.0]),
        seconds(&[1.0, 0.0, 10.0]),
        seconds(&[1800.0, 1800.0, 60.0, 20.0, 1.0]),
        (seconds(&[10.0, 3.0, 1.0]), seconds(&[0.0, 5.0])),
        count(&[3, 1, 2]),
        count(&[5, 1, 2]),
        seconds(&[60.0, 3.0, 0.0]),
        seconds(&[3600.0, 60.0, 5.0]),
        (seconds(&[300.0, 10.0, 2.0]), seconds(&[60.0, 10.0, 3.0])),
        (seconds(&[60.0, 5.0, 0.0]), seconds(&[5.0, 1.0]), seconds(&[60.0, 5.0, 0.0])),
    )
        .prop_map(
            move |(
                idle,
                reclaim_idle,
                turn_timeout,
                (start_timeout, limbo_more),
                attempts,
                max_starting,
                warm_surplus,
                warm_max_age,
                (keep_alive, reconcile),
                (orphan_grace, operation_timeout, full_hold),
            )| {
                let mut config = config.clone();
                config.idle = idle;
                config.reclaim_idle = reclaim_idle;
                config.turn_timeout = turn_timeout;
                config.start_timeout = start_timeout;
                config.limbo_hold = start_timeout.plus(limbo_more);
                config.max_start_attempts = attempts;
                config.max_starting = max_starting;
                config.warm_surplus = warm_surplus;
                config.warm_max_age = warm_max_age;
                config.keep_alive = keep_alive;
                config.provider_auto_stop = Span::from_secs(1800);
                config.reconcile = reconcile;
                config.orphan_grace = orphan_grace;
                config.operation_timeout = operation_timeout;
                config.full_hold = full_hold;
                config
            },
        )
}

fn policies(config: Config) -> impl Strategy<Value = Config> {
    (
        (count(&[5, 2, 1]), seconds(&[1.0, 10.0])),
        (seconds(&[0.05, 1.0]), seconds(&[1.0, 4.0]), seconds(&[5.0, 0.0])),
        proptest::sample::select(&[Recovery::Destroy, Recovery::Adopt][..]),
        (proptest::sample::select(StartPolicy::ALL), count(&[50, 1, 100])),
        (
            proptest::sample::select(&[
                WarmPolicy::Fixed,
                WarmPolicy::Fixed,
                WarmPolicy::Demand,
                WarmPolicy::Forecast,
            ][..]),
            count(&[1, 0, 3]),
        ),
        proptest::sample::select(QueuePolicy::ALL),
        proptest::sample::select(ReclaimPolicy::ALL),
        proptest::sample::select(IdlePolicy::ALL),
        (seconds(&[5.0, 0.0]), count(&[2, 0])),
    )
        .prop_map(
            move |(
                (breaker_failures, breaker_open),
                (retry_base, retry_max, drain_grace),
                recovery,
                (start_policy, start_likely_percent),
                (warm_policy, warm_max),
                queue_policy,
                reclaim_policy,
                idle_policy,
                (idle_pressure, idle_pressure_free),
            )| {
                let mut config = config.clone();
                config.breaker_failures = breaker_failures;
                config.breaker_open = breaker_open;
                config.retry_base = retry_base;
                config.retry_max = retry_max;
                config.drain_grace = drain_grace;
                config.recovery = recovery;
                config.start_policy = start_policy;
                config.start_likely_percent = start_likely_percent;
                config.warm_policy = warm_policy;
                config.warm_max = warm_max;
                config.queue_policy = queue_policy;
                config.reclaim_policy = reclaim_policy;
                config.idle_policy = idle_policy;
                config.idle_pressure = idle_pressure;
                config.idle_pressure_free = idle_pressure_free;
                config
            },
        )
}

/// Any settings that do not contradict themselves.
pub(crate) fn settings() -> impl Strategy<Value = Config> {
    Just(Config::default())
        .prop_flat_map(shares)
        .prop_flat_map(lives)
        .prop_flat_map(policies)
        .prop_filter("contradictory settings", |config| config.conflicts().is_empty())
}
