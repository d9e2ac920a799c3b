//! Sandboxes by state over the run, stacked, against the limit: one plot a variant, all on one
//! scale.

use super::axes;
use super::bins::{Slice, slices};
use super::canvas::{Anchor, Area, Canvas, Font, Stroke};
use super::legend;
use super::scale::Scale;
use super::style::{self, AreaLook, INK, MUTED, SMALL_SIZE, TEXT_SIZE};
use super::text;
use crate::data::{ReportData, StateCounts, VariantData};
use crate::number;

/// More columns than this in a plot are joined by their means.
const MOST_COLUMNS: usize = 144;
const PLOT_HEIGHT: f64 = 170.0;
const LONE_PLOT_HEIGHT: f64 = 280.0;
/// Pixels between two plots side by side, without labels.
const BETWEEN: f64 = 30.0;
const LIMIT_LINE: Stroke = Stroke { tone: INK, width: 1.6, dash: &[6.0, 4.0] };

/// The name of a group of states, its look, and its count.
type Band = (&'static str, AreaLook, fn(&StateCounts) -> f64);

/// From the bottom of the stack to its top.
const STACK: [Band; 6] = [
    ("in use (assigned, busy)", style::BUSY, |s| s.in_use),
    ("idle", style::IDLE, |s| s.idle),
    ("warm", style::WARM, |s| s.warm),
    ("starting", style::STARTING, |s| s.starting),
    ("destroying", style::DESTROYING, |s| s.destroying),
    ("limbo, failed, dead", style::LOST, |s| s.lost),
];

fn entries() -> Vec<(&'static str, AreaLook)> {
    STACK.iter().map(|&(name, look, _)| (name, look)).collect()
}

fn columns(variants: usize) -> usize {
    if variants < 2 { 1 } else { 2 }
}

fn plot_height(variants: usize) -> f64 {
    if variants < 2 { LONE_PLOT_HEIGHT } else { PLOT_HEIGHT }
}

fn row_height(variants: usize) -> f64 {
    axes::Y_TITLE + plot_height(variants) + axes::X_LABELS + 12.0
}

pub(super) fn height(data: &ReportData) -> f64 {
    let count = data.variants.len().max(1);
    let rows = count.div_ceil(columns(count)) as f64;
    let width = style::WIDTH - 2.0 * super::MARGIN;
    legend::rows_height(&entries(), width) + 26.0 + rows * row_height(count) + axes::X_TITLE - 12.0
}

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Area, data: &ReportData) {
    let stacks: Vec<Vec<Slice>> =
        data.variants.iter().map(|variant| slices(&variant.over_time, MOST_COLUMNS)).collect();
    if stacks.iter().all(Vec::is_empty) {
        axes::nothing(canvas, &area, "Nothing was recorded over time.");
        return;
    }
    let end = stacks.iter().filter_map(|s| s.last()).map(|s| s.end_hours).fold(0.0, f64::max);
    let highest = stacks.iter().flatten().map(|s| s.bin.sandboxes.total()).fold(0.0, f64::max);
    let limit = data.variants.iter().filter_map(|v| v.limit_sandboxes).fold(0.0, f64::max);
    let scale = Scale::linear(0.0, highest.max(limit), 6);
    let count = data.variants.len();
    let across = columns(count);
    let label_width = axes::left_of(&scale);
    let plot_width = (area.width() - label_width - (across - 1) as f64 * (BETWEEN + label_width))
        / across as f64;
    let legend_height = legend::rows_height(&entries(), area.width());
    legend::rows(canvas, &area, &entries());
    let top = area.top + legend_height + 26.0;
    let at = (area.left, top - 12.0);
    canvas.text(at, Anchor::Start, Font::new(MUTED, TEXT_SIZE), "sandboxes (mean number)");
    for (index, (variant, stack)) in data.variants.iter().zip(&stacks).enumerate() {
        let (row, column) = (index / across, index % across);
        let left = area.left + label_width + column as f64 * (plot_width + BETWEEN + label_width);
        let plot_top = top + row as f64 * row_height(count) + axes::Y_TITLE;
        let plot = Area::new(left, plot_top, left + plot_width, plot_top + plot_height(count));
        let ticks = if across == 1 { 10 } else { 6 };
        let x = Scale::hours(end, ticks).onto(plot.left, plot.right);
        let y = scale.clone().onto(plot.bottom, plot.top);
        draw_one(canvas, &plot, &x, &y, variant, stack);
        // The last plot of each column says what the axis is.
        if index + across >= count {
            axes::horizontal_title(canvas, &plot, "time since the start of the run (h)");
        }
    }
}

fn draw_one(
    canvas: &mut Canvas<'_>,
    plot: &Area,
    x: &Scale,
    y: &Scale,
    variant: &VariantData,
    stack: &[Slice],
) {
    axes::vertical(canvas, plot, y);
    let limit = variant.limit_sandboxes.map(|limit| {
        let label = format!("limit {}", number::plain(limit));
        (limit, text::width(&label, SMALL_SIZE), label)
    });
    let limit_width = limit.as_ref().map_or(0.0, |(_, width, _)| width + 44.0);
    let name = text::cut(&variant.name, TEXT_SIZE, (plot.width() - limit_width) / 1.08);
    let title_y = plot.top - 13.0;
    canvas.text((plot.left, title_y), Anchor::Start, Font::new(INK, TEXT_SIZE).bold(), &name);
    if stack.is_empty() {
        axes::nothing(canvas, plot, "Nothing was recorded over time.");
    }
    let mut sums = vec![0.0; stack.len()];
    for (_, look, count) in STACK {
        let mut band = Vec::with_capacity(stack.len());
        for (sum, slice) in sums.iter_mut().zip(stack) {
            let bottom = y.at(*sum);
            *sum += count(&slice.bin.sandboxes);
            let (left, right) = (x.at(slice.bin.start_hours), x.at(slice.end_hours));
            band.push(Area::new(left, y.at(*sum), right, bottom));
        }
        canvas.columns(&band, look);
    }
    axes::horizontal(canvas, plot, x, false);
    if let Some((limit, width, label)) = limit {
        canvas.line((plot.left, y.at(limit)), (plot.right, y.at(limit)), LIMIT_LINE);
        // The label stands in the title's row with a sample of the line, where it hides no data.
        let font = Font::new(INK, SMALL_SIZE);
        canvas.text((plot.right, title_y), Anchor::End, font, &label);
        let sample_end = plot.right - width - 6.0;
        canvas.line((sample_end - 26.0, title_y), (sample_end, title_y), LIMIT_LINE);
    }
}
