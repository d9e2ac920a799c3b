//! The choices an operator can make by name. One folder a question, one file an answer; each
//! answer is a pure function of the view it is given.

pub(crate) mod idle;
mod names;
pub(crate) mod queue;
pub(crate) mod reclaim;
pub(crate) mod start;
pub(crate) mod warm;

pub use names::{IdlePolicy, QueuePolicy, ReclaimPolicy, StartPolicy, WarmPolicy};
