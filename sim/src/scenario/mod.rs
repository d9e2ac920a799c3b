//! Scenario files: as written, with their places in the file, and as resolved.

mod defaults;
mod distribution;
mod duration;
mod file;
mod mistake;
mod model;
mod overlay;
mod policy_block;
mod provider;
mod reader;
mod setup;
mod shape;
mod tree;
mod workload;

pub use file::{LoadError, load, parse, parse_with_measures};
pub use mistake::{Mistake, ScenarioErrors};
pub use model::{Crashes, Expectation, Prices, Scenario, Variant, WarmUp};
pub use policy_block::{PolicyBlock, Template, parse_policy_block, to_policy_block};
