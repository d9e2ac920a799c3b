//! Puts each case through the real scheduler until the comparison with its closed form is sharp.

use super::cases::{Case, Quantity, oracle_cases};
use super::estimate::{Replication, estimate};
use super::setup::{Cut, variant_of};
use crate::engine::{Outcome, RunOptions, run};
use crate::scenario::Variant;
use crate::stats::Histogram;
use crate::workload::Source;
use rayon::prelude::*;
use sandpool_core::Span;
use serde::Serialize;

/// A simulated value further than this many standard errors from its closed form is wrong.
pub const MOST_DEVIATIONS: f64 = 4.0;

/// The seed of the shipped verification.
pub const VERIFY_SEED: u64 = 20_260;

/// The most replications of one case. A case that needs more has too short ones.
const MOST_REPLICATIONS: usize = 40_000;

/// Customers of the replication in which every invariant is checked after every step.
const CHECKED_CUSTOMERS: f64 = 300.0;

/// The cases of the quick form: every model, W1 among them, none that needs a long run.
const QUICK: [&str; 13] = [
    "M/M/c/c, c=1, load=0.5",
    "M/M/c/c, c=10, load=8",
    "M/M/c, c=1, load per server=0.5",
    "M/M/c, c=10, load per server=0.8",
    "M/M/c+D, c=10, arrivals=1.1/s, service=10 s, patience=30 s",
    "M/M/c+D, c=10, arrivals=0.2/s, service=60 s, patience=30 s",
    "M/M/c+M, c=10, arrivals=1.1/s, service=10 s, mean patience=30 s",
    "M/M/c/K, c=10, K=20, arrivals=11/s",
    "M/M/c/K, c=1, K=10, arrivals=0.9/s",
    "M/G/1, deterministic, load=0.8",
    "M/G/1, Erlang-2, load=0.5",
    "M/G/inf, exponential service=60 s, arrivals=0.2/s",
    "keep-alive, mean gap=300 s, kept=300 s",
];

/// How a verification is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerifyOptions {
    /// Seed of every random stream.
    pub seed: u64,
    /// Replications are added until each standard error is at most this share of the exact value.
    pub relative_error: f64,
    /// Replications to begin with, at least 20.
    pub replications: usize,
    /// Length of a replication in relaxation times of its case.
    pub lengths: f64,
    /// The fewest customers of a replication, on average: shorter ones would mostly be set-up.
    pub customers: f64,
}

impl VerifyOptions {
    /// Standard errors of at most 1 %.
    #[must_use]
    pub const fn full(seed: u64) -> Self {
        Self { seed, relative_error: 0.01, replications: 64, lengths: 300.0, customers: 20_000.0 }
    }

    /// Standard errors of at most 4 %.
    #[must_use]
    pub const fn quick(seed: u64) -> Self {
        Self { seed, relative_error: 0.04, replications: 40, lengths: 60.0, customers: 2_000.0 }
    }
}

/// What a comparison came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// Within [`MOST_DEVIATIONS`] standard errors.
    Agrees,
    /// Further away.
    Deviates,
    /// The standard error did not become small enough.
    Imprecise,
}

/// One quantity of a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// What is compared ([`Quantity::name`]).
    pub quantity: &'static str,
    /// The closed form.
    pub exact: f64,
    /// The simulation.
    pub simulated: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Simulated less exact, in standard errors.
    pub deviations: f64,
    /// The verdict.
    pub agreement: Agreement,
}

/// One case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseReport {
    /// Its name.
    pub case: String,
    /// How many replications it took.
    pub replications: usize,
    /// Left out at the beginning of each, simulated seconds.
    pub warm_up_seconds: f64,
    /// Measured in each, simulated seconds.
    pub measured_seconds: f64,
    /// Executes asked for in all of them, the warm-ups included.
    pub customers: u64,
    /// Its quantities.
    pub comparisons: Vec<Comparison>,
    /// What did not hold exactly although it must: conservation, Little's law, the answers'
    /// times, inputs that were turned down, illegal transitions. Empty when all is well.
    pub broken: Vec<String>,
}

impl CaseReport {
    /// Whether everything agrees and holds.
    #[must_use]
    pub fn is_fine(&self) -> bool {
        self.broken.is_empty()
            && self.comparisons.iter().all(|one| one.agreement == Agreement::Agrees)
    }
}

/// The cases of the quick form.
#[must_use]
pub fn quick_cases() -> Vec<Case> {
    oracle_cases().into_iter().filter(|case| QUICK.contains(&case.name.as_str())).collect()
}

/// Runs a case. Replications run in parallel on the current thread pool; the result does not
/// depend on the number of threads.
///
/// # Panics
/// When the scheduler breaks one of its invariants, which one short replication checks after every
/// step.
#[must_use]
pub fn verify_case(case: &Case, options: &VerifyOptions) -> CaseReport {
    let variant = variant_of(case);
    let seed = seed_of(case, options.seed);
    let cut = Cut::of(case, options.lengths).at_least(options.customers / case.arrivals_per_second);
    let mut broken = Vec::new();
    let checked = Cut {
        warm_up_seconds: 0.0,
        measured_seconds: CHECKED_CUSTOMERS / case.arrivals_per_second,
    };
    let checked = replicate(&variant, seed, u32::MAX, checked, true);
    broken.extend(broken_in(&checked, u32::MAX));

    let keeps_waits = case.expected.iter().any(|&(quantity, _)| quantity == Quantity::WaitP99);
    let mut all: Vec<Replication> = Vec::new();
    let mut customers = 0;
    let mut excess = 1.0;
    loop {
        let wanted = if all.is_empty() {
            options.replications.max(20)
        } else {
            next_count(all.len(), excess).min(MOST_REPLICATIONS)
        };
        let batch: Vec<(Replication, u64, Option<String>)> = (all.len()..wanted)
            .into_par_iter()
            .map(|number| {
                let number = number as u32;
                let outcome = replicate(&variant, seed, number, cut, false);
                let mut sums = outcome.measures.queueing();
                if !keeps_waits {
                    sums.waits = Histogram::new();
                }
                let turns = outcome.measures.counts().turns;
                (Replication { sums, turns }, outcome.balance.asked, broken_in(&outcome, number))
            })
            .collect();
        for (replication, asked, fault) in batch {
            all.push(replication);
            customers += asked;
            broken.extend(fault);
        }
        // The error is measured against the exact value, which is not random, and the verdict
        // plays no part: stopping on agreement would favour it.
        excess = case
            .expected
            .iter()
            .map(|&(quantity, exact)| {
                let found = estimate(case, quantity, &all);
                found.standard_error / (options.relative_error * exact.abs())
            })
            .fold(0.0, f64::max);
        if excess <= 1.0 || all.len() >= MOST_REPLICATIONS || !broken.is_empty() {
            break;
        }
    }
    let compare =
        |&(quantity, exact): &(Quantity, f64)| compare(case, quantity, exact, &all, options);
    CaseReport {
        case: case.name.clone(),
        replications: all.len(),
        warm_up_seconds: cut.warm_up_seconds,
        measured_seconds: cut.measured_seconds,
        customers,
        comparisons: case.expected.iter().map(compare).collect(),
        broken,
    }
}

/// How many replications come next when the largest standard error is `excess` times too large:
/// errors shrink with the root of their number. A twentieth more, because the error itself is an
/// estimate, and never more than three times as many at once, while it still is a rough one.
fn next_count(count: usize, excess: f64) -> usize {
    let factor = (1.05 * excess * excess).clamp(1.1, 3.0);
    (count as f64 * factor).ceil() as usize
}

/// The standard error of a share as the exact value implies it where the sample cannot tell: with
/// fewer than ten exceptions expected, a run may well see none and take its share for certain.
/// Each customer counts as one trial (for the utilisation: each service as long as the mean).
fn error_of_rare(quantity: Quantity, exact: f64, customers: f64) -> f64 {
    let is_share = matches!(
        quantity,
        Quantity::WaitProbability
            | Quantity::AbandonProbability
            | Quantity::BlockProbability
            | Quantity::Utilisation
            | Quantity::ColdProbability
    );
    let exceptions = customers * exact.min(1.0 - exact);
    if is_share && exceptions < 10.0 { exceptions.max(0.0).sqrt() / customers } else { 0.0 }
}

fn compare(
    case: &Case,
    quantity: Quantity,
    exact: f64,
    all: &[Replication],
    options: &VerifyOptions,
) -> Comparison {
    let mut found = estimate(case, quantity, all);
    let customers: u64 = all.iter().map(|one| one.sums.served + one.sums.abandoned).sum();
    found.standard_error =
        found.standard_error.max(error_of_rare(quantity, exact, customers as f64));
    let difference = found.value - exact;
    // Where nothing varies (a server that is never free), rounding is all that can differ.
    let is_same = difference.abs() <= 1e-9 * exact.abs();
    let deviations = if is_same { 0.0 } else { difference / found.standard_error };
    let agreement = if deviations.is_nan() || deviations.abs() > MOST_DEVIATIONS {
        Agreement::Deviates
    } else if found.standard_error > options.relative_error * exact.abs() {
        Agreement::Imprecise
    } else {
        Agreement::Agrees
    };
    Comparison {
        quantity: quantity.name(),
        exact,
        simulated: found.value,
        standard_error: found.standard_error,
        deviations,
        agreement,
    }
}

/// A seed of its own for each case: under one seed all would have the same arrivals, and one run of
/// bad luck would show in many of them (FNV-1a over the name).
fn seed_of(case: &Case, seed: u64) -> u64 {
    case.name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
        .wrapping_add(seed)
}

fn replicate(
    variant: &Variant,
    seed: u64,
    replication: u32,
    cut: Cut,
    check_invariants: bool,
) -> Outcome {
    let options = RunOptions {
        seed,
        replication,
        duration: Span::from_secs_f64(cut.warm_up_seconds + cut.measured_seconds),
        warm_up: Span::from_secs_f64(cut.warm_up_seconds),
        bin: None,
        check_invariants,
        journal: false,
        wind_down: false,
    };
    let source = Source::new(&variant.workload, seed, replication, options.duration);
    run(variant, source, &options)
}

/// What must hold exactly in a run in which nothing goes wrong at the provider.
fn broken_in(outcome: &Outcome, replication: u32) -> Option<String> {
    let illegal = outcome.measures.counts().illegal;
    let fault = if let Err(imbalance) = outcome.balance.check_strictly() {
        imbalance.to_string()
    } else if outcome.rejections > 0 {
        format!("{} inputs were turned down", outcome.rejections)
    } else if illegal > 0 {
        format!("{illegal} illegal transitions")
    } else {
        return None;
    };
    Some(format!("replication {replication}: {fault}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str) -> Case {
        oracle_cases().into_iter().find(|case| case.name == name).expect(name)
    }

    /// Short replications and loose errors: seconds, not minutes.
    const LOOSE: VerifyOptions = VerifyOptions {
        seed: VERIFY_SEED,
        relative_error: 0.15,
        replications: 20,
        lengths: 15.0,
        customers: 2_000.0,
    };

    #[test]
    fn the_quick_cases_exist() {
        assert_eq!(quick_cases().len(), QUICK.len());
    }

    #[test]
    fn the_scheduler_agrees_with_queueing_theory_on_every_quick_case() {
        for case in quick_cases() {
            let report = verify_case(&case, &LOOSE);
            assert!(report.is_fine(), "seed {VERIFY_SEED}: {report:#?}");
            assert!(report.replications >= 20 && report.customers > 20_000);
        }
    }

    #[test]
    fn a_wrong_closed_form_is_found_out() {
        let mut wrong = case("M/M/c, c=1, load per server=0.5");
        for (_, exact) in &mut wrong.expected {
            *exact *= 2.0;
        }
        let report = verify_case(&wrong, &LOOSE);
        assert!(!report.is_fine());
        assert!(report.comparisons.iter().all(|one| one.agreement == Agreement::Deviates));
        assert!(report.broken.is_empty(), "{:?}", report.broken);
    }

    #[test]
    fn more_replications_follow_from_the_error_and_never_from_the_verdict() {
        assert_eq!(next_count(100, 1.01), 111);
        assert_eq!(next_count(100, 1.5), 237);
        assert_eq!(next_count(100, 9.0), 300);
    }

    #[test]
    fn an_exception_too_rare_to_be_seen_is_no_certainty() {
        // One in ten million, and a million customers: to see none is likely, ten are too many.
        let error = error_of_rare(Quantity::WaitProbability, 1.0 - 1e-7, 1e6);
        assert!(1e-7 / error < 1.0 && 1e-5 / error > 4.0, "{error}");
        assert_eq!(error_of_rare(Quantity::WaitProbability, 1.0 - 1e-4, 1e6), 0.0);
        assert_eq!(error_of_rare(Quantity::MeanWait, 1.0 - 1e-7, 1e6), 0.0);
    }

    #[test]
    fn a_run_without_variation_is_compared_by_rounding() {
        let case = case("M/M/c, c=1, load per server=0.5");
        let sums = replicate(&variant_of(&case), 1, 0, Cut::of(&case, 20.0), false);
        let same = Replication { sums: sums.measures.queueing(), turns: 0 };
        let all = vec![same.clone(), same];
        let exact = estimate(&case, Quantity::Utilisation, &all).value;
        let compare = |exact| compare(&case, Quantity::Utilisation, exact, &all, &LOOSE).agreement;
        assert_eq!(compare(exact), Agreement::Agrees);
        assert_eq!(compare(exact * 1.001), Agreement::Deviates);
    }
}
