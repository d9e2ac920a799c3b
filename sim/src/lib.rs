//! A discrete-event simulator that runs sandpool's scheduler against a simulated provider.

pub mod daytona;
mod random;
mod scenario;
mod workload;

pub use daytona::{Latencies, OtherTenants, Outage, Profile, RateLimits, VerbFaults};
pub use random::Distribution;
pub use scenario::{Crashes, Expectation, Prices, Scenario, Variant, WarmUp};
pub use workload::{Accounts, Arrivals, Workload};
