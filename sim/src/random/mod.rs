//! Random numbers that no crate upgrade can change, keyed so that two policies meet the same luck.

mod distribution;
mod stream;
mod weighted;

pub use distribution::{Distribution, DistributionError};
pub use stream::{Purpose, Stream, StreamFamily};
pub use weighted::{WeightError, Weighted};
