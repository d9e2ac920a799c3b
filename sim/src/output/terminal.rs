//! The results as tables for a terminal.

use super::measures::{MEASURES, MeasureId, Unit};
use super::numbers::{mean_and_half_width, signed};
use super::results::{Difference, Measure, Results, Verdict};
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The measures that most decisions rest on, and of the others what differs.
    Headline,
    /// Everything.
    All,
}

/// The narrowest width that tables are laid out for: the longest label, a value and a verdict.
const MIN_WIDTH: usize = 76;

/// Most characters of a variant's name at the head of a column.
const NAME_WIDTH: usize = 16;

/// What many intervals at once mean for a reader.
const CAVEAT: &str = "Each verdict stands alone: of twenty measures that do not differ, about one \
                      reads as if it did. Confirm what you rely on with another seed.";

/// One line under the header and no other.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// The result tables, `width` characters wide at most (80 to 100 are best), as plain text without
/// colour: measures as rows and variants as columns, in as many blocks as the width needs, then for
/// each further variant its differences against the first, in words.
#[must_use]
pub fn terminal_tables(results: &Results, width: usize, detail: Detail) -> String {
    let width = width.max(MIN_WIDTH);
    let mut text = String::new();
    let percent = results.confidence * 100.0;
    let replications = match results.replications {
        1 => "1 replication: no interval can be given".to_owned(),
        n => format!("{n} replications, mean ± half the {percent:.0} % interval"),
    };
    text.push_str(&wrapped(&format!("{}: {replications}", results.scenario), width));
    measure_blocks(results, width, detail, &mut text);
    for variant in results.variants.iter().skip(1) {
        difference_table(results, &variant.name, width, detail, &mut text);
    }
    if results.differences.iter().any(|difference| is_clear(difference.verdict)) {
        text.push('\n');
        text.push_str(&wrapped(CAVEAT, width));
    }
    for note in &results.notes {
        text.push('\n');
        text.push_str(&wrapped(&format!("note: {note}"), width));
    }
    text
}

fn is_headline(name: &str) -> bool {
    MeasureId::named(name).is_none_or(|id| id.info().headline)
}

/// A row's label: the name, and the unit where the name does not say it.
fn label(name: &str, unit: Unit) -> String {
    match unit {
        Unit::Count | Unit::Share | Unit::Index | Unit::Average => name.to_owned(),
        Unit::Seconds => format!("{name} (s)"),
        Unit::PerThousandTurns => format!("{name} (per 1,000)"),
        // The names end with what the dollars are for.
        Unit::DollarsPerHour | Unit::DollarsPerThousandTurns => format!("{name} ($)"),
    }
}

fn table(width: usize) -> Table {
    let mut table = Table::new();
    table.force_no_tty();
    table.load_style(STYLE);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    table
}

fn measure_blocks(results: &Results, width: usize, detail: Detail, text: &mut String) {
    let shown: Vec<_> = MEASURES
        .iter()
        .filter(|info| detail == Detail::All || info.headline)
        .filter(|info| {
            let has_value = |measure: &Measure| measure.mean.is_some();
            results.variants.iter().any(|v| v.measure(info.id).is_some_and(has_value))
        })
        .collect();
    let mut labels = vec!["measure".to_owned()];
    labels.extend(shown.iter().map(|info| label(info.name, info.unit)));
    // Each variant is a column: its name, then its values.
    let columns: Vec<Vec<String>> = results
        .variants
        .iter()
        .map(|variant| {
            let mut column = vec![shortened(&variant.name, NAME_WIDTH)];
            column.extend(shown.iter().map(|info| {
                let value = |m: &Measure| mean_and_half_width(m.mean, m.half_width);
                variant.measure(info.id).map_or_else(|| "-".to_owned(), value)
            }));
            column
        })
        .collect();
    for block in blocks(&labels, &columns, width) {
        let mut table = table(width);
        let row = |index: usize| {
            std::iter::once(&labels[index]).chain(block.iter().map(move |column| &column[index]))
        };
        table.set_header(row(0));
        table.add_rows((1..labels.len()).map(row));
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        text.push('\n');
        text.push_str(&table.trim_fmt());
        text.push('\n');
    }
}

/// Cuts the columns into blocks that fit beside the labels, at least one column each.
fn blocks<'a>(
    labels: &[String],
    columns: &'a [Vec<String>],
    width: usize,
) -> Vec<&'a [Vec<String>]> {
    // A space on either side of each cell, and one more between columns.
    let needed = |cells: &[String]| cells.iter().map(|c| c.chars().count()).max().unwrap_or(0) + 3;
    let (mut blocks, mut start, mut used) = (Vec::new(), 0, needed(labels));
    for (index, column) in columns.iter().enumerate() {
        if index > start && used + needed(column) > width {
            blocks.push(&columns[start..index]);
            (start, used) = (index, needed(labels));
        }
        used += needed(column);
    }
    if start < columns.len() {
        blocks.push(&columns[start..]);
    }
    blocks
}

fn difference_table(
    results: &Results,
    variant: &str,
    width: usize,
    detail: Detail,
    text: &mut String,
) {
    let all: Vec<&Difference> =
        results.differences.iter().filter(|d| d.variant == variant && d.mean.is_some()).collect();
    let Some(base) = all.first().map(|difference| difference.base.as_str()) else { return };
    let (same, rest): (Vec<&Difference>, Vec<&Difference>) =
        all.into_iter().partition(|difference| difference.verdict == Verdict::Same);
    let shown: Vec<&Difference> = rest
        .into_iter()
        .filter(|d| detail == Detail::All || is_headline(&d.measure) || is_clear(d.verdict))
        .collect();
    let title = format!("{variant} minus {base}, both on the same arrivals and luck:");
    text.push('\n');
    text.push_str(&wrapped(&title, width));
    if !shown.is_empty() {
        let mut table = table(width);
        table.set_header(["measure", "difference", "which says"]);
        for difference in shown {
            table.add_row([
                label(&difference.measure, difference.unit),
                signed(difference.mean, difference.half_width),
                words(difference.verdict).to_owned(),
            ]);
        }
        if let Some(column) = table.column_mut(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        text.push_str(&table.trim_fmt());
        text.push('\n');
    }
    let same: Vec<&str> = same
        .into_iter()
        .map(|difference| difference.measure.as_str())
        .filter(|name| detail == Detail::All || is_headline(name))
        .collect();
    if !same.is_empty() {
        text.push_str(&wrapped(
            &format!("the same in every replication: {}", same.join(", ")),
            width,
        ));
    }
}

fn is_clear(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Better | Verdict::Worse | Verdict::Higher | Verdict::Lower)
}

fn words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "BETTER",
        Verdict::Worse => "WORSE",
        Verdict::Higher => "higher",
        Verdict::Lower => "lower",
        Verdict::Unclear => "no clear difference",
        Verdict::Same => "the same",
        Verdict::Unknown => "too few replications",
    }
}

/// The name, or its beginning and end around an ellipsis where it is too long: names often differ
/// at the end.
fn shortened(name: &str, most: usize) -> String {
    let letters: Vec<char> = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if letters.len() <= most {
        return letters.into_iter().collect();
    }
    let end = (most - 1) / 2;
    let start = most - 1 - end;
    letters[..start]
        .iter()
        .chain(std::iter::once(&'…'))
        .chain(&letters[letters.len() - end..])
        .collect()
}

/// Breaks a line between words, and ends it.
fn wrapped(line: &str, width: usize) -> String {
    let mut text = String::new();
    let mut used = 0;
    for word in line.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            text.push_str("\n  ");
            used = 2;
        } else if used > 0 {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        used += length;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::summary::sample_results;

    fn widest(text: &str) -> usize {
        text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
    }

    fn many_variants(count: usize) -> Results {
        let mut results = sample_results();
        let (first, second) = (results.variants[0].clone(), results.variants[1].clone());
        let sample = results.differences.clone();
        results.variants = vec![first];
        results.differences.clear();
        for index in 1..count {
            let mut next = second.clone();
            next.name = format!("a rather long name of variant {index}");
            for difference in &sample {
                let mut difference = difference.clone();
                difference.variant.clone_from(&next.name);
                results.differences.push(difference);
            }
            results.variants.push(next);
        }
        results
    }

    #[test]
    fn tables_keep_to_the_width() {
        for width in [76, 80, 100] {
            for count in [1, 2, 3, 8] {
                for detail in [Detail::Headline, Detail::All] {
                    let text = terminal_tables(&many_variants(count), width, detail);
                    assert!(widest(&text) <= width, "{width} {count}\n{text}");
                    assert!(!text.contains("\n ($)"), "no label is broken\n{text}");
                }
            }
        }
    }

    #[test]
    fn every_variant_and_verdict_is_there_in_words() {
        let text = terminal_tables(&many_variants(8), 80, Detail::Headline);
        println!("{text}");
        for index in 1..8 {
            assert!(text.contains(&format!("of variant {index} minus base")), "{text}");
        }
        assert!(text.contains("BETTER") && text.contains("WORSE"), "{text}");
        assert!(text.contains("10 replications, mean ± half the 95 % interval"));
        assert!(text.contains("the same in every replication: turns"), "{text}");
        assert!(text.contains("exposed_wait_p95 (s)"), "{text}");
        assert!(text.contains("note: Made up for tests."), "{text}");
        assert!(!text.contains('\u{1b}'), "no colour codes");
    }

    #[test]
    fn one_replication_says_that_it_has_no_interval() {
        let mut results = sample_results();
        results.replications = 1;
        for difference in &mut results.differences {
            (difference.half_width, difference.low, difference.high) = (None, None, None);
            difference.verdict = Verdict::Unknown;
        }
        let text = terminal_tables(&results, 80, Detail::Headline);
        assert!(text.contains("no interval can be given"), "{text}");
        assert!(text.contains("too few replications"), "{text}");
    }

    #[test]
    fn long_names_keep_both_ends() {
        assert_eq!(shortened("keep_free = 2, warm = 3", 11), "keep_…m = 3");
        assert_eq!(shortened("short", 18), "short");
        assert_eq!(shortened("abcdefghij", 5), "ab…ij");
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("one two three", 8), "one two\n  three\n");
    }
}
