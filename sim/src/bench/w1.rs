//! W1: ten servers, mean service 10 s, 1.1 customers a second, everybody waits at most 30 s
//! (M/M/10+D). Small enough for a plain loop of a page, and it exercises arrivals, waiting,
//! patience and service alike.

use super::{plain, start};
use crate::engine::{RunOptions, run};
use crate::random::Distribution;
use crate::verify::QueueModel;
use crate::workload::Source;
use sandpool_core::{Span, Time};
use serde::{Deserialize, Serialize};

const ARRIVALS_PER_SECOND: f64 = 1.1;
const SERVICE_SECONDS: f64 = 10.0;
const SERVERS: u32 = 10;
const PATIENCE: Span = Span::from_secs(30);

/// Which implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loop {
    /// The real scheduler, its driver, the simulated provider and the fold over its events: the
    /// same path as any scenario.
    Core,
    /// A plain event loop written for this queue.
    Plain,
}

impl Loop {
    /// The word in tables and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Loop::Core => "core",
            Loop::Plain => "plain",
        }
    }
}

/// How a run of W1 is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BenchOptions {
    /// How many customers arrive, on average.
    pub customers: u64,
    /// Seed of every random stream.
    pub seed: u64,
}

/// What became of the customers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// Customers that arrived.
    pub customers: u64,
    /// Served.
    pub served: u64,
    /// Lost patience.
    pub abandoned: u64,
    /// Served and had waited.
    pub waited: u64,
    /// What the served had waited, summed, nanoseconds.
    pub waited_nanos: u128,
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct W1Run {
    /// Which implementation.
    pub which: Loop,
    /// What became of the customers.
    pub counts: Served,
    /// Real time from the first draw to the last sum, seconds.
    pub elapsed_seconds: f64,
    /// The most that was pending at once: events in the plain loop's heap; clients, timers,
    /// provider calls and claims, together, in the core.
    pub most_pending: usize,
    /// The largest resident size of the process, kB.
    pub peak_memory_kb: Option<u64>,
}

impl W1Run {
    /// Customers per second of real time.
    #[must_use]
    pub fn customers_per_second(&self) -> f64 {
        self.counts.customers as f64 / self.elapsed_seconds
    }

    /// Share of the customers that lost patience, of those whose fate is known.
    #[must_use]
    pub fn abandon_probability(&self) -> f64 {
        self.counts.abandoned as f64 / (self.counts.served + self.counts.abandoned) as f64
    }

    /// Share of them that waited.
    #[must_use]
    pub fn wait_probability(&self) -> f64 {
        let known = self.counts.served + self.counts.abandoned;
        (self.counts.waited + self.counts.abandoned) as f64 / known as f64
    }

    /// Mean wait of the served, seconds.
    #[must_use]
    pub fn mean_wait_served_seconds(&self) -> f64 {
        self.counts.waited_nanos as f64 / 1e9 / self.counts.served as f64
    }
}

/// Runs W1 once.
#[must_use]
pub fn run_w1(which: Loop, options: &BenchOptions) -> W1Run {
    let model = QueueModel {
        arrivals_per_second: ARRIVALS_PER_SECOND,
        service: Distribution::Exponential { mean: SERVICE_SECONDS },
        servers: SERVERS,
        patience: PATIENCE,
        patience_seconds: None,
        queue_depth: None,
    };
    let variant = model.variant("W1");
    let duration = Span::from_secs_f64(options.customers as f64 / ARRIVALS_PER_SECOND);
    let started = start();
    let source = Source::new(&variant.workload, options.seed, 0, duration);
    let (counts, most_pending) = match which {
        Loop::Plain => plain::run(source, SERVERS, PATIENCE, Time::ZERO.plus(duration)),
        Loop::Core => {
            let run_options = RunOptions {
                seed: options.seed,
                replication: 0,
                duration,
                warm_up: Span::ZERO,
                bin: None,
                check_invariants: false,
                journal: false,
                wind_down: false,
            };
            let outcome = run(&variant, source, &run_options);
            let sums = outcome.measures.queueing();
            let counts = Served {
                customers: outcome.measures.counts().conversations,
                served: sums.served,
                abandoned: sums.abandoned,
                waited: sums.waited,
                waited_nanos: sums.served_nanos,
            };
            (counts, outcome.most_pending.iter().sum())
        }
    };
    W1Run {
        which,
        counts,
        elapsed_seconds: started.elapsed().as_secs_f64(),
        most_pending,
        peak_memory_kb: super::peak_memory_kb(),
    }
}

/// The runs of both implementations, or of one, as a table with the ratio of their medians.
#[must_use]
pub fn w1_table(runs: &[W1Run]) -> String {
    use std::fmt::Write;
    let mut text = format!(
        "{:<6} {:>34}  {:>10} {:>10} {:>10} {:>9} {:>9}\n",
        "",
        "customers/s (min / median / max)",
        "P(abandon)",
        "E[W|served]",
        "P(wait)",
        "peak MB",
        "pending"
    );
    for which in [Loop::Plain, Loop::Core] {
        let of: Vec<&W1Run> = runs.iter().filter(|run| run.which == which).collect();
        let Some(last) = of.last() else { continue };
        let rates = sorted(of.iter().map(|run| run.customers_per_second()).collect());
        let rates = format!(
            "{:>10.0} / {:>9.0} / {:>9.0}",
            rates[0],
            median(&rates),
            rates[rates.len() - 1]
        );
        let memory = of.iter().filter_map(|run| run.peak_memory_kb).max();
        let memory = memory.map_or("?".to_owned(), |kb| format!("{:.1}", kb as f64 / 1_024.0));
        let _ = writeln!(
            text,
            "{:<6} {rates:>34}  {:>10.6} {:>11.5} {:>10.6} {memory:>9} {:>9}",
            which.name(),
            last.abandon_probability(),
            last.mean_wait_served_seconds(),
            last.wait_probability(),
            last.most_pending,
        );
    }
    if let Some(ratio) = median_ratio(runs) {
        let _ = writeln!(text, "core / plain: {ratio:.3} (median of {} pairs)", runs.len() / 2);
    }
    text
}

/// The median over pairs of the core's rate divided by the plain loop's.
pub(crate) fn median_ratio(runs: &[W1Run]) -> Option<f64> {
    let rates =
        |which| runs.iter().filter(move |run| run.which == which).map(W1Run::customers_per_second);
    let ratios: Vec<f64> =
        rates(Loop::Core).zip(rates(Loop::Plain)).map(|(core, plain)| core / plain).collect();
    (!ratios.is_empty()).then(|| median(&sorted(ratios)))
}

pub(super) fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// The median of sorted values, of which there is at least one.
pub(super) fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_loops_serve_the_same_customers_after_the_same_waits() {
        for seed in [1, 2, 3] {
            let options = BenchOptions { customers: 20_000, seed };
            let (plain, core) = (run_w1(Loop::Plain, &options), run_w1(Loop::Core, &options));
            assert_eq!(plain.counts, core.counts, "seed {seed}");
            assert!(plain.counts.abandoned > 1_000 && core.most_pending > 20, "{core:?}");
        }
    }

    #[test]
    fn the_table_shows_rates_and_their_ratio() {
        let run = |which, elapsed_seconds| W1Run {
            which,
            counts: Served {
                customers: 1_000,
                served: 900,
                abandoned: 100,
                waited: 500,
                waited_nanos: 9_000_000_000_000,
            },
            elapsed_seconds,
            most_pending: 7,
            peak_memory_kb: Some(2_048),
        };
        let runs = [
            run(Loop::Plain, 1.0),
            run(Loop::Core, 4.0),
            run(Loop::Plain, 1.0),
            run(Loop::Core, 2.0),
            run(Loop::Plain, 1.0),
            run(Loop::Core, 5.0),
        ];
        let table = w1_table(&runs);
        let core: Vec<&str> = table.lines().nth(2).unwrap().split_whitespace().collect();
        assert_eq!(core[..6], ["core", "200", "/", "250", "/", "500"]);
        assert_eq!(core[6..], ["0.100000", "10.00000", "0.600000", "2.0", "7"]);
        assert!(table.ends_with("core / plain: 0.250 (median of 3 pairs)\n"), "{table}");
    }
}
