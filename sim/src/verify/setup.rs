//! The real scheduler laid bare: a case's parameters as a configuration, a provider and traffic.
//!
//! What is added to a queue by sandboxes is switched off, not taken out: a sandbox is created,
//! bound, used, deleted and confirmed gone for every customer, all within one instant.

use super::cases::{Case, Patience};
use crate::daytona::Profile;
use crate::random::Distribution;
use crate::scenario::{Crashes, Prices, Variant};
use crate::workload::{Accounts, Arrivals, Workload};
use sandpool_core::{Class, ClassId, Config, QueuePolicy, Resources, Span, StartPolicy};

/// Far beyond the end of any run.
const NEVER: Span = Span::from_secs(10_000_000_000);

/// A queue of one class: customers arrive, wait, are served once, and leave.
#[derive(Clone, Debug)]
pub(crate) struct QueueModel {
    /// Customers per second (Poisson).
    pub arrivals_per_second: f64,
    /// Service time, seconds.
    pub service: Distribution,
    /// Servers.
    pub servers: u32,
    /// How long everybody waits; unbounded is [`Span::MAX`].
    pub patience: Span,
    /// How long each one waits, where that differs, seconds.
    pub patience_seconds: Option<Distribution>,
    /// How many may wait.
    pub queue_depth: Option<u32>,
}

impl QueueModel {
    /// The queue of a case that is not a keep-alive case.
    fn of(case: &Case) -> Self {
        let (patience, patience_seconds) = match case.patience {
            Patience::Unbounded => (Span::MAX, None),
            Patience::Fixed { seconds } => (Span::from_secs_f64(seconds), None),
            Patience::Exponential { mean_seconds } => {
                (Span::MAX, Some(Distribution::Exponential { mean: mean_seconds }))
            }
        };
        Self {
            arrivals_per_second: case.arrivals_per_second,
            service: case.service.clone(),
            servers: case.servers,
            patience,
            patience_seconds,
            queue_depth: case.queue_depth,
        }
    }

    /// The queue as a variant that the engine runs.
    pub(crate) fn variant(&self, name: &str) -> Variant {
        let mut server = bare_config(self.servers, mean_seconds(&self.service));
        server.sandbox_wait = self.patience;
        if let Some(depth) = self.queue_depth {
            server.max_waiting = i64::from(depth);
        }
        let workload = Workload {
            arrivals: Arrivals::Poisson { per_hour: self.arrivals_per_second * 3_600.0 },
            execute_seconds: self.service.clone(),
            patience_seconds: self.patience_seconds.clone(),
            ..bare_workload()
        };
        variant(name, server, workload)
    }
}

/// The variant that puts a case through the scheduler.
pub(super) fn variant_of(case: &Case) -> Variant {
    let Some(keep_seconds) = case.keep_seconds else {
        return QueueModel::of(case).variant(&case.name);
    };
    // One conversation that never ends; what passes between its uses is think time.
    let mut server = bare_config(case.servers, keep_seconds);
    server.idle = Span::from_secs_f64(keep_seconds);
    let workload = Workload {
        arrivals: Arrivals::At(vec![0.0]),
        turns: Distribution::Constant(f64::from(u32::MAX)),
        think_seconds: Distribution::Exponential { mean: case.arrivals_per_second.recip() },
        execute_seconds: case.service.clone(),
        ..bare_workload()
    };
    variant(&case.name, server, workload)
}

fn variant(name: &str, server: Config, workload: Workload) -> Variant {
    Variant {
        name: name.to_owned(),
        overrides: Vec::new(),
        server,
        provider: Profile::instant(),
        workload,
        crashes: Crashes { at: Vec::new(), per_hour: 0.0, restart_after: Span::ZERO },
        prices: Prices { cpu_hour: 0.0, memory_gb_hour: 0.0, disk_gb_hour: 0.0 },
    }
}

/// As many slots as servers, a share as large, no warm pool, no reserve, no idling.
///
/// Turns, starts and provider calls time out, and sandboxes are kept alive, after twenty times
/// `seconds`, the length of what happens here. None of it can interfere: a turn that waits or runs
/// does not time out, calls are answered at once, and keeping alive changes nothing. Longer ones
/// would only pile up timers that have become stale.
fn bare_config(servers: u32, seconds: f64) -> Config {
    let slots = i64::from(servers);
    let long = Span::from_secs_f64(20.0 * seconds);
    Config {
        max: Resources {
            slots,
            memory_mb: Resources::UNLIMITED,
            cpu_milli: Resources::UNLIMITED,
            disk_mb: Resources::UNLIMITED,
        },
        max_sandboxes_per_account: slots,
        borrow_keep_free: 0,
        sandbox_wait: Span::MAX,
        max_waiting: i64::from(u32::MAX),
        idle: Span::ZERO,
        max_starting: slots,
        turn_timeout: long,
        start_timeout: long,
        limbo_hold: long,
        operation_timeout: long,
        keep_alive: long,
        reconcile: NEVER,
        provider_auto_stop: Span::MAX,
        start_policy: StartPolicy::OnExecute,
        queue_policy: QueuePolicy::Fifo,
        classes: vec![Class { prepares: false, warm_sandboxes: 0, ..Class::default() }],
        ..Config::default()
    }
}

/// One account; one turn with one execute a conversation, and nothing around it.
fn bare_workload() -> Workload {
    let zero = Distribution::Constant(0.0);
    let one = Distribution::Constant(1.0);
    Workload {
        arrivals: Arrivals::At(Vec::new()),
        accounts: Accounts { weights: vec![1.0] },
        turns: one.clone(),
        think_seconds: zero.clone(),
        needs_code: 1.0,
        hint_quality: None,
        executes: one,
        work_before_seconds: zero.clone(),
        work_between_seconds: zero.clone(),
        work_after_seconds: zero.clone(),
        execute_seconds: zero.clone(),
        classes: vec![(ClassId(0), 1.0)],
        patience_seconds: None,
        retry_after_refusal: 0.0,
        retry_pause_seconds: zero.clone(),
        close_after_seconds: zero,
        max_conversations: u64::MAX,
    }
}

/// How one replication of a case is cut: both in simulated seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cut {
    /// Left out at the beginning.
    pub warm_up_seconds: f64,
    /// Measured after it.
    pub measured_seconds: f64,
}

impl Cut {
    /// Measures for at least that long: short replications would mostly be set-up.
    pub(super) fn at_least(mut self, seconds: f64) -> Self {
        self.measured_seconds = self.measured_seconds.max(seconds);
        self
    }

    /// Warm-up and length for a case. `lengths`: how many relaxation times are measured.
    ///
    /// The warm-up is ten relaxation times, after which `e^-10` (0.005 %) of the empty start is
    /// left. A use of a kept sandbox depends on the use before it and on nothing else, so there
    /// the first one alone is left out.
    pub(super) fn of(case: &Case, lengths: f64) -> Self {
        if case.keep_seconds.is_some() {
            let gap_seconds = case.arrivals_per_second.recip();
            return Self { warm_up_seconds: 1e-9, measured_seconds: gap_seconds * 40.0 * lengths };
        }
        let relaxation_seconds = relaxation_seconds(case);
        Self {
            warm_up_seconds: 10.0 * relaxation_seconds,
            measured_seconds: lengths * relaxation_seconds,
        }
    }
}

/// The time in which the memory of the present state fades by a factor of e, roughly but not too
/// short.
///
/// Unbounded queues: `1/(sqrt(c mu) - sqrt(lambda))^2`, which is exact for M/M/1 (Morse 1955,
/// "Stochastic properties of waiting lines"), times `(1 + cv^2)/2` for other service times, as in
/// heavy traffic. Queues bounded by a depth or by patience: the time that a random walk takes
/// across the queue, or the patience, and a service time.
fn relaxation_seconds(case: &Case) -> f64 {
    let service_seconds = mean_seconds(&case.service);
    let capacity = f64::from(case.servers) / service_seconds;
    let arrivals = case.arrivals_per_second;
    let unbounded = || {
        let gap = capacity.sqrt() - arrivals.sqrt();
        (1.0 + squared_cv(&case.service)) / 2.0 / (gap * gap)
    };
    let relaxation_seconds = match (case.patience, case.queue_depth) {
        (Patience::Unbounded, None) => unbounded(),
        (Patience::Unbounded, Some(depth)) => f64::from(depth).powi(2) / (2.0 * capacity),
        (Patience::Fixed { seconds }, _) if arrivals < capacity => unbounded().min(4.0 * seconds),
        (Patience::Fixed { seconds }, _) => 4.0 * seconds,
        (Patience::Exponential { mean_seconds }, _) => mean_seconds,
    };
    relaxation_seconds.max(2.0 * service_seconds)
}

fn mean_seconds(service: &Distribution) -> f64 {
    match *service {
        Distribution::Constant(value) => value,
        Distribution::Exponential { mean } => mean,
        Distribution::LogNormal { mu, sigma } => (mu + sigma * sigma / 2.0).exp(),
        Distribution::Gamma { shape, scale } => shape * scale,
        _ => unreachable!("no case has such a service time"),
    }
}

/// Squared coefficient of variation.
fn squared_cv(service: &Distribution) -> f64 {
    match *service {
        Distribution::Constant(_) => 0.0,
        Distribution::LogNormal { sigma, .. } => (sigma * sigma).exp_m1(),
        Distribution::Gamma { shape, .. } => shape.recip(),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases::oracle_cases;
    use super::*;

    #[test]
    fn every_case_has_a_sound_variant_and_a_cut_of_finite_length() {
        for case in oracle_cases() {
            let variant = variant_of(&case);
            assert_eq!(variant.workload.validate(), Ok(()), "{}", case.name);
            assert!(variant.server.conflicts().is_empty(), "{}", case.name);
            assert_eq!(variant.server.max.slots, i64::from(case.servers));
            let cut = Cut::of(&case, 100.0);
            assert!(cut.warm_up_seconds > 0.0 && cut.measured_seconds < 1e7, "{cut:?}");
            assert!(cut.measured_seconds > 9.0 * cut.warm_up_seconds, "{cut:?}");
        }
    }

    #[test]
    fn relaxation_grows_with_load_and_variation() {
        let seconds = |name: &str| {
            let cases = oracle_cases();
            let case = cases.iter().find(|case| case.name == name).expect(name);
            relaxation_seconds(case)
        };
        let light = seconds("M/M/c, c=1, load per server=0.5");
        let heavy = seconds("M/M/c, c=1, load per server=0.95");
        let wide = seconds("M/G/1, lognormal, cv=3, load=0.95");
        assert!((heavy - 1559.4).abs() < 0.5, "{heavy}");
        assert!(light < 12.0 && (wide / heavy - 5.0).abs() < 1e-9, "{light} {wide}");
    }
}
