//! A discrete-event simulator that runs sandpool's scheduler against a simulated provider.

mod daytona;
mod random;
mod scenario;
mod workload;

pub use daytona::{Latencies, OtherTenants, Outage, Profile, RateLimits, VerbFaults};
pub use random::Distribution;
pub use scenario::{
    Crashes, Expectation, LoadError, Mistake, NotASetting, Point, PolicyBlock, Prices, ReadOptions,
    Scenario, ScenarioArgs, ScenarioDiagnostic, ScenarioErrors, Setting, Template, Variant, WarmUp,
    load, load_with, parse, parse_policy_block, parse_with, reference_markdown, render_mistakes,
    schema, to_policy_block,
};
pub use workload::{Accounts, Arrivals, Workload};
