//! Cost by cause: one stacked bar a variant.

use super::axes;
use super::canvas::{Anchor, Area, Canvas, Font};
use super::legend;
use super::scale::Scale;
use super::style::{self, AreaLook, INK, TEXT_SIZE};
use super::text;
use crate::data::{CostByCause, ReportData};
use crate::number;

const BAR_HEIGHT: f64 = 26.0;
const BAR_STEP: f64 = 42.0;
/// Most pixels for a name on the left.
const NAME_WIDTH: f64 = 170.0;
/// Pixels for the total on the right of the plot.
const TOTAL_WIDTH: f64 = 86.0;

fn causes(cost: &CostByCause) -> [(&'static str, AreaLook, f64); 6] {
    [
        ("busy", style::BUSY, cost.busy),
        ("idle", style::IDLE, cost.idle),
        ("warm", style::WARM, cost.warm),
        ("starting", style::STARTING, cost.starting),
        ("never used", style::NEVER_USED, cost.never_used),
        ("orphaned", style::LOST, cost.orphaned),
    ]
}

fn entries() -> Vec<(&'static str, AreaLook)> {
    causes(&CostByCause::default()).iter().map(|&(name, look, _)| (name, look)).collect()
}

pub(super) fn height(data: &ReportData) -> f64 {
    let bars = data.variants.len().max(2) as f64 * BAR_STEP;
    let width = style::WIDTH - 2.0 * super::MARGIN;
    legend::rows_height(&entries(), width) + 8.0 + bars + axes::X_LABELS + axes::X_TITLE
}

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Area, data: &ReportData) {
    if data.variants.is_empty() {
        axes::nothing(canvas, &area, "There is no variant to show the cost of.");
        return;
    }
    let font = Font::new(INK, TEXT_SIZE);
    let names: Vec<Vec<String>> = data
        .variants
        .iter()
        .map(|variant| text::wrap(&variant.name, TEXT_SIZE, NAME_WIDTH, 2))
        .collect();
    let widest =
        names.iter().flatten().map(|line| text::width(line, TEXT_SIZE)).fold(24.0, f64::max);
    let legend_height = legend::rows_height(&entries(), area.width());
    let plot = Area::new(
        area.left + widest + 14.0,
        area.top + legend_height + 8.0,
        area.right - TOTAL_WIDTH,
        area.bottom - axes::X_LABELS - axes::X_TITLE,
    );
    let most = data.variants.iter().map(|v| v.cost.total()).fold(0.0, f64::max);
    let x = Scale::linear(0.0, most, 6).onto(plot.left, plot.right);
    let places = number::decimals_for(most, 3);
    axes::horizontal(canvas, &plot, &x, true);
    axes::horizontal_title(canvas, &plot, "mean cost ($ per simulated hour)");
    for (index, variant) in data.variants.iter().enumerate() {
        let middle = plot.top + (index as f64 + 0.5) * BAR_STEP;
        let (top, bottom) = (middle - BAR_HEIGHT / 2.0, middle + BAR_HEIGHT / 2.0);
        let lines = &names[index];
        for (i, line) in lines.iter().enumerate() {
            let y = middle + (i as f64 - (lines.len() - 1) as f64 / 2.0) * 15.0;
            canvas.text((plot.left - 10.0, y), Anchor::End, font, line);
        }
        let mut sum = 0.0;
        for (_, look, cost) in causes(&variant.cost) {
            let left = x.at(sum);
            sum += cost.max(0.0);
            canvas.columns(&[Area::new(left, top, x.at(sum), bottom)], look);
        }
        let total = number::fixed(sum, places);
        canvas.text((x.at(sum) + 8.0, middle), Anchor::Start, font.bold(), &format!("${total}"));
    }
    legend::rows(canvas, &area, &entries());
}
