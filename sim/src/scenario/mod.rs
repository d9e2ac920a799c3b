//! Scenario files: as written, with their places in the file, and as resolved.

mod args;
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
mod settings;
mod setup;
mod shape;
mod tree;
mod variants;
mod workload;

#[cfg(test)]
mod mistakes_as_told;

pub use args::ScenarioArgs;
pub use diagnostics::{ScenarioDiagnostic, render_mistakes};
pub use file::{LoadError, load, load_with, parse, parse_with};
pub use mistake::{Mistake, ScenarioErrors};
pub use model::{Crashes, Expectation, Prices, Scenario, Variant, WarmUp};
pub use policy_block::{PolicyBlock, Template, parse_policy_block, to_policy_block};
pub use reference::reference_markdown;
pub use schema::schema;
pub use settings::{KeySetting, NotASetting, Point, ReadOptions};
