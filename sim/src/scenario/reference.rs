//! The reference page of the scenario file, from the same declarations by which it is read.

use super::distribution::DISTRIBUTION_SHAPES;
use super::file::SCENARIO;
use super::shape::{Fallback, KeyDoc, Kind, Shape};

/// Every shape of a scenario file, in the order of the reference page.
pub(crate) fn shapes() -> Vec<&'static Shape> {
    let mut found: Vec<&'static Shape> = vec![&SCENARIO];
    let mut index = 0;
    while index < found.len() {
        let inner: Vec<_> =
            found[index].keys().iter().filter_map(|key| shape_within(&key.kind)).collect();
        // Directly after the table that holds it, and once only.
        let mut at = index + 1;
        for shape in inner {
            if !found.iter().any(|known| std::ptr::eq(*known, shape)) {
                found.insert(at, shape);
                at += 1;
            }
        }
        index += 1;
    }
    found.extend(DISTRIBUTION_SHAPES);
    found
}

fn shape_within(kind: &Kind) -> Option<&'static Shape> {
    match kind {
        Kind::Table(shape) | Kind::Tables(shape) => Some(shape),
        Kind::Named { value, .. } => shape_within(value),
        _ => None,
    }
}

/// The reference page, as Markdown.
#[must_use]
pub fn reference_markdown() -> String {
    let mut page = String::from(
        "# Scenario files: every key\n\
         \n\
         <!-- Generated from the declarations by which the files are read; a test keeps it up to date. -->\n\
         \n\
         A scenario is a TOML file. Every table and key may be left out unless this page says \
         \"required\"; the smallest scenario says only when conversations start. All ranges are \
         inclusive. Keys that end in `_seconds` are numbers, and fractions are allowed; a *duration* \
         is text with its unit, `ms`, `s`, `m`, `h` or `d`, such as `\"24h\"` or `\"1h30m\"`. Memory and \
         disk are in GB of 1,024 MB. `\"unlimited\"` is a word; `nan` and `inf` are refused.\n",
    );
    for shape in shapes() {
        add_shape(&mut page, shape);
    }
    page
}

fn add_shape(page: &mut String, shape: &Shape) {
    let title = match shape.path {
        "" => "At the top".to_owned(),
        "variant" | "expect" | "provider.outage" => format!("`[[{}]]`", shape.path),
        path => match path.strip_prefix("DISTRIBUTION") {
            Some("") => "Distributions".to_owned(),
            Some(form) => format!("Distribution `{}`", form.trim_start_matches('.')),
            None => format!("`[{path}]`"),
        },
    };
    page.push_str(&format!("\n## {title}\n\n"));
    if !shape.doc.is_empty() {
        page.push_str(&format!("{}\n\n", shape.doc));
    }
    page.push_str(
        "| key | kind and range | default | zero | what it does |\n|---|---|---|---|---|\n",
    );
    for key in shape.keys() {
        page.push_str(&format!(
            "| `{}` | {} | {} | {} | {} |\n",
            key.name,
            cell(&kind_text(&key.kind)),
            cell(&default_text(key)),
            cell(key.zero.unwrap_or("")),
            cell(key.doc),
        ));
    }
}

/// Text inside a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn default_text(key: &KeyDoc) -> String {
    match &key.default {
        Fallback::Required => "required".to_owned(),
        Fallback::Unset(meaning) => (*meaning).to_owned(),
        Fallback::Is(text) => format!("`{text}`"),
    }
}

fn kind_text(kind: &Kind) -> String {
    let or_unlimited = |unlimited: bool| if unlimited { ", or `\"unlimited\"`" } else { "" };
    let of = |unit: &str| if unit.is_empty() { String::new() } else { format!(" of {unit}") };
    match *kind {
        Kind::Text => "text".to_owned(),
        Kind::Flag => "`true` or `false`".to_owned(),
        Kind::Count { min, max, unlimited } => {
            format!("whole number, {} to {}{}", grouped(min), grouped(max), or_unlimited(unlimited))
        }
        Kind::Number { min, max, unit, unlimited } => format!(
            "number{}, {} to {}{}",
            of(unit),
            plain(min),
            plain(max),
            or_unlimited(unlimited)
        ),
        Kind::Duration => "duration".to_owned(),
        Kind::WarmUp => "duration, or `\"mser5\"`".to_owned(),
        Kind::Durations => "list of durations".to_owned(),
        Kind::Numbers { min, max, unit } => {
            format!("list of numbers{}, each {} to {}", of(unit), plain(min), plain(max))
        }
        Kind::Distribution { unit } => format!("distribution of {unit}"),
        Kind::Choice(words) => {
            let words: Vec<_> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
            words.join(", ")
        }
        Kind::CountByClass { min, max } => {
            format!(
                "whole number, {} to {}, or a table of them by class",
                grouped(min),
                grouped(max)
            )
        }
        Kind::Prepare => "`true`, `false`, or a table of steps".to_owned(),
        Kind::Table(_) => "table, below".to_owned(),
        Kind::Tables(_) => "list of tables, below".to_owned(),
        Kind::Named { what, value } => {
            format!("table by {what}, each: {}", kind_text(value))
        }
    }
}

/// A bound without exponent, and with separators where it is a large whole number.
fn plain(bound: f64) -> String {
    if bound.fract() == 0.0 && bound.abs() < 1e15 {
        grouped(bound as i64)
    } else {
        bound.to_string()
    }
}

/// `1,000,000`.
fn grouped(number: i64) -> String {
    if number == i64::MAX {
        return "2^63 - 1".to_owned();
    }
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0 { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_page_is_up_to_date() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/scenario-reference.md");
        let page = reference_markdown();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &page).unwrap();
        }
        let shipped = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            shipped == page,
            "docs/scenario-reference.md is out of date: run the tests once with UPDATE_DOCS=1"
        );
    }

    #[test]
    fn every_key_has_a_sentence_and_every_shape_a_row() {
        for shape in shapes() {
            assert!(!shape.keys().is_empty(), "{}", shape.path);
            for key in shape.keys() {
                assert!(key.doc.ends_with('.'), "{}.{}: {:?}", shape.path, key.name, key.doc);
            }
        }
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(1_000_000), "1,000,000");
        assert_eq!(grouped(-100), "-100");
        assert_eq!(plain(0.5), "0.5");
        assert_eq!(plain(1e9), "1,000,000,000");
    }
}
