//! Charts and one self-contained HTML page from result tables.
//!
//! The input is [`ReportData`]: plain numbers and text, whatever computed them. [`render_svg`]
//! draws one [`Chart`], [`render_html`] writes the whole page. Both are pure: the same data give the
//! same bytes.

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
