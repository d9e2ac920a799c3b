//! How fast: the reference queue W1 through the real scheduler beside a plain event loop, and what
//! one decision of the scheduler costs as the pool grows.
//!
//! Real time is read here and nowhere else in the library, and it reaches no result of a
//! simulation.

mod decisions;
mod memory;
mod plain;
mod w1;

pub use decisions::{DecisionBench, DecisionTime, Rig, decision_benchmark, decision_table};
pub use memory::peak_memory_kb;
pub use w1::{BenchOptions, Loop, Served, W1Run, run_w1, w1_table};

use std::time::Instant;

/// The stop-watch of the benchmarks.
fn start() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
    Instant::now()
}
