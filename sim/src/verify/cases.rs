//! The cases on which the simulation must reproduce a closed form, as data.
//!
//! To reach them with the real scheduler: starts take no time, one class of one slot, one turn
//! with one execute a conversation, idle end at once, no warm pool, a share as large as the limit.

use super::formulas::{
    FormulaError, cold_start_probability, erlang_a, erlang_b, erlang_c, mean_in_infinite_server,
    mean_wait_single_server, patience_of_fixed_length, queue_of_bounded_length,
};
use crate::random::Distribution;

/// Values below this are not compared: a run of reasonable length sees too few of what they count.
pub const SMALLEST_COMPARED: f64 = 1e-4;

/// How long an arrival waits before it leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Patience {
    /// As long as it takes.
    Unbounded,
    /// Exactly this long, seconds.
    Fixed {
        /// The patience, seconds.
        seconds: f64,
    },
    /// Exponential.
    Exponential {
        /// Its mean, seconds.
        mean_seconds: f64,
    },
}

/// What is compared. Times in seconds, probabilities and shares from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// An arrival has to wait.
    WaitProbability,
    /// An arrival leaves because its patience ended.
    AbandonProbability,
    /// An arrival is refused at once because the queue is full.
    BlockProbability,
    /// Mean wait of all arrivals that were not refused at once, those that left included.
    MeanWait,
    /// Mean wait of those that were served.
    MeanWaitServed,
    /// Variance of the wait of all arrivals, seconds squared.
    WaitVariance,
    /// 99th percentile of the wait of all arrivals.
    WaitP99,
    /// Mean number waiting, over time.
    MeanQueue,
    /// Share of the servers' time that is used.
    Utilisation,
    /// Mean number in service, over time.
    MeanInService,
    /// Variance of the number in service, over time.
    InServiceVariance,
    /// A use other than the first finds no sandbox left.
    ColdProbability,
}

impl Quantity {
    /// The word in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Quantity::WaitProbability => "wait_probability",
            Quantity::AbandonProbability => "abandon_probability",
            Quantity::BlockProbability => "block_probability",
            Quantity::MeanWait => "mean_wait",
            Quantity::MeanWaitServed => "mean_wait_served",
            Quantity::WaitVariance => "wait_variance",
            Quantity::WaitP99 => "wait_p99",
            Quantity::MeanQueue => "mean_queue",
            Quantity::Utilisation => "utilisation",
            Quantity::MeanInService => "mean_in_service",
            Quantity::InServiceVariance => "in_service_variance",
            Quantity::ColdProbability => "cold_probability",
        }
    }
}

/// One set of parameters and what they must come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The model and its parameters; unique.
    pub name: String,
    /// Poisson arrivals, per second. In a keep-alive case: the uses of the one conversation, whose
    /// gaps are exponential with mean `1 / arrivals_per_second`.
    pub arrivals_per_second: f64,
    /// How long a service takes, seconds.
    pub service: Distribution,
    /// Servers: `max_sandboxes`.
    pub servers: u32,
    /// Patience.
    pub patience: Patience,
    /// Most that may wait; `Some(0)`: who finds all servers busy is refused at once.
    pub queue_depth: Option<u32>,
    /// Set in a keep-alive case only: how long the idle sandbox of the one conversation is kept,
    /// seconds (`idle_seconds`).
    pub keep_seconds: Option<f64>,
    /// What is compared, each above [`SMALLEST_COMPARED`].
    pub expected: Vec<(Quantity, f64)>,
}

impl Case {
    fn new(name: String, arrivals_per_second: f64, service: Distribution, servers: u32) -> Self {
        Self {
            name,
            arrivals_per_second,
            service,
            servers,
            patience: Patience::Unbounded,
            queue_depth: None,
            keep_seconds: None,
            expected: Vec::new(),
        }
    }

    fn expecting(mut self, expected: &[(Quantity, f64)]) -> Self {
        self.expected =
            expected.iter().copied().filter(|(_, value)| *value > SMALLEST_COMPARED).collect();
        self
    }
}

/// Every case, model by model. Cases of which no value is large enough to be compared are left out.
#[must_use]
pub fn oracle_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for make in [
        refuse_at_once,
        infinite_patience,
        fixed_patience,
        exponential_patience,
        bounded_queue,
        single_server,
        infinite_servers,
        keep_alive,
    ] {
        cases.extend(make().expect("the parameters written below are in range"));
    }
    cases.retain(|case| !case.expected.is_empty());
    cases
}

type Cases = Result<Vec<Case>, FormulaError>;

fn exponential(mean: f64) -> Distribution {
    Distribution::Exponential { mean }
}

fn refuse_at_once() -> Cases {
    let sets = [
        (1, 0.5),
        (5, 3.0),
        (10, 5.0),
        (10, 8.0),
        (10, 9.5),
        (10, 11.0),
        (50, 45.0),
        (100, 80.0),
        (100, 95.0),
        (100, 110.0),
    ];
    sets.into_iter()
        .map(|(c, load)| {
            let name = format!("M/M/c/c, c={c}, load={load}");
            let mut case = Case::new(name, load, exponential(1.0), c);
            case.queue_depth = Some(0);
            let blocking = erlang_b(c, load)?;
            Ok(case.expecting(&[
                (Quantity::BlockProbability, blocking),
                (Quantity::Utilisation, load * (1.0 - blocking) / f64::from(c)),
            ]))
        })
        .collect()
}

fn infinite_patience() -> Cases {
    let mut cases = Vec::new();
    for c in [1, 10, 100] {
        for rho in [0.5, 0.8, 0.95] {
            let arrivals = rho * f64::from(c);
            let exact = erlang_c(c, arrivals, 1.0)?;
            let name = format!("M/M/c, c={c}, load per server={rho}");
            cases.push(Case::new(name, arrivals, exponential(1.0), c).expecting(&[
                (Quantity::WaitProbability, exact.wait_probability),
                (Quantity::MeanWait, exact.mean_wait_seconds),
                (Quantity::WaitVariance, exact.wait_variance),
                (Quantity::WaitP99, exact.wait_quantile_seconds(0.99)),
                (Quantity::MeanQueue, exact.mean_queue),
                (Quantity::Utilisation, exact.utilisation),
            ]));
        }
    }
    Ok(cases)
}

fn fixed_patience() -> Cases {
    let sets = [
        (1.1, 10.0, 10),
        (1.0, 10.0, 10),
        (0.95, 10.0, 10),
        (0.8, 10.0, 10),
        (1.5, 10.0, 10),
        (0.05, 50.0, 1),
        (9.5, 10.0, 100),
        (11.0, 10.0, 100),
        (0.2, 60.0, 10),
    ];
    let patience_seconds = 30.0;
    sets.into_iter()
        .map(|(arrivals, service, c)| {
            let name = format!(
                "M/M/c+D, c={c}, arrivals={arrivals}/s, service={service} s, patience={patience_seconds} s"
            );
            let mut case = Case::new(name, arrivals, exponential(service), c);
            case.patience = Patience::Fixed { seconds: patience_seconds };
            let exact = patience_of_fixed_length(c, arrivals, service, patience_seconds)?;
            Ok(case.expecting(&[
                (Quantity::WaitProbability, exact.wait_probability),
                (Quantity::AbandonProbability, exact.abandon_probability),
                (Quantity::MeanWaitServed, exact.mean_wait_served_seconds),
                (Quantity::MeanWait, exact.mean_time_in_queue_seconds),
                (Quantity::MeanQueue, exact.mean_queue),
                (Quantity::Utilisation, exact.utilisation),
            ]))
        })
        .collect()
}

fn exponential_patience() -> Cases {
    let (service, mean_seconds) = (10.0, 30.0);
    [(1.1, 10), (1.0, 10), (11.0, 100)]
        .into_iter()
        .map(|(arrivals, c)| {
            let name = format!(
                "M/M/c+M, c={c}, arrivals={arrivals}/s, service={service} s, mean patience={mean_seconds} s"
            );
            let mut case = Case::new(name, arrivals, exponential(service), c);
            case.patience = Patience::Exponential { mean_seconds };
            let exact = erlang_a(c, arrivals, service, mean_seconds)?;
            Ok(case.expecting(&[
                (Quantity::WaitProbability, exact.wait_probability),
                (Quantity::AbandonProbability, exact.abandon_probability),
                (Quantity::MeanWait, exact.mean_wait_seconds),
                (Quantity::MeanQueue, exact.mean_queue),
                (Quantity::Utilisation, exact.utilisation),
            ]))
        })
        .collect()
}

fn bounded_queue() -> Cases {
    [(10, 20, 9.5), (10, 20, 11.0), (10, 40, 11.0), (1, 10, 0.9)]
        .into_iter()
        .map(|(c, most, arrivals)| {
            let name = format!("M/M/c/K, c={c}, K={most}, arrivals={arrivals}/s");
            let mut case = Case::new(name, arrivals, exponential(1.0), c);
            case.queue_depth = Some(most - c);
            let exact = queue_of_bounded_length(c, most, arrivals, 1.0)?;
            Ok(case.expecting(&[
                (Quantity::BlockProbability, exact.block_probability),
                (Quantity::MeanWait, exact.mean_wait_accepted_seconds),
                (Quantity::MeanQueue, exact.mean_queue),
                (Quantity::Utilisation, exact.utilisation),
            ]))
        })
        .collect()
}

/// M/G/1 with mean service 1 s.
fn single_server() -> Cases {
    // The distribution, its name, its coefficient of variation.
    let mut services = vec![("deterministic".to_owned(), Distribution::Constant(1.0), 0.0)];
    for cv in [0.5_f64, 1.5, 3.0] {
        // A lognormal of mean 1: sigma^2 = ln(1 + cv^2), mu = -sigma^2 / 2.
        let variance = (cv * cv).ln_1p();
        let service = Distribution::LogNormal { mu: -variance / 2.0, sigma: variance.sqrt() };
        services.push((format!("lognormal, cv={cv}"), service, cv));
    }
    for k in [2.0_f64, 4.0] {
        let service = Distribution::Gamma { shape: k, scale: 1.0 / k };
        services.push((format!("Erlang-{k}"), service, k.sqrt().recip()));
    }
    let mut cases = Vec::new();
    for rho in [0.5, 0.8, 0.95] {
        for (name, service, cv) in &services {
            let wait = mean_wait_single_server(rho, 1.0, *cv)?;
            let name = format!("M/G/1, {name}, load={rho}");
            cases.push(Case::new(name, rho, service.clone(), 1).expecting(&[
                (Quantity::WaitProbability, rho),
                (Quantity::MeanWait, wait),
                (Quantity::MeanQueue, rho * wait),
                (Quantity::Utilisation, rho),
            ]));
        }
    }
    Ok(cases)
}

/// M/G/inf: as many servers as are never all in use (a Poisson number of mean 12 exceeds 80 with a
/// probability below 1e-35).
fn infinite_servers() -> Cases {
    let (arrivals, service, servers) = (0.2, 60.0, 80);
    let mean = mean_in_infinite_server(arrivals, service)?;
    [("exponential", exponential(service)), ("deterministic", Distribution::Constant(service))]
        .into_iter()
        .map(|(name, distribution)| {
            let name = format!("M/G/inf, {name} service={service} s, arrivals={arrivals}/s");
            Ok(Case::new(name, arrivals, distribution, servers).expecting(&[
                (Quantity::MeanInService, mean),
                (Quantity::InServiceVariance, mean),
                (Quantity::Utilisation, mean / f64::from(servers)),
            ]))
        })
        .collect()
}

fn keep_alive() -> Cases {
    [(60.0, 300.0), (300.0, 300.0), (300.0, 600.0)]
        .into_iter()
        .map(|(gap, keep): (f64, f64)| {
            let name = format!("keep-alive, mean gap={gap} s, kept={keep} s");
            let mut case = Case::new(name, gap.recip(), Distribution::Constant(0.0), 1);
            case.keep_seconds = Some(keep);
            Ok(case.expecting(&[(Quantity::ColdProbability, cold_start_probability(keep, gap)?)]))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn value(cases: &[Case], name: &str, quantity: Quantity) -> Option<f64> {
        let case = cases.iter().find(|case| case.name.starts_with(name))?;
        case.expected.iter().find(|(found, _)| *found == quantity).map(|(_, value)| *value)
    }

    #[test]
    fn every_model_has_its_sets() {
        let cases = oracle_cases();
        for (model, sets) in [
            ("M/M/c/c,", 10),
            ("M/M/c,", 9),
            ("M/M/c+D,", 9),
            ("M/M/c+M,", 3),
            ("M/M/c/K,", 4),
            ("M/G/1,", 18),
            ("M/G/inf,", 2),
            ("keep-alive,", 3),
        ] {
            let found = cases.iter().filter(|case| case.name.starts_with(model)).count();
            assert_eq!(found, sets, "{model}");
        }
        let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), cases.len(), "names are unique");
    }

    #[test]
    fn nothing_too_small_is_compared() {
        for case in oracle_cases() {
            for (quantity, value) in case.expected {
                assert!(
                    value.is_finite() && value > SMALLEST_COMPARED,
                    "{} {quantity:?}",
                    case.name
                );
            }
        }
    }

    #[test]
    fn values_that_are_known() {
        let cases = oracle_cases();
        for (name, quantity, expected) in [
            ("M/M/c+D, c=10, arrivals=1.1", Quantity::AbandonProbability, 0.093_948_402_36),
            ("M/M/c+D, c=10, arrivals=1.1", Quantity::MeanWaitServed, 21.254_222_25),
            ("M/M/c+M, c=100", Quantity::MeanQueue, 30.623_695_62),
            ("M/M/c/K, c=10, K=40", Quantity::MeanWait, 2.145_179_44),
            ("M/M/c, c=100, load per server=0.95", Quantity::WaitP99, 0.784_970_808_5),
            ("M/G/1, lognormal, cv=3, load=0.95", Quantity::MeanWait, 95.0),
            ("M/M/c/c, c=100, load=110", Quantity::BlockProbability, 0.136_114_838_9),
            ("keep-alive, mean gap=300 s, kept=600", Quantity::ColdProbability, 0.135_335_283_2),
        ] {
            let found = value(&cases, name, quantity).expect(name);
            assert!((found - expected).abs() <= 1e-9 * expected, "{name}: {found}");
        }
        // The chance to leave is 7.7e-9 there: not compared.
        assert_eq!(
            value(&cases, "M/M/c+D, c=100, arrivals=9.5", Quantity::AbandonProbability),
            None
        );
    }

    #[test]
    fn the_service_distributions_have_mean_and_variation_as_named() {
        for case in oracle_cases() {
            if let Distribution::LogNormal { mu, sigma } = case.service {
                assert!(((mu + sigma * sigma / 2.0).exp() - 1.0).abs() < 1e-12, "{}", case.name);
                let cv = (sigma * sigma).exp_m1().sqrt();
                assert!(case.name.contains(&format!("cv={}", (cv * 10.0).round() / 10.0)));
            }
            if let Distribution::Gamma { shape, scale } = case.service {
                assert!((shape * scale - 1.0).abs() < 1e-12, "{}", case.name);
            }
        }
    }
}
