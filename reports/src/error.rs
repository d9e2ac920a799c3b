//! What can be wrong with the numbers, or with drawing them.

/// Why a chart cannot be drawn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ChartError {
    /// A number is NaN or infinite.
    #[error("{what} is {value}, which is not a finite number")]
    NotFinite {
        /// Where it stands, for example `variant "base": wait_p95`.
        what: String,
        /// The number.
        value: f64,
    },
    /// A number is outside its range.
    #[error("{what} is {value}, outside its range of {low} to {high}")]
    OutOfRange {
        /// Where it stands.
        what: String,
        /// The number.
        value: f64,
        /// Smallest allowed.
        low: f64,
        /// Largest allowed; infinite if there is none.
        high: f64,
    },
    /// An interval's low end is above its high end, or points that must ascend do not.
    #[error("{what} is out of order")]
    OutOfOrder {
        /// Where it stands.
        what: String,
    },
    /// Two variants have one name.
    #[error("two variants are named {name:?}; hint: variant names must be unique")]
    DuplicateVariant {
        /// The name.
        name: String,
    },
    /// A difference names no variant, or the first one, from which differences are taken.
    #[error(
        "a difference in {measure:?} is for {variant:?}; hint: name a variant other than the first"
    )]
    UnknownVariant {
        /// The variant named.
        variant: String,
        /// The measure.
        measure: String,
    },
    /// The drawing library failed.
    #[error("drawing failed: {reason}")]
    Drawing {
        /// What it said.
        reason: String,
    },
}

/// Why a report cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A chart or its numbers.
    #[error(transparent)]
    Chart(#[from] ChartError),
    /// The page's template failed.
    #[error("writing the page failed")]
    Page(#[from] askama::Error),
}
