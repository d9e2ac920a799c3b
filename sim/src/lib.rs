//! A discrete-event simulator that runs sandpool's scheduler against a simulated provider.

mod daytona;
mod output;
mod random;
mod scenario;
mod stats;
mod verify;
mod workload;

pub use daytona::{Latencies, OtherTenants, Outage, Profile, RateLimits, VerbFaults};
pub use output::{
    Better, Bin, Cause, CauseCost, CdfPoint, CsvError, Detail, Difference, FORMAT, FolderError,
    MANIFEST, MEASURES, Measure, MeasureId, MeasureInfo, Missed, Observed, ObservedVariant,
    OutputFile, Results, ResultsError, Setting, Unit, UnknownMeasure, VariantResult, Verdict,
    check_expectations, check_target, closest_measure, csv_files, interval_of, measures_markdown,
    summarise, terminal_tables, write_folder,
};
pub use random::Distribution;
pub use scenario::{Crashes, Expectation, Prices, Scenario, Variant, WarmUp};
pub use stats::{
    BinnedTimeWeighted, CONFIDENCE, Direction, Histogram, Interval, MIN_REPLICATIONS, Mser5Error,
    Running, Stopping, StoppingError, StoppingRule, TimeWeighted, jain_index, mser5,
    paired_difference, paired_quantile_difference, quantile_interval, quantile_of_sorted,
    t_quantile,
};
pub use verify::{
    BoundedQueue, Case, DeterministicPatience, ExponentialPatience, FormulaError, InfinitePatience,
    Patience, Quantity, SMALLEST_COMPARED, cold_start_probability, erlang_a, erlang_b, erlang_c,
    mean_in_infinite_server, mean_wait_single_server, oracle_cases, patience_of_fixed_length,
    queue_of_bounded_length, sojourn_quantile_mm1,
};
pub use workload::{Accounts, Arrivals, Workload};
