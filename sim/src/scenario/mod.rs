//! Scenario files: as written, with their places in the file, and as resolved.

mod model;

pub use model::{Crashes, Expectation, Prices, Scenario, Variant, WarmUp};
