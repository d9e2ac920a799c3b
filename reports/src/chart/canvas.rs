//! A sheet to draw on, in pixels with a tenth of a pixel's precision, over the SVG backend of the
//! drawing library.

use super::style::{AreaLook, FONT, Hatch, MUTED, Marker, PAPER, Tone};
use crate::error::ChartError;
use plotters::backend::{DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{
    Color, FontDesc, FontFamily, FontStyle, RGBAColor, RGBColor, ShapeStyle, TextStyle,
};
use std::fmt::Write;

/// The backend knows whole units only, so a pixel is ten units.
const UNITS_PER_PIXEL: f64 = 10.0;

/// The backend divides font sizes by this.
const FONT_SCALE: f64 = 1.24;

/// Gap between the lines of a hatching, pixels.
const HATCH_GAP: f64 = 5.0;

/// Half the length of the bar at an interval's end, pixels.
pub(crate) const CAP: f64 = 4.0;

/// An interval's end so near to its mark would be half hidden by it, pixels.
const MARK_REACH: f64 = 8.0;

/// A point, pixels from the upper left.
pub(crate) type Point = (f64, f64);

/// A rectangle, pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Area {
    pub(crate) fn new(left: f64, top: f64, right: f64, bottom: f64) -> Self {
        Self { left, top, right, bottom }
    }

    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// The common part's size, square pixels.
    pub(crate) fn overlap(&self, other: &Area) -> f64 {
        let width = self.right.min(other.right) - self.left.max(other.left);
        let height = self.bottom.min(other.bottom) - self.top.max(other.top);
        width.max(0.0) * height.max(0.0)
    }
}

/// How a line looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stroke {
    pub(crate) tone: Tone,
    /// Pixels.
    pub(crate) width: f64,
    /// Lengths of strokes and gaps, pixels; empty for a solid line.
    pub(crate) dash: &'static [f64],
}

impl Stroke {
    pub(crate) const fn solid(tone: Tone, width: f64) -> Self {
        Self { tone, width, dash: &[] }
    }

    fn shape(&self) -> ShapeStyle {
        let (r, g, b) = self.tone.light;
        ShapeStyle {
            color: RGBColor(r, g, b).to_rgba(),
            filled: false,
            stroke_width: (self.width * UNITS_PER_PIXEL).round() as u32,
        }
    }
}

/// Where a text stands, seen from its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// To the right of the point.
    Start,
    /// Centred on it.
    Middle,
    /// To its left.
    End,
}

/// How a text looks; its vertical middle is at the point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Font {
    pub(crate) tone: Tone,
    /// Pixels.
    pub(crate) size: f64,
    pub(crate) bold: bool,
}

impl Font {
    pub(crate) const fn new(tone: Tone, size: f64) -> Self {
        Self { tone, size, bold: false }
    }

    pub(crate) const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }
}

/// The sheet. Drawing never fails at the place of the call: the first failure is kept, and
/// [`draw`] answers with it.
pub(crate) struct Canvas<'a> {
    backend: SVGBackend<'a>,
    failure: Option<ChartError>,
}

/// Draws a sheet of a size in pixels, and gives its SVG. `label` is what a screen reader says.
pub(crate) fn draw(
    size: (f64, f64),
    label: &str,
    content: impl FnOnce(&mut Canvas<'_>),
) -> Result<String, ChartError> {
    let units = |pixels: f64| (pixels * UNITS_PER_PIXEL).round() as u32;
    let mut svg = String::new();
    let mut canvas = Canvas {
        backend: SVGBackend::with_string(&mut svg, (units(size.0), units(size.1))),
        failure: None,
    };
    content(&mut canvas);
    let presented = canvas.backend.present();
    canvas.keep(presented);
    let failure = canvas.failure.take();
    drop(canvas);
    match failure {
        Some(failure) => Err(failure),
        None => Ok(with_own_root(&svg, size, label)),
    }
}

/// Replaces the root element, whose size is in units, by one whose size is in pixels, with a class
/// that style sheets can name and a label.
fn with_own_root(svg: &str, size: (f64, f64), label: &str) -> String {
    let body = svg.split_once('>').map_or("", |(_, body)| body);
    let mut text = String::with_capacity(svg.len() + 300);
    let (width, height) = (size.0.round(), size.1.round());
    let (wide, high) = (width * UNITS_PER_PIXEL, height * UNITS_PER_PIXEL);
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {wide} {high}\" role=\"img\" aria-label=\"{}\">",
        escaped(label)
    );
    text.push_str(body);
    text
}

/// Text that may stand in an attribute of XML and of HTML.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for c in printable(text).chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            other => safe.push(other),
        }
    }
    safe
}

/// Control characters are not allowed in XML and are of no use in a name.
fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') { ' ' } else { c })
        .collect()
}

fn units((x, y): Point) -> (i32, i32) {
    // A float that does not fit is cut to the largest integer by `as`; far outside the sheet is
    // enough.
    let unit = |pixels: f64| (pixels * UNITS_PER_PIXEL).round().clamp(-1e6, 1e6) as i32;
    (unit(x), unit(y))
}

impl Canvas<'_> {
    fn keep<E: std::fmt::Display>(&mut self, result: Result<(), E>) {
        if let (Err(error), None) = (result, &self.failure) {
            self.failure = Some(ChartError::Drawing { reason: error.to_string() });
        }
    }

    /// A line from point to point, dashed along its length where the stroke says so.
    pub(crate) fn path(&mut self, points: &[Point], stroke: Stroke) {
        if stroke.dash.is_empty() {
            self.solid_path(points, stroke);
        } else {
            for piece in dashes(points, stroke.dash) {
                self.solid_path(&piece, stroke);
            }
        }
    }

    fn solid_path(&mut self, points: &[Point], stroke: Stroke) {
        let mut path: Vec<(i32, i32)> = points.iter().copied().map(units).collect();
        path.dedup();
        if path.len() < 2 {
            return;
        }
        let result = if path.len() == 2 {
            self.backend.draw_line(path[0], path[1], &stroke.shape())
        } else {
            self.backend.draw_path(path, &stroke.shape())
        };
        self.keep(result);
    }

    /// A straight line.
    pub(crate) fn line(&mut self, from: Point, to: Point, stroke: Stroke) {
        self.path(&[from, to], stroke);
    }

    /// A filled outline.
    pub(crate) fn polygon(&mut self, points: &[Point], tone: Tone) {
        if points.len() > 2 {
            let fill = filled(tone, 1.0);
            let result = self.backend.fill_polygon(points.iter().copied().map(units), &fill);
            self.keep(result);
        }
    }

    /// A filled rectangle; one without a size is not drawn.
    pub(crate) fn rectangle(&mut self, area: Area, tone: Tone) {
        let (from, to) = (units((area.left, area.top)), units((area.right, area.bottom)));
        if to.0 > from.0 && to.1 > from.1 {
            let result = self.backend.draw_rect(from, to, &filled(tone, 1.0), true);
            self.keep(result);
        }
    }

    /// Columns that stand side by side, as one area with one hatching.
    pub(crate) fn columns(&mut self, columns: &[Area], look: AreaLook) {
        if columns.iter().all(|column| column.height() < 0.05 || column.width() < 0.05) {
            return;
        }
        if let [only] = columns {
            self.rectangle(*only, look.tone);
        } else {
            let top = columns.iter().flat_map(|c| [(c.left, c.top), (c.right, c.top)]);
            let bottom =
                columns.iter().rev().flat_map(|c| [(c.right, c.bottom), (c.left, c.bottom)]);
            let outline: Vec<Point> = top.chain(bottom).collect();
            self.polygon(&outline, look.tone);
        }
        if matches!(look.hatch, Hatch::Rising | Hatch::Crossed) {
            self.hatch(columns, look.tone, 1.0);
        }
        if matches!(look.hatch, Hatch::Falling | Hatch::Crossed) {
            self.hatch(columns, look.tone, -1.0);
        }
    }

    /// Lines x + slope y = constant, cut to the columns. They have one phase on the whole sheet, so
    /// they run on from column to column.
    fn hatch(&mut self, columns: &[Area], on: Tone, slope: f64) {
        let (r, g, b) = on.light;
        let dark = u32::from(r) * 2 + u32::from(g) * 5 + u32::from(b) < 110 * 8;
        let stroke = Stroke::solid(if dark { PAPER } else { MUTED }, 0.9);
        let sums = columns.iter().filter(|c| c.height() >= 0.05).flat_map(|c| {
            [
                c.left + slope * c.top,
                c.left + slope * c.bottom,
                c.right + slope * c.top,
                c.right + slope * c.bottom,
            ]
        });
        let (low, high) =
            sums.fold((f64::MAX, f64::MIN), |(low, high), sum| (low.min(sum), high.max(sum)));
        let mut sum = (low / HATCH_GAP).ceil() * HATCH_GAP;
        while sum <= high {
            let mut open: Option<(Point, Point)> = None;
            for column in columns {
                let ends = [slope * (sum - column.left), slope * (sum - column.right)];
                let y_of = |x: f64| slope * (sum - x);
                let x_of = |y: f64| sum - slope * y;
                let (top, bottom) =
                    (ends[0].min(ends[1]).max(column.top), ends[0].max(ends[1]).min(column.bottom));
                if bottom - top < 0.05 {
                    continue;
                }
                let (x0, x1) = (x_of(top).min(x_of(bottom)), x_of(top).max(x_of(bottom)));
                let (from, to) = ((x0, y_of(x0)), (x1, y_of(x1)));
                open = match open {
                    Some((start, end)) if (end.0 - from.0).abs() < 0.01 => Some((start, to)),
                    Some((start, end)) => {
                        self.line(start, end, stroke);
                        Some((from, to))
                    }
                    None => Some((from, to)),
                };
            }
            if let Some((start, end)) = open {
                self.line(start, end, stroke);
            }
            sum += HATCH_GAP;
        }
    }

    /// A point of a variant, about `radius` pixels, with an edge of paper so that it stands out
    /// from the line it lies on. A hollow one shows the paper inside.
    pub(crate) fn marker(
        &mut self,
        at: Point,
        marker: Marker,
        tone: Tone,
        radius: f64,
        hollow: bool,
    ) {
        let (x, y) = at;
        let ring = |r: f64| match marker {
            Marker::Square => vec![(-r, -r), (r, -r), (r, r), (-r, r)],
            Marker::Triangle => vec![(0.0, -1.25 * r), (1.2 * r, 0.9 * r), (-1.2 * r, 0.9 * r)],
            Marker::Wedge => vec![(0.0, 1.25 * r), (1.2 * r, -0.9 * r), (-1.2 * r, -0.9 * r)],
            Marker::Diamond => {
                vec![(0.0, -1.35 * r), (1.35 * r, 0.0), (0.0, 1.35 * r), (-1.35 * r, 0.0)]
            }
            Marker::Circle | Marker::Ring | Marker::Cross | Marker::Plus => Vec::new(),
        };
        match marker {
            Marker::Circle | Marker::Ring => {
                self.circle(at, radius + 1.4, PAPER);
                self.circle(at, radius, tone);
                if hollow || marker == Marker::Ring {
                    self.circle(at, radius - 1.7, PAPER);
                }
                if !hollow && marker == Marker::Ring {
                    self.circle(at, 0.36 * radius, tone);
                }
            }
            Marker::Cross | Marker::Plus => {
                let r = radius * 1.1;
                let arms = if marker == Marker::Cross {
                    [((x - r, y - r), (x + r, y + r)), ((x - r, y + r), (x + r, y - r))]
                } else {
                    [((x - 1.3 * r, y), (x + 1.3 * r, y)), ((x, y - 1.3 * r), (x, y + 1.3 * r))]
                };
                for (width, tone) in [(5.0, PAPER), (if hollow { 1.3 } else { 2.6 }, tone)] {
                    for (from, to) in arms {
                        self.line(from, to, Stroke::solid(tone, width));
                    }
                }
            }
            Marker::Square | Marker::Triangle | Marker::Wedge | Marker::Diamond => {
                let mut layers = vec![(radius + 1.4, PAPER), (radius, tone)];
                if hollow {
                    layers.push((radius - 1.8, PAPER));
                }
                for (r, tone) in layers {
                    let outline: Vec<Point> =
                        ring(r).into_iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
                    self.polygon(&outline, tone);
                }
            }
        }
    }

    /// A horizontal interval around a mark, with a bar at each end that the mark does not hide.
    pub(crate) fn interval_across(&mut self, at: Point, ends: (f64, f64), stroke: Stroke) {
        self.line((ends.0, at.1), (ends.1, at.1), stroke);
        for end in [ends.0, ends.1] {
            if (end - at.0).abs() > MARK_REACH {
                self.line((end, at.1 - CAP), (end, at.1 + CAP), stroke);
            }
        }
    }

    /// The same, upright.
    pub(crate) fn interval_upright(&mut self, at: Point, ends: (f64, f64), stroke: Stroke) {
        self.line((at.0, ends.0), (at.0, ends.1), stroke);
        for end in [ends.0, ends.1] {
            if (end - at.1).abs() > MARK_REACH {
                self.line((at.0 - CAP, end), (at.0 + CAP, end), stroke);
            }
        }
    }

    /// A disc.
    fn circle(&mut self, at: Point, radius: f64, tone: Tone) {
        let radius = (radius * UNITS_PER_PIXEL).round() as u32;
        let result = self.backend.draw_circle(units(at), radius, &filled(tone, 1.0), true);
        self.keep(result);
    }

    /// A line of text; its vertical middle is at the point.
    pub(crate) fn text(&mut self, at: Point, anchor: Anchor, font: Font, text: &str) {
        let size = font.size * UNITS_PER_PIXEL * FONT_SCALE;
        let style = if font.bold { FontStyle::Bold } else { FontStyle::Normal };
        let (r, g, b) = font.tone.light;
        let horizontal = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let colour = RGBColor(r, g, b);
        let style = TextStyle::from(FontDesc::new(FontFamily::Name(FONT), size, style))
            .color(&colour)
            .pos(Pos::new(horizontal, VPos::Center));
        let result = self.backend.draw_text(&printable(text), &style, units(at));
        self.keep(result);
    }
}

fn filled(tone: Tone, opacity: f64) -> RGBAColor {
    let (r, g, b) = tone.light;
    RGBColor(r, g, b).mix(opacity)
}

/// Cuts a line into the strokes of a dash pattern, measured along its length.
fn dashes(points: &[Point], pattern: &[f64]) -> Vec<Vec<Point>> {
    let mut pieces = Vec::new();
    let mut piece = Vec::new();
    let (mut slot, mut left) = (0, pattern[0]);
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let mut done = 0.0;
        while done < length {
            let at = |distance: f64| {
                let part = distance / length;
                (from.0 + part * (to.0 - from.0), from.1 + part * (to.1 - from.1))
            };
            let drawing = slot % 2 == 0;
            if drawing && piece.is_empty() {
                piece.push(at(done));
            }
            let advance = left.min(length - done);
            done += advance;
            left -= advance;
            if drawing {
                piece.push(at(done));
            }
            if left <= 1e-9 {
                if drawing {
                    pieces.push(std::mem::take(&mut piece));
                }
                slot = (slot + 1) % pattern.len();
                left = pattern[slot];
            }
        }
    }
    if piece.len() > 1 {
        pieces.push(piece);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::style::{IDLE, INK, LOST, STARTING};

    fn length(pieces: &[Vec<Point>]) -> f64 {
        pieces
            .iter()
            .flat_map(|piece| piece.windows(2))
            .map(|pair| (pair[1].0 - pair[0].0).hypot(pair[1].1 - pair[0].1))
            .sum()
    }

    #[test]
    fn dashes_cover_their_share_of_the_line_across_corners() {
        let corner = [(0.0, 0.0), (35.0, 0.0), (35.0, 65.0)];
        let pieces = dashes(&corner, &[6.0, 4.0]);
        assert_eq!(pieces.len(), 10);
        assert!((length(&pieces) - 60.0).abs() < 1e-6);
        assert!(pieces.iter().any(|piece| piece.len() == 3), "one dash goes round the corner");
    }

    #[test]
    fn a_hatching_stays_inside_its_area_and_runs_across_columns() {
        let columns =
            [Area::new(100.0, 100.0, 120.0, 140.0), Area::new(120.0, 100.0, 140.0, 140.0)];
        let svg = draw((300.0, 300.0), "", |canvas| canvas.columns(&columns, STARTING)).unwrap();
        let mut longest = 0.0_f64;
        for line in svg.lines().filter(|line| line.starts_with("<line")) {
            let value = |name: &str| {
                let start = line.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
                line[start..].split('"').next().unwrap().parse::<f64>().unwrap() / UNITS_PER_PIXEL
            };
            let (x1, x2) = (value("x1"), value("x2"));
            for (x, y) in [(x1, value("y1")), (x2, value("y2"))] {
                assert!((99.9..=140.1).contains(&x) && (99.9..=140.1).contains(&y), "{line}");
            }
            longest = longest.max((x2 - x1).abs());
        }
        assert!(longest > 30.0, "a line crosses from one column into the next: {longest}");
    }

    #[test]
    fn hatched_and_plain_areas_differ() {
        let area = [Area::new(0.0, 0.0, 50.0, 50.0)];
        let lines = |look| {
            let svg = draw((60.0, 60.0), "", |canvas| canvas.columns(&area, look)).unwrap();
            svg.matches("<line").count()
        };
        assert_eq!(lines(IDLE), 0);
        assert!(lines(LOST) > lines(STARTING));
    }

    #[test]
    fn text_is_escaped_and_has_no_control_characters() {
        let svg = draw((60.0, 60.0), "a \"label\" <b>", |canvas| {
            canvas.text((5.0, 5.0), Anchor::Start, Font::new(INK, 12.0), "a<b & \"c\"\u{1}\n");
        })
        .unwrap();
        assert!(svg.contains("a&lt;b &amp; &quot;c&quot;  "), "{svg}");
        assert!(svg.contains("aria-label=\"a &quot;label&quot; &lt;b&gt;\""));
        assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    }
}
