//! Recorded traffic: reading a trace and playing it back.

mod error;
mod read;
mod replay;
mod table;

pub use error::{TraceErrors, TraceMistake, TraceProblem};
pub use read::TraceOptions;
pub(crate) use replay::Replay;
pub use replay::{ReplayOptions, TraceTimes};
pub use table::{DrawnColumn, Trace};
