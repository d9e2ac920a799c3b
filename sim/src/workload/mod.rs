//! Who asks for what, when: conversations, turns, think times, executes.

mod arrivals;
mod drawn;
mod hint;
mod model;
mod plan;
mod source;
mod trace;

pub use model::{Accounts, Arrivals, Workload, WorkloadError};
pub use plan::{Conversation, ExecutePlan, TurnPlan};
pub use source::Source;
pub use trace::{
    DrawnColumn, ReplayOptions, Trace, TraceErrors, TraceMistake, TraceOptions, TraceProblem,
    TraceTimes,
};
