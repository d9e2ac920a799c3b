//! Random numbers that no crate upgrade can change, keyed so that two policies meet the same luck.

mod distribution;

pub use distribution::Distribution;
