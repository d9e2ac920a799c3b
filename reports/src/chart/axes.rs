//! Axes, grids and their labels.

use super::canvas::{Anchor, Area, Canvas, Font, Stroke};
use super::scale::Scale;
use super::style::{AXIS, GRID, MUTED, SMALL_SIZE, TEXT_SIZE};
use super::text;

/// Pixels above a plot that the title of its vertical axis takes.
pub(crate) const Y_TITLE: f64 = 26.0;
/// Pixels below a plot that the labels of the horizontal axis take.
pub(crate) const X_LABELS: f64 = 24.0;
/// Pixels below those that its title takes.
pub(crate) const X_TITLE: f64 = 24.0;
/// Smallest gap between two tick labels, pixels.
const LABEL_GAP: f64 = 8.0;

const GRID_LINE: Stroke = Stroke::solid(GRID, 1.0);
const AXIS_LINE: Stroke = Stroke::solid(AXIS, 1.0);

/// Pixels that the tick labels of a vertical axis take on the left of a plot.
pub(crate) fn left_of(scale: &Scale) -> f64 {
    let widest =
        scale.ticks.iter().map(|tick| text::width(&tick.label, SMALL_SIZE)).fold(16.0, f64::max);
    widest + 12.0
}

/// Horizontal grid lines with their labels on the left.
pub(crate) fn vertical(canvas: &mut Canvas<'_>, plot: &Area, scale: &Scale) {
    let font = Font::new(MUTED, SMALL_SIZE);
    let mut last = f64::INFINITY;
    for tick in &scale.ticks {
        let y = scale.at(tick.value);
        let line = if tick.value == 0.0 { AXIS_LINE } else { GRID_LINE };
        canvas.line((plot.left, y), (plot.right, y), line);
        if (last - y).abs() >= SMALL_SIZE {
            canvas.text((plot.left - 8.0, y), Anchor::End, font, &tick.label);
            last = y;
        }
    }
}

/// Horizontal grid lines alone, for a plot that shares its labels with the one on its left.
pub(crate) fn vertical_grid(canvas: &mut Canvas<'_>, plot: &Area, scale: &Scale) {
    for tick in &scale.ticks {
        let y = scale.at(tick.value);
        canvas.line((plot.left, y), (plot.right, y), GRID_LINE);
    }
}

/// The title of a vertical axis, written above it so that nobody has to turn their head.
pub(crate) fn vertical_title(canvas: &mut Canvas<'_>, plot: &Area, title: &str) {
    let at = (plot.left, plot.top - 15.0);
    canvas.text(at, Anchor::Start, Font::new(MUTED, TEXT_SIZE), title);
}

/// The line of a horizontal axis with ticks and labels below it; a label that would touch the one
/// before it is left out. `grid` draws vertical grid lines too.
pub(crate) fn horizontal(canvas: &mut Canvas<'_>, plot: &Area, scale: &Scale, grid: bool) {
    let font = Font::new(MUTED, SMALL_SIZE);
    let mut free_from = f64::NEG_INFINITY;
    for tick in &scale.ticks {
        let x = scale.at(tick.value);
        if grid {
            canvas.line((x, plot.top), (x, plot.bottom), GRID_LINE);
        }
        let half = text::width(&tick.label, SMALL_SIZE) / 2.0;
        if x - half >= free_from {
            canvas.line((x, plot.bottom), (x, plot.bottom + 4.0), AXIS_LINE);
            canvas.text((x, plot.bottom + 14.0), Anchor::Middle, font, &tick.label);
            free_from = x + half + LABEL_GAP;
        }
    }
    canvas.line((plot.left, plot.bottom), (plot.right, plot.bottom), AXIS_LINE);
}

/// The title of a horizontal axis, below its labels.
pub(crate) fn horizontal_title(canvas: &mut Canvas<'_>, plot: &Area, title: &str) {
    let at = ((plot.left + plot.right) / 2.0, plot.bottom + X_LABELS + 11.0);
    canvas.text(at, Anchor::Middle, Font::new(MUTED, TEXT_SIZE), title);
}

/// Says in the middle of an area why there is nothing in it.
pub(crate) fn nothing(canvas: &mut Canvas<'_>, area: &Area, why: &str) {
    let at = ((area.left + area.right) / 2.0, (area.top + area.bottom) / 2.0);
    canvas.text(at, Anchor::Middle, Font::new(MUTED, TEXT_SIZE), why);
}
