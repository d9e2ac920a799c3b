//! Exposed wait of first executes as a cumulative distribution, one line a variant.

use super::axes;
use super::canvas::{Area, Canvas, Point, Stroke};
use super::legend;
use super::scale::{Scale, Tick};
use super::style;
use crate::data::{CdfPoint, ReportData};

/// Below so many seconds the axis is linear: shorter waits than this are one to a reader.
const BEND_SECONDS: f64 = 0.1;
const PLOT_HEIGHT: f64 = 350.0;
/// Shares at which every line has a mark.
const MARKED_SHARES: [f64; 2] = [0.5, 0.95];

pub(super) fn height(data: &ReportData) -> f64 {
    let around = axes::Y_TITLE + axes::X_LABELS + axes::X_TITLE;
    around + PLOT_HEIGHT.max(legend::column_height(&data.variants))
}

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Area, data: &ReportData) {
    let longest = data
        .variants
        .iter()
        .filter_map(|variant| variant.wait_cdf.last())
        .map(|point| point.seconds)
        .fold(None, |most: Option<f64>, seconds| Some(most.map_or(seconds, |m| m.max(seconds))));
    let Some(longest) = longest else {
        axes::nothing(canvas, &area, "Nothing was executed, so there is no wait to show.");
        return;
    };
    let mut y = Scale::tight(0.0, 1.0, 4);
    y.ticks =
        [(0.0, "0"), (0.25, "0.25"), (0.5, "0.50"), (0.75, "0.75"), (0.95, "0.95"), (1.0, "1")]
            .map(|(value, label)| Tick { value, label: label.into() })
            .to_vec();
    let plot = Area::new(
        area.left + axes::left_of(&y),
        area.top + axes::Y_TITLE,
        area.right - legend::column_width(&data.variants),
        area.bottom - axes::X_LABELS - axes::X_TITLE,
    );
    let y = y.onto(plot.bottom, plot.top);
    // A run whose longest wait is in milliseconds still gets most of the axis.
    let bend = if longest > 0.0 { BEND_SECONDS.min(longest / 10.0) } else { BEND_SECONDS };
    let bend = bend.max(1e-12);
    // A little room beyond the longest wait shows that the lines have become flat.
    let x = Scale::symmetric_log(if longest > 0.0 { longest * 1.15 } else { 1.0 }, bend)
        .onto(plot.left, plot.right);
    axes::vertical(canvas, &plot, &y);
    axes::vertical_title(canvas, &plot, "share of first executes that waited at most so long");
    axes::horizontal(canvas, &plot, &x, true);
    let title =
        format!("exposed wait (s; the axis is logarithmic above {} s)", crate::number::plain(bend));
    axes::horizontal_title(canvas, &plot, &title);
    // The first variant last, so that the line everything is compared with lies on top.
    for (index, variant) in data.variants.iter().enumerate().rev() {
        let points = &variant.wait_cdf;
        if points.is_empty() {
            continue;
        }
        let look = style::variant(index);
        let stroke = Stroke { tone: look.tone, width: 2.2, dash: look.dash };
        canvas.path(&staircase(points, &x, &y, plot.right), stroke);
    }
    for (index, variant) in data.variants.iter().enumerate().rev() {
        let look = style::variant(index);
        for share in MARKED_SHARES {
            if let Some(point) = variant.wait_cdf.iter().find(|point| point.share >= share) {
                let at = (x.at(point.seconds), y.at(share));
                canvas.marker(at, look.marker, look.tone, 3.8, false);
            }
        }
    }
    legend::column(canvas, plot.right + 24.0, plot.top, &data.variants);
}

/// Steps smaller than this, pixels, are drawn as a slope: between close points it is as true as a
/// step and much calmer.
const STEP_SEEN: f64 = 9.0;

/// The steps of a distribution: it rises at each of its points, and is flat after the last one.
fn staircase(points: &[CdfPoint], x: &Scale, y: &Scale, right: f64) -> Vec<Point> {
    let mut path: Vec<Point> = vec![(x.at(points[0].seconds), y.at(0.0))];
    let mut last = path[0];
    for point in points {
        let next = (x.at(point.seconds), y.at(point.share));
        if (next.0 - last.0).abs() > STEP_SEEN && (next.1 - last.1).abs() > STEP_SEEN {
            path.push((next.0, last.1));
        }
        path.push(next);
        last = next;
    }
    path.push((right, last.1));
    simplified(path)
}

/// Leaves out corners that nobody could see, which keeps a line of many points small.
fn simplified(path: Vec<Point>) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::new();
    let last = path.len().saturating_sub(1);
    for (i, point) in path.into_iter().enumerate() {
        let far = kept
            .last()
            .is_none_or(|k| (k.0 - point.0).abs() >= 0.3 || (k.1 - point.1).abs() >= 0.3);
        if far || i == last {
            kept.push(point);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_rises_from_zero_and_stays_flat_to_the_edge() {
        let points =
            [CdfPoint { seconds: 0.0, share: 0.5 }, CdfPoint { seconds: 10.0, share: 0.9 }];
        let x = Scale::symmetric_log(20.0, 0.1).onto(0.0, 100.0);
        let y = Scale::tight(0.0, 1.0, 4).onto(100.0, 0.0);
        let path = staircase(&points, &x, &y, 100.0);
        assert_eq!(path[0], (0.0, 100.0));
        assert_eq!(path[1], (0.0, 50.0), "half did not wait at all");
        let end = path[path.len() - 1];
        assert_eq!(end.0, 100.0);
        assert!((end.1 - 10.0).abs() < 1e-9, "the refused tenth is missing: {end:?}");
    }

    #[test]
    fn many_points_make_a_short_line() {
        let points: Vec<CdfPoint> = (0..100_000)
            .map(|i| CdfPoint { seconds: f64::from(i) / 5000.0, share: f64::from(i) / 100_000.0 })
            .collect();
        let x = Scale::symmetric_log(20.0, 0.1).onto(0.0, 700.0);
        let y = Scale::tight(0.0, 1.0, 4).onto(350.0, 0.0);
        assert!(staircase(&points, &x, &y, 700.0).len() < 5_000);
    }
}
