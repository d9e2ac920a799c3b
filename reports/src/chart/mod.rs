//! The charts of a report, one file each.

mod axes;
mod bins;
mod canvas;
mod cost_against_wait;
mod cost_by_cause;
mod differences;
mod legend;
mod over_day;
mod scale;
mod states;
mod style;
mod text;
mod wait_cdf;

pub(crate) use style::dark_rules;

use crate::check::check;
use crate::data::ReportData;
use crate::error::ChartError;
use canvas::{Anchor, Area, Font};
use style::{INK, TITLE_SIZE, WIDTH};

/// Pixels left free around a chart.
const MARGIN: f64 = 14.0;
/// Pixels that the title takes.
const TITLE_HEIGHT: f64 = 34.0;

/// A chart of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chart {
    /// Exposed wait of first executes, as a cumulative distribution.
    WaitCdf,
    /// Cost against the 95th percentile of the exposed wait, with both intervals.
    CostAgainstWait,
    /// Cost by cause, stacked.
    CostByCause,
    /// Waiting and refusals over the run.
    OverDay,
    /// Sandboxes by state over the run, against the limit.
    States,
    /// Paired differences from the first variant, with their intervals.
    Differences,
}

impl Chart {
    /// Every chart, in the order of the report.
    pub const ALL: [Chart; 6] = [
        Chart::WaitCdf,
        Chart::CostAgainstWait,
        Chart::CostByCause,
        Chart::OverDay,
        Chart::States,
        Chart::Differences,
    ];

    /// The name of its file.
    #[must_use]
    pub const fn file_name(self) -> &'static str {
        match self {
            Chart::WaitCdf => "wait-cdf.svg",
            Chart::CostAgainstWait => "cost-against-wait.svg",
            Chart::CostByCause => "cost-by-cause.svg",
            Chart::OverDay => "over-day.svg",
            Chart::States => "states.svg",
            Chart::Differences => "differences.svg",
        }
    }

    /// Its title.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Chart::WaitCdf => "How long a first execute waited",
            Chart::CostAgainstWait => "What a shorter wait costs",
            Chart::CostByCause => "Where the money goes",
            Chart::OverDay => "Waiting and refusals over the run",
            Chart::States => "What the sandboxes were doing",
            Chart::Differences => "Differences from the first variant",
        }
    }

    /// One plain sentence that says how to read it.
    #[must_use]
    pub const fn reading(self) -> &'static str {
        match self {
            Chart::WaitCdf => {
                "A line at height 0.95 above 2 s says that 95 % of first executes waited at most \
                 2 s, so a line further up and to the left is better; marks stand at half and at \
                 95 %, and what a line lacks to 1 at the right edge was refused."
            }
            Chart::CostAgainstWait => {
                "Each mark is one variant and its cross shows both confidence intervals; further \
                 left is a shorter wait, further down is cheaper."
            }
            Chart::CostByCause => {
                "Each bar is the mean cost per simulated hour, split by what a sandbox was doing \
                 while it was paid for; only the dark part at the left ran a command."
            }
            Chart::OverDay => {
                "The upper lines count the claims waiting at a time, the lower ones the executes \
                 refused per hour, both as means over replications."
            }
            Chart::States => {
                "The height of a band is the mean number of sandboxes in that state; where the \
                 stack touches the dashed line the quota is used up."
            }
            Chart::Differences => {
                "Each mark is a variant minus the first one over the same arrivals, with its \
                 confidence interval; it is filled where the interval excludes zero, and the \
                 shaded side is the better one."
            }
        }
    }
}

/// Draws a chart as an SVG document with its title, on white.
///
/// # Errors
/// A number that is not finite or out of range, points out of order, a name used twice.
pub fn render_svg(chart: Chart, data: &ReportData) -> Result<String, ChartError> {
    check(data)?;
    draw(chart, data, TITLE_HEIGHT)
}

/// Draws a chart of data that have been checked, without its title, to stand in a page.
pub(crate) fn render_inline(chart: Chart, data: &ReportData) -> Result<String, ChartError> {
    draw(chart, data, 0.0)
}

fn draw(chart: Chart, data: &ReportData, title_height: f64) -> Result<String, ChartError> {
    let height = match chart {
        Chart::WaitCdf => wait_cdf::height(data),
        Chart::CostAgainstWait => cost_against_wait::height(data),
        Chart::CostByCause => cost_by_cause::height(data),
        Chart::OverDay => over_day::height(data),
        Chart::States => states::height(data),
        Chart::Differences => differences::height(data),
    };
    let top = MARGIN + title_height;
    let area = Area::new(MARGIN, top, WIDTH - MARGIN, top + height);
    let names: Vec<&str> = data.variants.iter().map(|variant| variant.name.as_str()).collect();
    let label = format!("{}. Variants: {}.", chart.title(), names.join(", "));
    canvas::draw((WIDTH, area.bottom + MARGIN), &label, |canvas| {
        canvas.rectangle(Area::new(0.0, 0.0, WIDTH, area.bottom + MARGIN), style::PAPER);
        if title_height > 0.0 {
            let font = Font::new(INK, TITLE_SIZE).bold();
            let at = (area.left, MARGIN + TITLE_SIZE / 2.0);
            canvas.text(at, Anchor::Start, font, chart.title());
        }
        match chart {
            Chart::WaitCdf => wait_cdf::draw(canvas, area, data),
            Chart::CostAgainstWait => cost_against_wait::draw(canvas, area, data),
            Chart::CostByCause => cost_by_cause::draw(canvas, area, data),
            Chart::OverDay => over_day::draw(canvas, area, data),
            Chart::States => states::draw(canvas, area, data),
            Chart::Differences => differences::draw(canvas, area, data),
        }
    })
}
