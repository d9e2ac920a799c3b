//! A discrete-event simulator that runs sandpool's scheduler against a simulated provider.

mod agenda;
mod bench;
mod daytona;
mod daytona_api;
mod engine;
mod experiment;
mod fuzz;
mod journal;
mod measure;
mod output;
mod random;
mod scenario;
mod stats;
mod verify;
mod workload;

pub use bench::{
    BenchOptions, DecisionBench, DecisionTime, Loop, Rig, Served, W1Run, decision_benchmark,
    decision_table, peak_memory_kb, run_w1, w1_table,
};
pub use daytona::{
    Account, AccountSettings, Answered, ApiCreate, ApiInterval, ApiLimit, ApiLimits, ApiOutcome,
    ApiReply, Arrival, Call, Caller, Change, Cloud, ControlError, CreateRequest, Deny, Desired,
    Ending, Failure, Finished, Key, Labels, Latencies, Lifetimes, Listing, Machine, OtherTenants,
    Outage, Preparation, Profile, RateLimits, Recipe, Refusal, RunnerState, Sandbox, Seen,
    SnapshotSize, State, Tally, Ticket, ToolboxAccess, ToolboxFault, Usability, Uuid, VerbFaults,
    Work, WorkLatencies,
};
pub use daytona_api::{
    CommandExecution, DaytonaApi, DaytonaApiOptions, HostError, Live, StartError,
};
pub use engine::{Journal, Line, Outcome, RunOptions, VirtualClock, What, run};
pub use experiment::{
    Experiment, ExperimentError, ExperimentOptions, Progress, RecordedTraffic, ReportContext,
    ResultFilesError, report_data, result_files, run_experiment, source_of,
};
pub use fuzz::{
    CHECKERS, Checker, Failure as SearchFailure, FuzzRecipe, Piece, Searched, Violation, search,
    search_scenario, shrink,
};
pub use journal::{Divergence, Notable, ReplayedStep, Story, StoryStep, notable, replay, story};
pub use measure::{Balance, Imbalance, Measures};
pub use output::{
    Better, Bin, Cause, CauseCost, CdfPoint, CsvError, Detail, Difference, FORMAT, FolderError,
    MANIFEST, MEASURES, Measure, MeasureId, MeasureInfo, Missed, Observed, ObservedVariant,
    OutputFile, Results, ResultsError, Setting, Unit, UnknownMeasure, VariantResult, Verdict,
    check_expectations, check_target, closest_measure, csv_files, interval_of, measures_markdown,
    summarise, terminal_tables, write_folder,
};
pub use random::{
    Distribution, DistributionError, Purpose, Stream, StreamFamily, WeightError, Weighted,
};
pub use scenario::{
    Crashes, Expectation, KeySetting, LoadError, Mistake, NotASetting, Point, PolicyBlock, Prices,
    ReadOptions, Scenario, ScenarioArgs, ScenarioDiagnostic, ScenarioErrors, Template, Variant,
    WarmUp, load, load_with, parse, parse_policy_block, parse_with, reference_markdown,
    render_mistakes, schema, to_policy_block,
};
pub use stats::{
    BinnedTimeWeighted, CONFIDENCE, Direction, Histogram, Interval, MIN_REPLICATIONS, Mser5Error,
    Running, Stopping, StoppingError, StoppingRule, TimeWeighted, jain_index, mser5,
    paired_difference, paired_quantile_difference, quantile_interval, quantile_of_sorted,
    t_quantile,
};
pub use verify::{
    Agreement, BoundedQueue, Case, CaseReport, Comparison, DeterministicPatience,
    ExponentialPatience, FormulaError, InfinitePatience, MOST_DEVIATIONS, Patience, Quantity,
    SMALLEST_COMPARED, VERIFY_SEED, VerifyOptions, cold_start_probability, erlang_a, erlang_b,
    erlang_c, mean_in_infinite_server, mean_wait_single_server, oracle_cases,
    patience_of_fixed_length, queue_of_bounded_length, quick_cases, sojourn_quantile_mm1,
    verify_case, verify_json, verify_table,
};
pub use workload::{
    Accounts, Arrivals, Conversation, DrawnColumn, ExecutePlan, ReplayOptions, Source, Trace,
    TraceErrors, TraceMistake, TraceOptions, TraceProblem, TraceTimes, TurnPlan, Workload,
    WorkloadError,
};
