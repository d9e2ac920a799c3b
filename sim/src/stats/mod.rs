//! Statistics of simulation output: summaries within a replication, intervals over replications.

mod fairness;
mod histogram;
mod interval;
mod mser5;
mod paired;
mod quantile;
mod running;
mod stopping;
#[cfg(test)]
pub(crate) mod test_random;
mod time_weighted;

pub use fairness::jain_index;
pub use histogram::Histogram;
pub use interval::{CONFIDENCE, Interval, t_quantile};
pub use mser5::{Mser5Error, mser5};
pub use paired::{Direction, paired_difference, paired_quantile_difference};
pub use quantile::{quantile_interval, quantile_of_sorted};
pub use running::Running;
pub use stopping::{MIN_REPLICATIONS, Stopping, StoppingError, StoppingRule};
pub use time_weighted::{BinnedTimeWeighted, TimeWeighted};
