//! Claims waiting and executes refused over the run: two plots over one time axis.

use super::axes;
use super::bins::{Slice, slices};
use super::canvas::{Area, Canvas, Point, Stroke};
use super::legend;
use super::scale::Scale;
use super::style;
use crate::data::{ReportData, TimeBin};

const WAITING_HEIGHT: f64 = 190.0;
const REFUSALS_HEIGHT: f64 = 130.0;
const BETWEEN: f64 = 16.0;
/// More points than this in a line are joined by their means.
const MOST_POINTS: usize = 160;
/// Pixels between two markers of a line.
const MARKER_GAP: f64 = 130.0;

pub(super) fn height(data: &ReportData) -> f64 {
    let plots = 2.0 * axes::Y_TITLE + WAITING_HEIGHT + BETWEEN + REFUSALS_HEIGHT;
    plots.max(axes::Y_TITLE + legend::column_height(&data.variants))
        + axes::X_LABELS
        + axes::X_TITLE
}

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Area, data: &ReportData) {
    let lines: Vec<Vec<Slice>> =
        data.variants.iter().map(|variant| slices(&variant.over_time, MOST_POINTS)).collect();
    if lines.iter().all(Vec::is_empty) {
        axes::nothing(canvas, &area, "Nothing was recorded over time.");
        return;
    }
    let end = lines.iter().filter_map(|line| line.last()).map(|s| s.end_hours).fold(0.0, f64::max);
    let panels = [
        Panel { title: "claims waiting (mean)", value: |bin| bin.waiting },
        Panel { title: "refused executes (per hour)", value: |bin| bin.refusals_per_hour },
    ];
    let scales = panels.map(|panel| {
        let most = lines.iter().flatten().map(|s| (panel.value)(&s.bin)).fold(0.0, f64::max);
        Scale::linear(0.0, most, 4)
    });
    let left = area.left + scales.iter().map(axes::left_of).fold(0.0, f64::max);
    let right = area.right - legend::column_width(&data.variants);
    let top = area.top + axes::Y_TITLE;
    let middle = top + WAITING_HEIGHT;
    let below = middle + BETWEEN + axes::Y_TITLE;
    let plots = [
        Area::new(left, top, right, middle),
        Area::new(left, below, right, below + REFUSALS_HEIGHT),
    ];
    let x = Scale::hours(end, 10).onto(left, right);
    for ((panel, scale), plot) in panels.iter().zip(scales).zip(plots) {
        let y = scale.onto(plot.bottom, plot.top);
        axes::vertical(canvas, &plot, &y);
        axes::vertical_title(canvas, &plot, panel.title);
        axes::horizontal(canvas, &plot, &x, true);
        panel.lines(canvas, &x, &y, &lines);
    }
    axes::horizontal_title(canvas, &plots[1], "time since the start of the run (h)");
    legend::column(canvas, right + 24.0, top, &data.variants);
}

#[derive(Clone, Copy)]
struct Panel {
    title: &'static str,
    value: fn(&TimeBin) -> f64,
}

impl Panel {
    fn lines(&self, canvas: &mut Canvas<'_>, x: &Scale, y: &Scale, lines: &[Vec<Slice>]) {
        let count = lines.len() as f64;
        for (index, line) in lines.iter().enumerate().rev() {
            let look = style::variant(index);
            let path: Vec<Point> = line
                .iter()
                .map(|slice| (x.at(slice.middle_hours()), y.at((self.value)(&slice.bin))))
                .collect();
            let stroke = Stroke { tone: look.tone, width: 2.0, dash: look.dash };
            canvas.path(&path, stroke);
            // Each line's markers begin a little later than those of the line before, so that they
            // do not hide each other where lines meet.
            let Some(first) = path.first() else { continue };
            let mut next = first.0 + MARKER_GAP * (index as f64 + 0.5) / count;
            for &point in &path {
                if point.0 >= next || path.len() == 1 {
                    canvas.marker(point, look.marker, look.tone, 3.4, false);
                    next = point.0 + MARKER_GAP;
                }
            }
        }
    }
}
