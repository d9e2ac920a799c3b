//! Result tables: what is measured, how it is summed up, and how it reaches a terminal or a folder.

mod csv_files;
mod expectations;
mod folder;
mod measures;
mod numbers;
mod results;
mod summary;
mod terminal;

pub use csv_files::{CsvError, csv_files};
pub use expectations::{Missed, UnknownMeasure, check_expectations};
pub use folder::{FolderError, MANIFEST, OutputFile, check_target, write_folder};
pub use measures::{
    Better, Cause, MEASURES, MeasureId, MeasureInfo, Unit, closest_measure, measures_markdown,
};
pub use results::{
    Bin, CauseCost, CdfPoint, Difference, FORMAT, Measure, Results, ResultsError, VariantResult,
    Verdict,
};
pub use summary::{Observed, ObservedVariant, Setting, interval_of, summarise};
pub use terminal::{Detail, terminal_tables};
