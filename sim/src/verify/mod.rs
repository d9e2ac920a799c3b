//! Closed forms of queueing theory, and the cases on which the simulation must reproduce them.

mod cases;
mod estimate;
mod formulas;
#[cfg(test)]
mod outside_table;
mod report;
mod runner;
mod setup;

pub use cases::{Case, Patience, Quantity, SMALLEST_COMPARED, oracle_cases};
pub use formulas::{
    BoundedQueue, DeterministicPatience, ExponentialPatience, FormulaError, InfinitePatience,
    cold_start_probability, erlang_a, erlang_b, erlang_c, mean_in_infinite_server,
    mean_wait_single_server, patience_of_fixed_length, queue_of_bounded_length,
    sojourn_quantile_mm1,
};
pub use report::{verify_json, verify_table};
pub use runner::{
    Agreement, CaseReport, Comparison, MOST_DEVIATIONS, VERIFY_SEED, VerifyOptions, quick_cases,
    verify_case,
};
pub(crate) use setup::QueueModel;
