//! Cost against the 95th percentile of the exposed wait: a mark with two intervals a variant.

use super::axes;
use super::canvas::{Anchor, Area, CAP, Canvas, Font, Point, Stroke};
use super::scale::Scale;
use super::style::{self, AXIS, INK, MUTED, TEXT_SIZE};
use super::text;
use crate::data::{Estimate, ReportData};

const PLOT_HEIGHT: f64 = 340.0;
/// Most pixels for a name beside its mark.
const NAME_WIDTH: f64 = 190.0;
const LINE_HEIGHT: f64 = 15.0;

pub(super) fn height(_: &ReportData) -> f64 {
    axes::Y_TITLE + PLOT_HEIGHT + axes::X_LABELS + axes::X_TITLE + 20.0
}

struct Mark {
    index: usize,
    at: Point,
    /// What the cross of its intervals covers.
    reach: Area,
}

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Area, data: &ReportData) {
    let both: Vec<(usize, Estimate, Estimate)> = data
        .variants
        .iter()
        .enumerate()
        .filter_map(|(index, v)| Some((index, v.wait_p95?, v.total_cost?)))
        .collect();
    if both.is_empty() {
        axes::nothing(canvas, &area, "No variant has both a wait and a cost.");
        return;
    }
    let y = around(both.iter().map(|(_, _, cost)| cost), 5);
    let plot = Area::new(
        area.left + axes::left_of(&y),
        area.top + axes::Y_TITLE,
        area.right - 16.0,
        area.top + axes::Y_TITLE + PLOT_HEIGHT,
    );
    let y = y.onto(plot.bottom, plot.top);
    let x = around(both.iter().map(|(_, wait, _)| wait), 8).onto(plot.left, plot.right);
    axes::vertical(canvas, &plot, &y);
    axes::vertical_title(canvas, &plot, "total cost ($ per simulated hour); lower is cheaper");
    axes::horizontal(canvas, &plot, &x, true);
    axes::horizontal_title(
        canvas,
        &plot,
        "95th percentile of the exposed wait (s); further left is faster",
    );
    let marks: Vec<Mark> = both
        .iter()
        .map(|(index, wait, cost)| Mark {
            index: *index,
            at: (x.at(wait.mean), y.at(cost.mean)),
            reach: Area::new(
                x.at(wait.low()),
                y.at(cost.high()),
                x.at(wait.high()),
                y.at(cost.low()),
            ),
        })
        .collect();
    for mark in marks.iter().rev() {
        draw_intervals(canvas, mark);
    }
    for mark in marks.iter().rev() {
        let look = style::variant(mark.index);
        canvas.marker(mark.at, look.marker, look.tone, 5.2, false);
    }
    draw_names(canvas, &plot, &marks, data);
    let missing: Vec<&str> = data
        .variants
        .iter()
        .enumerate()
        .filter(|(index, _)| !both.iter().any(|(shown, _, _)| shown == index))
        .map(|(_, variant)| variant.name.as_str())
        .collect();
    if !missing.is_empty() {
        let note = format!("Not shown, for want of a wait or a cost: {}", missing.join(", "));
        let note = text::cut(&note, style::SMALL_SIZE, area.width());
        let font = Font::new(MUTED, style::SMALL_SIZE);
        canvas.text((area.left, area.bottom - 6.0), Anchor::Start, font, &note);
    }
}

/// A scale with room around the intervals; from zero on where zero is not far.
fn around<'a>(estimates: impl Iterator<Item = &'a Estimate> + Clone, ticks: usize) -> Scale {
    let low = estimates.clone().map(Estimate::low).fold(f64::INFINITY, f64::min);
    let high = estimates.map(Estimate::high).fold(f64::NEG_INFINITY, f64::max);
    let room = 0.12 * (high - low).min(f64::MAX);
    let from = if low >= 0.0 && low < 0.6 * high { 0.0 } else { low - room };
    Scale::linear(from, high + room, ticks)
}

fn draw_intervals(canvas: &mut Canvas<'_>, mark: &Mark) {
    let look = style::variant(mark.index);
    let stroke = Stroke::solid(look.tone, 1.5);
    let reach = mark.reach;
    canvas.interval_across(mark.at, (reach.left, reach.right), stroke);
    canvas.interval_upright(mark.at, (reach.top, reach.bottom), stroke);
}

/// Writes each name where it hides least: beside its mark, else further away with a thin line to it.
fn draw_names(canvas: &mut Canvas<'_>, plot: &Area, marks: &[Mark], data: &ReportData) {
    let mut taken: Vec<Area> = Vec::new();
    for mark in marks {
        let (x, y) = mark.at;
        let reach = mark.reach;
        taken.push(Area::new(x - 8.0, y - 8.0, x + 8.0, y + 8.0));
        taken.push(Area::new(reach.left, y - CAP, reach.right, y + CAP));
        taken.push(Area::new(x - CAP, reach.top, x + CAP, reach.bottom));
    }
    for mark in marks {
        let lines = text::wrap(&data.variants[mark.index].name, TEXT_SIZE, NAME_WIDTH, 2);
        let wide = lines.iter().map(|line| text::width(line, TEXT_SIZE)).fold(0.0, f64::max);
        let high = lines.len() as f64 * LINE_HEIGHT;
        let place = best_place(plot, mark.at, (wide, high), &taken);
        taken.push(place);
        let (x, y) = mark.at;
        let near = (x.clamp(place.left, place.right), y.clamp(place.top, place.bottom));
        if (near.0 - x).hypot(near.1 - y) > 24.0 {
            canvas.line(near, mark.at, Stroke::solid(AXIS, 0.8));
        }
        for (i, line) in lines.iter().enumerate() {
            let middle = place.top + (i as f64 + 0.5) * LINE_HEIGHT;
            canvas.text((place.left, middle), Anchor::Start, Font::new(INK, TEXT_SIZE), line);
        }
    }
}

/// Steps from a mark to the middle of its name: right, down; in halves of the name's size plus a
/// distance.
const DIRECTIONS: [(f64, f64); 8] = [
    (1.0, -1.0),
    (1.0, 1.0),
    (-1.0, -1.0),
    (-1.0, 1.0),
    (1.0, 0.0),
    (-1.0, 0.0),
    (0.0, -1.0),
    (0.0, 1.0),
];

/// The first of the places around a point, near before far, that lies in the plot and overlaps
/// nothing; if there is none, the one that overlaps least.
fn best_place(plot: &Area, (x, y): Point, (wide, high): (f64, f64), taken: &[Area]) -> Area {
    let around = [10.0, 22.0, 40.0].into_iter().flat_map(|distance| {
        DIRECTIONS.map(|(right, down)| {
            (right * (distance + wide / 2.0), down * (distance * 0.6 + 3.0 + high / 2.0))
        })
    });
    // Marks on one spot have their names in a column beside it.
    let beside = (0..24).flat_map(|row| {
        let down = f64::from(row) * (high + 2.0);
        [(1.0, -down), (1.0, down), (-1.0, -down), (-1.0, down)]
            .map(|(right, down)| (right * (30.0 + wide / 2.0), down))
    });
    let mut best: Option<(f64, Area)> = None;
    for (right, down) in around.chain(beside) {
        let (x, y) = (x + right, y + down);
        let place = Area::new(x - wide / 2.0, y - high / 2.0, x + wide / 2.0, y + high / 2.0);
        let outside = wide * high - place.overlap(plot);
        let hidden: f64 = taken.iter().map(|area| area.overlap(&place)).sum();
        let cost = 4.0 * outside + hidden;
        if cost < 0.5 {
            return place;
        }
        if best.is_none_or(|(least, _)| cost < least - 0.5) {
            best = Some((cost, place));
        }
    }
    best.map_or(Area::new(x, y, x + wide, y + high), |(_, place)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_close_marks_do_not_overlap() {
        let plot = Area::new(0.0, 0.0, 800.0, 340.0);
        let mut taken = Vec::new();
        let mut places: Vec<Area> = Vec::new();
        for i in 0..8 {
            let at = (300.0 + 6.0 * f64::from(i), 170.0 + 3.0 * f64::from(i % 3));
            taken.push(Area::new(at.0 - 8.0, at.1 - 8.0, at.0 + 8.0, at.1 + 8.0));
        }
        for i in 0..8 {
            let at = (300.0 + 6.0 * f64::from(i), 170.0 + 3.0 * f64::from(i % 3));
            let place = best_place(&plot, at, (90.0, 15.0), &taken);
            assert!(places.iter().all(|other| other.overlap(&place) < 1.0), "{i}: {place:?}");
            taken.push(place);
            places.push(place);
        }
    }

    #[test]
    fn a_name_at_the_edge_stays_in_the_plot() {
        let plot = Area::new(0.0, 0.0, 800.0, 340.0);
        for at in [(0.0, 0.0), (800.0, 0.0), (800.0, 340.0), (0.0, 340.0)] {
            let place = best_place(&plot, at, (150.0, 30.0), &[]);
            assert!((place.overlap(&plot) - 4500.0).abs() < 1.0, "{at:?}: {place:?}");
        }
    }
}
