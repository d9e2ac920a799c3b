//! A discrete-event simulator that runs sandpool's scheduler against a simulated provider.

mod daytona;
mod random;
mod scenario;
mod workload;

pub use daytona::{Answered, Change, Cloud, CreateRequest, Ending, Finished, Key, Labels, Latencies, Listing, Machine, OtherTenants, Outage, Preparation, Profile, RateLimits, Refusal, Sandbox, State, Tally, Usability, VerbFaults};
pub use random::{Distribution, DistributionError, Purpose, Stream, StreamFamily, WeightError, Weighted};
pub use scenario::{Crashes, Expectation, LoadError, Mistake, PolicyBlock, Prices, Scenario, ScenarioErrors, Template, Variant, WarmUp, load, parse, parse_policy_block, parse_with_measures, to_policy_block};
pub use workload::{Accounts, Arrivals, Conversation, DrawnColumn, ExecutePlan, ReplayOptions, Source, Trace, TraceErrors, TraceMistake, TraceOptions, TraceProblem, TraceTimes, TurnPlan, Workload, WorkloadError};
