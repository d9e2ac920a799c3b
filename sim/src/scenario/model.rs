//! A scenario as the engine runs it: every default filled in, every range checked.

use super::defaults;
use crate::daytona::Profile;
use crate::workload::Workload;
use sandpool_core::{Config, Span};

/// A resolved scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The file's stem, or the name it gives itself.
    pub name: String,
    /// The question that the scenario answers, one sentence.
    pub question: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// Replications; with `precision`, the smallest number of them.
    pub replications: u32,
    /// Most replications when a precision is wanted.
    pub max_replications: u32,
    /// Wanted relative half-width of the 95 % interval of the mean exposed wait, 0 to 1.
    pub precision: Option<f64>,
    /// Simulated time per replication.
    pub duration: Span,
    /// What is left out at the beginning.
    pub warm_up: WarmUp,
    /// Width of the bins of charts over time.
    pub bin: Span,
    /// What is compared; at least one.
    pub variants: Vec<Variant>,
    /// Ranges that the results must fall into.
    pub expectations: Vec<Expectation>,
}

/// One column of the comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Its name; unique in the scenario.
    pub name: String,
    /// What it overrides, as `key = value` lines, for tables and reports; empty for the base.
    pub overrides: Vec<String>,
    /// The policy block and the classes.
    pub server: Config,
    /// The simulated provider.
    pub provider: Profile,
    /// The traffic.
    pub workload: Workload,
    /// Crashes of our own server.
    pub crashes: Crashes,
    /// What the provider charges.
    pub prices: Prices,
}

/// What is left out at the beginning of each replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// This much simulated time.
    Fixed(Span),
    /// As much as MSER-5 on the exposed wait says.
    Mser5,
}

/// Crashes of our own server: everything in memory is gone, commands in flight are lost, the store
/// and the provider's sandboxes stay.
#[derive(Clone, Debug, PartialEq)]
pub struct Crashes {
    /// When, from the start of the run, ascending.
    pub at: Vec<Span>,
    /// Crashes an hour at random, in addition.
    pub per_hour: f64,
    /// From the crash to the restart.
    pub restart_after: Span,
}

/// What the provider charges, in US dollars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// Per vCPU and hour, from `started` on.
    pub cpu_hour: f64,
    /// Per GB of memory and hour, from `started` on.
    pub memory_gb_hour: f64,
    /// Per GB of disk and hour, from `started` on.
    pub disk_gb_hour: f64,
}

impl Default for Prices {
    /// Daytona's list prices, as a scenario has them that says nothing of prices.
    fn default() -> Self {
        let dollars = |text: &str| text.parse().expect("a default price is a number");
        Self {
            cpu_hour: dollars(defaults::CPU_HOUR),
            memory_gb_hour: dollars(defaults::MEMORY_GB_HOUR),
            disk_gb_hour: dollars(defaults::DISK_GB_HOUR),
        }
    }
}

/// A range that a result must fall into.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// The variant; every one if `None`.
    pub variant: Option<String>,
    /// The measure's name, as in the result table.
    pub measure: String,
    /// Smallest mean allowed.
    pub min: f64,
    /// Largest mean allowed.
    pub max: f64,
}
