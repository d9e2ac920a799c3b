//! Charts and one self-contained HTML page from result tables.
//!
//! The input is [`ReportData`]: plain numbers and text, whatever computed them. [`render_svg`]
//! draws one [`Chart`], [`render_html`] writes the whole page. Both are pure: the same data give the
//! same bytes.
//!
//! ```
//! use sandpool_reports::{Chart, ChartError, Estimate, ReportData, VariantData, render_svg};
//!
//! # fn main() -> Result<(), ChartError> {
//! let variant = VariantData {
//!     name: "base".into(),
//!     total_cost: Some(Estimate::new(0.31, 0.30, 0.32)),
//!     wait_p95: Some(Estimate::new(5.6, 5.2, 6.0)),
//!     ..VariantData::default()
//! };
//! let data = ReportData { variants: vec![variant], ..ReportData::default() };
//! let svg = render_svg(Chart::CostAgainstWait, &data)?;
//! assert!(svg.contains("base"));
//! # Ok(())
//! # }
//! ```

mod chart;
mod check;
mod data;
mod error;
mod html;
mod number;
#[cfg(test)]
mod test_data;

pub use chart::{Chart, render_svg};
pub use data::{
    Better, CdfPoint, CostByCause, Difference, Estimate, Measure, OverTime, ReportData,
    StateCounts, TimeBin, VariantData, Verdict,
};
pub use error::{ChartError, ReportError};
pub use html::render_html;
