//! Legends, always outside the plot.

use super::canvas::{Anchor, Area, Canvas, Font, Stroke};
use super::style::{self, AreaLook, INK, TEXT_SIZE};
use super::text;
use crate::data::VariantData;

/// Pixels that the sample of a line takes, gap included.
const LINE_SAMPLE: f64 = 44.0;
/// Most pixels that a name in a column takes.
const NAME_WIDTH: f64 = 150.0;
/// Pixels from line to line of a text.
const LINE_HEIGHT: f64 = 16.0;
/// Pixels that the sample of an area takes, gap included.
const AREA_SAMPLE: f64 = 24.0;
/// Pixels between two entries of a row.
const ROW_GAP: f64 = 22.0;
/// Pixels that a row of area samples takes.
const ROW_HEIGHT: f64 = 22.0;

/// Pixels that a column of variants takes, with the gap to the plot.
pub(crate) fn column_width(variants: &[VariantData]) -> f64 {
    let widest = variants
        .iter()
        .flat_map(|variant| names(&variant.name))
        .map(|line| text::width(&line, TEXT_SIZE))
        .fold(0.0, f64::max);
    24.0 + LINE_SAMPLE + widest
}

/// Pixels that a column of variants is high.
pub(crate) fn column_height(variants: &[VariantData]) -> f64 {
    variants.iter().map(|variant| entry_height(&variant.name)).sum()
}

fn names(name: &str) -> Vec<String> {
    text::wrap(name, TEXT_SIZE, NAME_WIDTH, 2)
}

fn entry_height(name: &str) -> f64 {
    names(name).len() as f64 * LINE_HEIGHT + 9.0
}

/// The variants in a column: line, marker, name.
pub(crate) fn column(canvas: &mut Canvas<'_>, left: f64, top: f64, variants: &[VariantData]) {
    let mut y = top;
    for (index, variant) in variants.iter().enumerate() {
        let look = style::variant(index);
        let middle = y + LINE_HEIGHT / 2.0;
        let stroke = Stroke { tone: look.tone, width: 2.2, dash: look.dash };
        canvas.line((left, middle), (left + 36.0, middle), stroke);
        canvas.marker((left + 18.0, middle), look.marker, look.tone, 3.8, false);
        for (i, line) in names(&variant.name).iter().enumerate() {
            let at = (left + LINE_SAMPLE, middle + i as f64 * LINE_HEIGHT);
            canvas.text(at, Anchor::Start, Font::new(INK, TEXT_SIZE), line);
        }
        y += entry_height(&variant.name);
    }
}

/// Places of the entries of a row that starts anew where it is full, and its height.
fn places(names: &[&str], width: f64) -> (Vec<(f64, f64)>, f64) {
    let (mut x, mut y) = (0.0, 0.0);
    let mut places = Vec::new();
    for name in names {
        let wide = AREA_SAMPLE + text::width(name, TEXT_SIZE);
        if x > 0.0 && x + wide > width {
            (x, y) = (0.0, y + ROW_HEIGHT);
        }
        places.push((x, y));
        x += wide + ROW_GAP;
    }
    (places, y + ROW_HEIGHT)
}

/// Pixels that rows of area samples are high in a width.
pub(crate) fn rows_height(entries: &[(&str, AreaLook)], width: f64) -> f64 {
    let names: Vec<&str> = entries.iter().map(|(name, _)| *name).collect();
    places(&names, width).1
}

/// Area samples with their names in rows, in the order of the stack.
pub(crate) fn rows(canvas: &mut Canvas<'_>, area: &Area, entries: &[(&str, AreaLook)]) {
    let names: Vec<&str> = entries.iter().map(|(name, _)| *name).collect();
    for ((name, look), (x, y)) in entries.iter().zip(places(&names, area.width()).0) {
        let (left, top) = (area.left + x, area.top + y);
        canvas.columns(&[Area::new(left, top, left + 16.0, top + 14.0)], *look);
        let at = (left + AREA_SAMPLE, top + 7.5);
        canvas.text(at, Anchor::Start, Font::new(INK, TEXT_SIZE), name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_row_starts_anew() {
        let (places, height) = places(&["busy", "idle", "a rather long name", "warm"], 200.0);
        assert_eq!(places[0], (0.0, 0.0));
        assert!(places[1].0 > 0.0 && places[1].1 == 0.0);
        assert_eq!(places[2], (0.0, ROW_HEIGHT));
        assert!(height > ROW_HEIGHT);
    }

    #[test]
    fn a_long_name_keeps_the_column_narrow() {
        let variant = VariantData { name: "long name ".repeat(40), ..VariantData::default() };
        assert!(column_width(&[variant]) <= 24.0 + LINE_SAMPLE + NAME_WIDTH);
    }
}
