//! Scenario files: as written, with their places in the file, and as resolved.

mod defaults;
mod diagnostics;
mod distribution;
mod duration;
mod expect;
mod file;
mod mistake;
mod model;
mod overlay;
mod policy_block;
mod provider;
mod reader;
mod reference;
mod schema;
mod setup;
mod shape;
mod tree;
mod variants;
mod workload;

#[cfg(test)]
mod mistakes_as_told;

pub use diagnostics::{ScenarioDiagnostic, render_mistakes};
pub use file::{LoadError, load, parse, parse_with_measures};
pub use mistake::{Mistake, ScenarioErrors};
pub use model::{Crashes, Expectation, Prices, Scenario, Variant, WarmUp};
pub use policy_block::{PolicyBlock, Template, parse_policy_block, to_policy_block};
pub use reference::reference_markdown;
pub use schema::schema;
