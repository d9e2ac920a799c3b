//! The simulated Daytona: a pure machine of its own, seeded, fed with times, polled for answers.
//!
//! Two layers. [`Cloud`] is the provider as it is in itself: records, states, quota, rate limits,
//! names, lists, faults. [`Machine`] puts the scheduler's operations to it and gives its answers
//! back when they are due, as an adapter over a network would.

mod account;
mod cloud;
mod deaths;
mod faults;
mod listing;
mod luck;
mod machine;
mod names;
mod outage;
mod profile;
mod quota;
mod rate_limit;
mod record;
mod tenants;
#[cfg(test)]
mod tests;

pub use account::{
    Account, AccountSettings, ApiLimit, ApiLimits, Call, Caller, ControlError,
    Interval as ApiInterval, Outcome as ApiOutcome, Reply as ApiReply, SnapshotSize, Ticket,
    ToolboxAccess, ToolboxFault, Uuid,
};
pub use cloud::{
    Answered, ApiCreate, Arrival, Change, Cloud, CreateRequest, Deny, Desired, Failure, Key,
    Lifetimes, Preparation, Recipe, Refusal, RunnerState, Seen, Tally, Work, WorkLatencies,
};
pub use listing::Listing;
pub use machine::{Machine, Usability};
pub use profile::{Latencies, OtherTenants, Outage, Profile, RateLimits, VerbFaults};
pub use record::{Ending, Finished, Labels, Sandbox, State};
