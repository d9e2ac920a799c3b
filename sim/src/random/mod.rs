//! Random numbers that no crate upgrade can change, keyed so that two policies meet the same luck.

mod distribution;
mod logarithm;
mod permutation;
mod stream;
mod weighted;

pub use distribution::{Distribution, DistributionError};
pub(crate) use distribution::{to_count, to_nanos, to_span, unit_exponential};
pub(crate) use permutation::Permutation;
pub use stream::{Purpose, Stream, StreamFamily};
pub use weighted::{WeightError, Weighted};
