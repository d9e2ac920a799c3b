//! The choices an operator can make by name. One folder a question, one file an answer; each
//! answer is a pure function of the view it is given.

mod names;

pub use names::{IdlePolicy, QueuePolicy, ReclaimPolicy, StartPolicy, WarmPolicy};
