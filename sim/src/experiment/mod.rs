//! Experiments: every variant of a scenario, replication by replication, on common random numbers.

mod answer;
mod number;
mod report;
mod runner;
mod traffic;
mod warm_up;

pub use report::{ReportContext, ResultFilesError, report_data, result_files};
pub use runner::{Experiment, ExperimentError, ExperimentOptions, Progress, run_experiment};
pub use traffic::{RecordedTraffic, source_of};
