//! Claims waiting and executes refused over the run. A few variants share one plot for each; more
//! would be a tangle, so each gets a plot of its own, with the others behind it in grey.

use super::axes;
use super::bins::{Slice, slices};
use super::canvas::{Anchor, Area, Canvas, Font, Point, Stroke};
use super::legend;
use super::scale::Scale;
use super::style::{self, AXIS, INK, SMALL_SIZE, VariantLook};
use super::text;
use crate::data::{ReportData, TimeBin, VariantData};

/// More variants than this do not share a plot.
const MOST_TOGETHER: usize = 4;
/// Plots side by side when each variant has its own.
const ACROSS: usize = 4;
/// More points than this in a line are joined by their means.
const MOST_POINTS: usize = 160;
const WAITING_HEIGHT: f64 = 190.0;
const REFUSALS_HEIGHT: f64 = 130.0;
/// Height of a plot of one variant.
const OWN_HEIGHT: f64 = 84.0;
/// Pixels for the name above a plot of one variant.
const OWN_NAME: f64 = 22.0;
/// Pixels between two plots side by side.
const GUTTER: f64 = 30.0;
/// Pixels between waiting and refusals, the labels of the upper axis included.
const BETWEEN: f64 = 34.0;
/// Pixels between two markers of a line.
const MARKER_GAP: f64 = 130.0;

const X_AXIS: &str = "time since the start of the run (h)";

/// What one set of lines shows.
#[derive(Clone, Copy)]
struct Quantity {
    title: &'static str,
    value: fn(&TimeBin) -> f64,
    height: f64,
}

const QUANTITIES: [Quantity; 2] = [
    Quantity { title: "claims waiting (mean)", value: |bin| bin.waiting, height: WAITING_HEIGHT },
    Quantity {
        title: "refused executes (per hour)",
        value: |bin| bin.refusals_per_hour,
        height: REFUSALS_HEIGHT,
    },
];

/// Height of the plots of all variants, one each, in rows.
fn own_height(variants: usize) -> f64 {
    variants.div_ceil(ACROSS) as f64 * (OWN_NAME + OWN_HEIGHT + axes::X_LABELS)
}

pub(super) fn height(data: &ReportData) -> f64 {
    let count = data.variants.len();
    let plots = if count > MOST_TOGETHER {
        2.0 * (axes::Y_TITLE + own_height(count)) + BETWEEN - axes::X_LABELS
    } else {
        (2.0 * axes::Y_TITLE + WAITING_HEIGHT + BETWEEN + REFUSALS_HEIGHT)
            .max(axes::Y_TITLE + legend::column_height(&data.variants))
            + axes::X_LABELS
    };
    plots + axes::X_TITLE
}

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Area, data: &ReportData) {
    let runs: Vec<Vec<Slice>> =
        data.variants.iter().map(|variant| slices(&variant.over_time, MOST_POINTS)).collect();
    if runs.iter().all(Vec::is_empty) {
        axes::nothing(canvas, &area, "Nothing was recorded over time.");
        return;
    }
    if data.variants.len() > MOST_TOGETHER {
        draw_apart(canvas, &area, &data.variants, &runs);
    } else {
        draw_together(canvas, &area, &data.variants, &runs);
    }
}

fn end_hours(runs: &[Vec<Slice>]) -> f64 {
    runs.iter().filter_map(|run| run.last()).map(|slice| slice.end_hours).fold(0.0, f64::max)
}

impl Quantity {
    fn scale(&self, runs: &[Vec<Slice>], ticks: usize) -> Scale {
        let most = runs.iter().flatten().map(|s| (self.value)(&s.bin)).fold(0.0, f64::max);
        Scale::linear(0.0, most, ticks)
    }

    /// A point in the middle of each bin.
    fn path(&self, run: &[Slice], x: &Scale, y: &Scale) -> Vec<Point> {
        run.iter()
            .map(|slice| (x.at(slice.middle_hours()), y.at((self.value)(&slice.bin))))
            .collect()
    }
}

fn draw_together(
    canvas: &mut Canvas<'_>,
    area: &Area,
    variants: &[VariantData],
    runs: &[Vec<Slice>],
) {
    let scales = QUANTITIES.map(|quantity| quantity.scale(runs, 4));
    let left = area.left + scales.iter().map(axes::left_of).fold(0.0, f64::max);
    let right = area.right - legend::column_width(variants);
    let x = Scale::hours(end_hours(runs), 10).onto(left, right);
    let mut top = area.top + axes::Y_TITLE;
    legend::column(canvas, right + 24.0, top, variants);
    for (quantity, scale) in QUANTITIES.iter().zip(scales) {
        let plot = Area::new(left, top, right, top + quantity.height);
        let y = scale.onto(plot.bottom, plot.top);
        axes::vertical(canvas, &plot, &y);
        axes::vertical_title(canvas, &plot, quantity.title);
        axes::horizontal(canvas, &plot, &x, true);
        for (index, run) in runs.iter().enumerate().rev() {
            let part = (index as f64 + 0.5) / runs.len() as f64;
            draw_line(canvas, &quantity.path(run, &x, &y), style::variant(index), part);
        }
        if quantity.title == QUANTITIES[1].title {
            axes::horizontal_title(canvas, &plot, X_AXIS);
        }
        top = plot.bottom + BETWEEN + axes::Y_TITLE;
    }
}

/// One variant's line with a marker now and then. `part`, from 0 to 1, is where in a gap the first
/// marker stands, so that the markers of lines that meet do not hide each other.
fn draw_line(canvas: &mut Canvas<'_>, path: &[Point], look: VariantLook, part: f64) {
    canvas.path(path, Stroke { tone: look.tone, width: 2.0, dash: look.dash });
    let Some(first) = path.first() else { return };
    let mut next = first.0 + MARKER_GAP * part;
    for &point in path {
        if point.0 >= next || path.len() == 1 {
            canvas.marker(point, look.marker, look.tone, 3.4, false);
            next = point.0 + MARKER_GAP;
        }
    }
}

fn draw_apart(canvas: &mut Canvas<'_>, area: &Area, variants: &[VariantData], runs: &[Vec<Slice>]) {
    let scales = QUANTITIES.map(|quantity| quantity.scale(runs, 3));
    let left = area.left + scales.iter().map(axes::left_of).fold(0.0, f64::max);
    let gutters = (ACROSS - 1) as f64 * GUTTER;
    let width = (area.right - 8.0 - left - gutters) / ACROSS as f64;
    let mut top = area.top + axes::Y_TITLE;
    for (quantity, scale) in QUANTITIES.iter().zip(scales) {
        let whole = Area::new(left, top, area.right, top + own_height(variants.len()));
        axes::vertical_title(canvas, &whole, quantity.title);
        for (index, variant) in variants.iter().enumerate() {
            let (row, column) = (index / ACROSS, index % ACROSS);
            let plot_left = left + column as f64 * (width + GUTTER);
            let plot_top = top + OWN_NAME + row as f64 * (OWN_NAME + OWN_HEIGHT + axes::X_LABELS);
            let plot = Area::new(plot_left, plot_top, plot_left + width, plot_top + OWN_HEIGHT);
            let x = Scale::hours(end_hours(runs), 4).onto(plot.left, plot.right);
            let y = scale.clone().onto(plot.bottom, plot.top);
            if column == 0 {
                axes::vertical(canvas, &plot, &y);
            } else {
                axes::vertical_grid(canvas, &plot, &y);
            }
            axes::horizontal(canvas, &plot, &x, false);
            let name = text::cut(&variant.name, SMALL_SIZE, width / 1.08);
            let font = Font::new(INK, SMALL_SIZE).bold();
            canvas.text((plot.left, plot.top - 10.0), Anchor::Start, font, &name);
            for (other, run) in runs.iter().enumerate() {
                if other != index {
                    canvas.path(&quantity.path(run, &x, &y), Stroke::solid(AXIS, 0.6));
                }
            }
            // The name above says whose line it is; the strongest colour sets it off from the others.
            canvas.path(&quantity.path(&runs[index], &x, &y), Stroke::solid(INK, 2.0));
        }
        top = whole.bottom + axes::Y_TITLE + BETWEEN - axes::X_LABELS;
    }
    let whole =
        Area::new(left, area.top, area.right - 8.0, area.bottom - axes::X_LABELS - axes::X_TITLE);
    axes::horizontal_title(canvas, &whole, X_AXIS);
}
