//! Estimates from independent replications, with standard errors.

use super::cases::{Case, Quantity};
use crate::measure::Queueing;
use crate::stats::Histogram;

/// What a quantity came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// What one replication came to.
#[derive(Clone, Debug)]
pub(super) struct Replication {
    pub(super) sums: Queueing,
    /// Turns begun within the measured time.
    pub(super) turns: u64,
}

/// Estimates a quantity from the replications of a case.
///
/// Averages over customers are ratios of two sums, both random; averages over time are ratios to
/// the measured time. Each is the ratio of the sums over all replications, corrected for bias and
/// given its standard error by the jackknife (Quenouille 1956, Tukey 1958), which leaves out one
/// replication at a time. Averaging the replications' own ratios would keep their bias however
/// many there are.
pub(super) fn estimate(case: &Case, quantity: Quantity, all: &[Replication]) -> Estimate {
    let ratio = |parts: &dyn Fn(&Replication) -> (f64, f64)| {
        jackknife(
            all,
            |r| {
                let (n, d) = parts(r);
                [n, d, 0.0]
            },
            |[n, d, _]| n / d,
        )
    };
    let servers = f64::from(case.servers);
    match quantity {
        Quantity::WaitProbability => ratio(&|r| {
            // Who left without service had to wait.
            ((r.sums.waited + r.sums.abandoned) as f64, not_blocked(&r.sums))
        }),
        Quantity::AbandonProbability => ratio(&|r| (r.sums.abandoned as f64, not_blocked(&r.sums))),
        Quantity::BlockProbability => {
            ratio(&|r| (r.sums.blocked as f64, not_blocked(&r.sums) + r.sums.blocked as f64))
        }
        Quantity::MeanWait => {
            ratio(&|r| (r.sums.served_seconds + r.sums.refused_seconds, not_blocked(&r.sums)))
        }
        Quantity::MeanWaitServed => ratio(&|r| (r.sums.served_seconds, r.sums.served as f64)),
        Quantity::WaitVariance => jackknife(
            all,
            |r| {
                let waited = r.sums.served_seconds + r.sums.refused_seconds;
                [r.sums.waited_square_seconds, waited, not_blocked(&r.sums)]
            },
            variance_of_sums,
        ),
        Quantity::WaitP99 => quantile(all, 0.99),
        Quantity::MeanQueue => ratio(&|r| (r.sums.waiting_seconds, r.sums.seconds)),
        Quantity::Utilisation => ratio(&|r| (r.sums.busy_seconds, r.sums.seconds * servers)),
        Quantity::MeanInService => ratio(&|r| (r.sums.busy_seconds, r.sums.seconds)),
        Quantity::InServiceVariance => jackknife(
            all,
            |r| [r.sums.busy_square_seconds, r.sums.busy_seconds, r.sums.seconds],
            variance_of_sums,
        ),
        Quantity::ColdProbability => ratio(&|r| (r.sums.cold as f64, r.turns as f64)),
    }
}

fn not_blocked(sums: &Queueing) -> f64 {
    (sums.served + sums.abandoned) as f64
}

/// The variance from the sum of squares, the sum and the number.
fn variance_of_sums([squares, sum, number]: [f64; 3]) -> f64 {
    let mean = sum / number;
    squares / number - mean * mean
}

/// A smooth function of sums over replications: jackknife estimate and standard error.
fn jackknife(
    all: &[Replication],
    parts: impl Fn(&Replication) -> [f64; 3],
    of: impl Fn([f64; 3]) -> f64,
) -> Estimate {
    let count = all.len() as f64;
    let parts: Vec<[f64; 3]> = all.iter().map(parts).collect();
    let total = parts.iter().fold([0.0; 3], |sum, part| std::array::from_fn(|i| sum[i] + part[i]));
    let without: Vec<f64> =
        parts.iter().map(|part| of(std::array::from_fn(|i| total[i] - part[i]))).collect();
    let mean = without.iter().sum::<f64>() / count;
    let squares: f64 = without.iter().map(|value| (value - mean).powi(2)).sum();
    Estimate {
        value: count * of(total) - (count - 1.0) * mean,
        standard_error: ((count - 1.0) / count * squares).sqrt(),
    }
}

/// The quantile of all waits together. Its standard error is that of the share of waits below it,
/// which varies from one replication to the next, divided by the density there (the delta method;
/// Serfling 1980, "Approximation theorems of mathematical statistics", section 2.5).
fn quantile(all: &[Replication], q: f64) -> Estimate {
    let mut merged = Histogram::new();
    for replication in all {
        merged.merge(&replication.sums.waits);
    }
    let value = inverse(&merged, q);
    let share = jackknife(
        all,
        |r| {
            let count = r.sums.waits.count() as f64;
            [share_below(&r.sums.waits, value) * count, count, 0.0]
        },
        |[below, count, _]| below / count,
    );
    // A quarter of the tail on either side: wide enough to count many, narrow enough to be local.
    let tail = (1.0 - q) / 4.0;
    let density = 2.0 * tail
        / (inverse(&merged, q + tail) - inverse(&merged, q - tail)).max(f64::MIN_POSITIVE);
    Estimate { value: value / 1e9, standard_error: share.standard_error / density / 1e9 }
}

/// The wait below which a share `q` lies, nanoseconds, even within a bucket.
fn inverse(waits: &Histogram, q: f64) -> f64 {
    let (mut at, mut share) = (0.0, 0.0);
    for (upper, up_to) in waits.cdf() {
        if up_to >= q {
            // The bucket begins where its neighbour ends, also where that one is empty.
            let upper = upper as f64;
            let lower = f64::max(at, upper * (1.0 - 1.0 / 128.0));
            return if upper <= 256.0 {
                upper
            } else {
                lower + (upper - lower) * (q - share) / (up_to - share)
            };
        }
        (at, share) = (upper as f64, up_to);
    }
    at
}

/// The share of waits below `nanos`, even within a bucket.
fn share_below(waits: &Histogram, nanos: f64) -> f64 {
    let (mut at, mut share) = (0.0, 0.0);
    for (upper, up_to) in waits.cdf() {
        let upper = upper as f64;
        if upper >= nanos {
            let lower = f64::max(at, upper * (1.0 - 1.0 / 128.0));
            let part = ((nanos - lower) / (upper - lower)).clamp(0.0, 1.0);
            return share + (up_to - share) * part;
        }
        (at, share) = (upper, up_to);
    }
    share
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Distribution, Purpose, Stream};

    const SEED: u64 = 11;

    fn blank() -> Replication {
        let sums = Queueing {
            served: 0,
            abandoned: 0,
            blocked: 0,
            waited: 0,
            served_seconds: 0.0,
            served_nanos: 0,
            refused_seconds: 0.0,
            waited_square_seconds: 0.0,
            waits: Histogram::new(),
            waiting_seconds: 0.0,
            busy_seconds: 0.0,
            busy_square_seconds: 0.0,
            seconds: 1.0,
            cold: 0,
        };
        Replication { sums, turns: 0 }
    }

    /// Replications of waits that are exponential with mean 2 s, 500 each.
    fn exponential(replications: u32) -> Vec<Replication> {
        (0..replications)
            .map(|number| {
                let mut stream = Stream::new(SEED, number, Purpose::Oracle, 0);
                let mut one = blank();
                for _ in 0..500 {
                    let wait = Distribution::Exponential { mean: 2.0 }.sample(&mut stream);
                    one.sums.served += 1;
                    one.sums.served_seconds += wait;
                    one.sums.waited_square_seconds += wait * wait;
                    one.sums.waits.record((wait * 1e9) as u64);
                }
                one
            })
            .collect()
    }

    fn case() -> Case {
        super::super::cases::oracle_cases().remove(0)
    }

    #[test]
    fn known_values_are_found_within_their_errors_which_are_of_the_right_size() {
        let all = exponential(400);
        let count: f64 = 400.0 * 500.0;
        // Standard errors of mean, variance and 99th percentile of an exponential of mean 2.
        for (quantity, exact, error) in [
            (Quantity::MeanWait, 2.0, 2.0 / count.sqrt()),
            (Quantity::WaitVariance, 4.0, 4.0 * (8.0 / count).sqrt()),
            (Quantity::WaitP99, 2.0 * 100_f64.ln(), 2.0 * (0.99 / 0.01 / count).sqrt()),
        ] {
            let found = estimate(&case(), quantity, &all);
            let deviation = (found.value - exact) / found.standard_error;
            assert!(deviation.abs() < 4.0, "{quantity:?}: {found:?}, seed {SEED}");
            let ratio = found.standard_error / error;
            assert!((0.8..1.25).contains(&ratio), "{quantity:?}: {found:?} {error}, seed {SEED}");
        }
    }

    #[test]
    fn a_ratio_is_one_of_sums_not_a_mean_of_ratios() {
        let mut all = vec![blank(), blank(), blank()];
        for (one, (waited, served)) in all.iter_mut().zip([(1.0, 1), (30.0, 10), (20.0, 10)]) {
            (one.sums.served_seconds, one.sums.served) = (waited, served);
        }
        let found = estimate(&case(), Quantity::MeanWaitServed, &all);
        let (pooled, mean_of_ratios) = (51.0 / 21.0, 2.0);
        assert!((found.value - pooled).abs() < (found.value - mean_of_ratios).abs(), "{found:?}");
        assert!(found.standard_error > 0.0);
    }

    #[test]
    fn quantiles_are_found_within_a_bucket() {
        let mut waits = Histogram::new();
        for nanos in 1_000_000..1_010_000 {
            waits.record(nanos);
        }
        for q in [0.1, 0.5, 0.99] {
            let (found, exact) = (inverse(&waits, q), 1_000_000.0 + 10_000.0 * q);
            // A histogram's buckets are at most a percent wide.
            assert!((found / exact - 1.0).abs() < 1e-2, "{q}: {found}");
            assert!((share_below(&waits, found) - q).abs() < 1e-6, "{q}");
        }
    }
}
