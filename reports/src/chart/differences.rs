//! Paired differences from the first variant as a forest plot: one plot a measure, one row a
//! variant.

use super::axes;
use super::canvas::{Anchor, Area, Canvas, Font, Stroke};
use super::scale::Scale;
use super::style::{self, AXIS, BETTER, INK, MUTED, SMALL_SIZE, TEXT_SIZE};
use super::text;
use crate::data::{Better, Difference, ReportData};
use crate::number;

const ROW: f64 = 24.0;
/// Pixels for a measure's name above its rows.
const HEAD: f64 = 26.0;
const BETWEEN: f64 = 14.0;
/// Most pixels for names on the left.
const NAME_WIDTH: f64 = 200.0;
/// Fewest pixels for the numbers on the right.
const NUMBER_WIDTH: f64 = 150.0;
/// Pixels between a plot and its numbers.
const NUMBER_GAP: f64 = 14.0;

/// The differences in one measure, in the order of the variants.
struct Group<'a> {
    rows: Vec<(usize, &'a Difference)>,
}

fn groups(data: &ReportData) -> Vec<Group<'_>> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    for difference in &data.differences {
        let name = (difference.measure.as_str(), difference.unit.as_str());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
        .into_iter()
        .map(|(measure, unit)| Group {
            rows: data
                .variants
                .iter()
                .enumerate()
                .flat_map(|(index, variant)| {
                    data.differences
                        .iter()
                        .filter(move |d| {
                            d.measure == measure && d.unit == unit && d.variant == variant.name
                        })
                        .map(move |difference| (index, difference))
                })
                .collect(),
        })
        .collect()
}

fn group_height(group: &Group<'_>) -> f64 {
    HEAD + group.rows.len() as f64 * ROW + axes::X_LABELS
}

pub(super) fn height(data: &ReportData) -> f64 {
    let groups = groups(data);
    let all: f64 = groups.iter().map(|group| group_height(group) + BETWEEN).sum();
    (axes::Y_TITLE + all).max(90.0)
}

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Area, data: &ReportData) {
    let groups = groups(data);
    let (Some(first), false) = (data.variants.first(), groups.is_empty()) else {
        axes::nothing(canvas, &area, "There is nothing to compare: one variant, or none.");
        return;
    };
    let widest = groups
        .iter()
        .flat_map(|group| &group.rows)
        .map(|(_, d)| text::width(&text::cut(&d.variant, TEXT_SIZE, NAME_WIDTH), TEXT_SIZE))
        .fold(60.0, f64::max);
    let numbers = groups
        .iter()
        .flat_map(|group| &group.rows)
        .map(|(_, d)| text::width(&number::difference(&d.estimate), TEXT_SIZE))
        .fold(NUMBER_WIDTH, f64::max);
    let (left, right) = (area.left + widest + 16.0, area.right - NUMBER_GAP - numbers);
    let from = text::cut(&first.name, SMALL_SIZE, 260.0);
    let note = format!("variant minus {from}, mean and confidence interval");
    let muted = Font::new(MUTED, SMALL_SIZE);
    canvas.text((area.left, area.top + 6.0), Anchor::Start, muted, &note);
    let mut top = area.top + axes::Y_TITLE;
    for group in &groups {
        let rows_top = top + HEAD;
        let plot = Area::new(left, rows_top, right, rows_top + group.rows.len() as f64 * ROW);
        draw_group(canvas, &area, &plot, group);
        top += group_height(group) + BETWEEN;
    }
}

fn draw_group(canvas: &mut Canvas<'_>, area: &Area, plot: &Area, group: &Group<'_>) {
    let Some(&(_, first)) = group.rows.first() else { return };
    // Symmetric around zero, so that a glance at the side of the mark is enough.
    let reach = group
        .rows
        .iter()
        .flat_map(|(_, d)| [d.estimate.mean, d.estimate.low(), d.estimate.high()])
        .map(f64::abs)
        .fold(0.0, f64::max)
        .min(1e300)
        * 1.08;
    let x = Scale::tight(-reach, reach, 6).onto(plot.left, plot.right);
    let zero = (plot.left + plot.right) / 2.0;
    let head = plot.top - 12.0;
    let muted = Font::new(MUTED, SMALL_SIZE);
    match first.better {
        Better::Lower => {
            canvas.rectangle(Area::new(plot.left, plot.top, zero, plot.bottom), BETTER);
            canvas.text((zero - 8.0, head), Anchor::End, muted, "\u{2190} better");
        }
        Better::Higher => {
            canvas.rectangle(Area::new(zero, plot.top, plot.right, plot.bottom), BETTER);
            canvas.text((zero + 8.0, head), Anchor::Start, muted, "better \u{2192}");
        }
        Better::Neither => {}
    }
    let title = if first.unit.is_empty() {
        first.measure.clone()
    } else {
        format!("{} ({})", first.measure, first.unit)
    };
    let title = text::cut(&title, TEXT_SIZE, (zero - 80.0 - area.left) / 1.08);
    canvas.text((area.left, head), Anchor::Start, Font::new(INK, TEXT_SIZE).bold(), &title);
    axes::horizontal(canvas, plot, &x, true);
    canvas.line((zero, plot.top - 4.0), (zero, plot.bottom), Stroke::solid(AXIS, 1.6));
    for (row, (index, difference)) in group.rows.iter().enumerate() {
        let y = plot.top + (row as f64 + 0.5) * ROW;
        let look = style::variant(*index);
        let font = Font::new(INK, TEXT_SIZE);
        let name = text::cut(&difference.variant, TEXT_SIZE, NAME_WIDTH);
        canvas.text((plot.left - 12.0, y), Anchor::End, font, &name);
        let estimate = &difference.estimate;
        if let Some((low, high)) = estimate.interval {
            let stroke = Stroke::solid(look.tone, 2.0);
            canvas.interval_across((x.at(estimate.mean), y), (x.at(low), x.at(high)), stroke);
        }
        let hollow = !estimate.excludes_zero();
        canvas.marker((x.at(estimate.mean), y), look.marker, look.tone, 4.6, hollow);
        let numbers = number::difference(estimate);
        canvas.text((plot.right + NUMBER_GAP, y), Anchor::Start, font, &numbers);
    }
}
