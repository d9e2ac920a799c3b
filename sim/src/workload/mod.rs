//! Who asks for what, when: conversations, turns, think times, executes.

mod model;

pub use model::{Accounts, Arrivals, Workload};
