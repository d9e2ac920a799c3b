//! The page: one self-contained HTML file, readable without a script or a network.

use crate::chart::{Chart, dark_rules, render_inline};
use crate::check::check;
use crate::data::{Better, Measure, ReportData, VariantData, Verdict};
use crate::error::{ChartError, ReportError};
use crate::number;
use askama::Template;

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    css: &'static str,
    dark_rules: String,
    scenario: &'a str,
    question: &'a str,
    answer: &'a str,
    names: Vec<&'a str>,
    /// The short table, and, folded, the measures that are not in it.
    tables: Vec<Vec<Row<'a>>>,
    table_note: String,
    variants: &'a [VariantData],
    figures: Vec<Figure>,
    first: &'a str,
    differences: Vec<DifferenceRow<'a>>,
    confidence: String,
    common_random_numbers: bool,
    certainty: Vec<String>,
    assumptions: &'a [String],
    seed: u64,
    command: &'a str,
    scenario_text: &'a str,
}

/// A measure of the comparison table.
struct Row<'a> {
    name: &'a str,
    unit: &'a str,
    cells: Vec<Cell>,
}

struct Cell {
    text: String,
    best: bool,
}

struct Figure {
    title: &'static str,
    reading: &'static str,
    svg: String,
}

struct DifferenceRow<'a> {
    /// Whether the measure is another one than in the row above.
    opens_group: bool,
    measure: &'a str,
    unit: &'a str,
    variant: &'a str,
    mean: String,
    ends: String,
    verdict: &'static str,
}

/// Writes the whole report as one HTML file that needs nothing but itself.
///
/// # Errors
/// As [`render_svg`](crate::render_svg).
pub fn render_html(data: &ReportData) -> Result<String, ReportError> {
    check(data)?;
    let first = data.variants.first().map_or("", |variant| variant.name.as_str());
    let compared = data.variants.len() > 1 && !data.differences.is_empty();
    let figures = Chart::ALL
        .into_iter()
        .filter(|&chart| !data.variants.is_empty() && (compared || chart != Chart::Differences))
        .map(|chart| {
            let svg = render_inline(chart, data)?;
            Ok(Figure { title: chart.title(), reading: chart.reading(), svg })
        })
        .collect::<Result<Vec<Figure>, ChartError>>()?;
    let page = Page {
        css: include_str!("../templates/report.css"),
        dark_rules: dark_rules(),
        scenario: &data.scenario,
        question: &data.question,
        answer: &data.answer,
        names: data.variants.iter().map(|variant| variant.name.as_str()).collect(),
        tables: [true, false]
            .map(|headline| rows(data, headline))
            .into_iter()
            .filter(|rows| !rows.is_empty())
            .collect(),
        table_note: table_note(data, first),
        variants: &data.variants,
        figures,
        first,
        differences: difference_rows(data),
        confidence: percent(data.confidence),
        common_random_numbers: data.common_random_numbers,
        certainty: certainty(data),
        assumptions: &data.assumptions,
        seed: data.seed,
        command: &data.command,
        scenario_text: &data.scenario_text,
    };
    Ok(page.render()?)
}

fn percent(share: f64) -> String {
    let percent = format!("{:.1}", share * 100.0);
    format!("{} %", percent.strip_suffix(".0").unwrap_or(&percent))
}

/// The measures of all variants that are, or are not, in the short table, in the order in which
/// they first come.
fn rows(data: &ReportData, headline: bool) -> Vec<Row<'_>> {
    let mut keys: Vec<(&str, &str)> = Vec::new();
    let measures = data.variants.iter().flat_map(|variant| &variant.measures);
    for measure in measures.filter(|measure| measure.headline == headline) {
        let key = (measure.name.as_str(), measure.unit.as_str());
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.into_iter()
        .map(|(name, unit)| {
            let best = best(data, name, unit);
            let cells = data
                .variants
                .iter()
                .enumerate()
                .map(|(index, variant)| Cell {
                    text: measure_of(variant, name, unit)
                        .and_then(|measure| measure.estimate)
                        .map_or("\u{2013}".into(), |estimate| number::estimate(&estimate)),
                    best: best == Some(index),
                })
                .collect();
            Row { name, unit, cells }
        })
        .collect()
}

fn measure_of<'a>(variant: &'a VariantData, name: &str, unit: &str) -> Option<&'a Measure> {
    variant.measures.iter().find(|measure| measure.name == name && measure.unit == unit)
}

/// The variant that may be called the best of a measure: it has the best mean, and what is known of
/// it against the first variant is not noise. The first one itself is the best only if every other
/// one is clearly worse.
fn best(data: &ReportData, name: &str, unit: &str) -> Option<usize> {
    let of_measure = || data.differences.iter().filter(|d| d.measure == name && d.unit == unit);
    let better = of_measure().next()?.better;
    let verdict_of = |index: usize| {
        let name = &data.variants[index].name;
        of_measure().find(|d| d.variant == *name).map(|d| d.verdict())
    };
    let mut leader: Option<(usize, f64)> = None;
    for (index, variant) in data.variants.iter().enumerate() {
        let Some(estimate) = measure_of(variant, name, unit).and_then(|m| m.estimate) else {
            continue;
        };
        let leads = match (leader, better) {
            (_, Better::Neither) => return None,
            (None, _) => true,
            (Some((_, mean)), Better::Lower) => estimate.mean < mean,
            (Some((_, mean)), Better::Higher) => estimate.mean > mean,
        };
        if leads {
            leader = Some((index, estimate.mean));
        }
    }
    let (index, _) = leader?;
    let clear = if index == 0 {
        (1..data.variants.len()).all(|other| verdict_of(other) == Some(Verdict::Worse))
    } else {
        verdict_of(index) == Some(Verdict::Better)
    };
    clear.then_some(index)
}

fn table_note(data: &ReportData, first: &str) -> String {
    let mut note = format!("Mean \u{b1} half-width of the {} interval.", percent(data.confidence));
    if data.variants.len() > 1 {
        note.push_str(&format!(
            " \u{201c}best\u{201d} marks the best mean of a row, and only where its paired \
             difference from {first} excludes zero."
        ));
    }
    if data.variants.len() > 2 {
        note.push_str(" The variants after the first were not tested against one another.");
    }
    note
}

fn difference_rows(data: &ReportData) -> Vec<DifferenceRow<'_>> {
    let mut rows: Vec<DifferenceRow<'_>> = Vec::new();
    for difference in &data.differences {
        let (measure, unit) = (difference.measure.as_str(), difference.unit.as_str());
        let opens_group = rows.last().is_none_or(|row| (row.measure, row.unit) != (measure, unit));
        rows.push(DifferenceRow {
            opens_group,
            measure,
            unit,
            variant: &difference.variant,
            mean: number::difference_mean(&difference.estimate),
            ends: number::ends(&difference.estimate),
            verdict: match difference.verdict() {
                Verdict::Better => "better",
                Verdict::Worse => "worse",
                Verdict::Different => "different",
                Verdict::Unclear => "no clear difference",
            },
        });
    }
    rows
}

/// What a careful reader asks before believing a difference.
fn certainty(data: &ReportData) -> Vec<String> {
    let times = match data.replications {
        1 => "once".to_string(),
        n => format!("{n} times"),
    };
    let mut sentences = vec![format!(
        "Every variant was run {times}, each time with other arrivals and other luck. Intervals \
         are at {} confidence: {}.",
        percent(data.confidence),
        data.interval_method
    )];
    if data.replications < 2 {
        sentences.push(
            "One replication gives no interval, so nothing here says how much is chance.".into(),
        );
    }
    if data.variants.len() < 2 {
        return sentences;
    }
    sentences.push(if data.common_random_numbers {
        "The variants saw the same arrivals and the same luck in each replication (common random \
         numbers), so their differences are taken pair by pair and are surer than the intervals of \
         the variants themselves suggest."
            .into()
    } else {
        "The variants did not share their random numbers.".into()
    });
    if data.differences.len() > 1 {
        sentences.push(format!(
            "Each interval stands for itself. Of many, some miss the truth by chance: about one in \
             {:.0} at this confidence.",
            1.0 / (1.0 - data.confidence).max(1e-6)
        ));
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Difference, Estimate};
    use crate::test_data::report;

    #[test]
    fn the_page_is_complete_and_in_order() {
        let page = render_html(&report(3, 1.0)).unwrap();
        let mut last = 0;
        for part in [
            "<h1>How many warm?</h1>",
            "One is enough.",
            "<h2>The comparison</h2>",
            "Figure 1",
            "Figure 6",
            "<h2>The differences</h2>",
            "<h2>How sure this is</h2>",
            "run 20 times",
            "Student&#39;s t over replications",
            "common random numbers",
            "Arrivals are Poisson.",
            "Seed 42.",
            "compare office-day.toml",
            "<details>",
            "replications = 20",
            "</html>",
        ] {
            let at = page[last..].find(part);
            assert!(at.is_some(), "{part} is missing or out of order");
            last += at.unwrap_or(0);
        }
    }

    #[test]
    fn every_text_is_escaped() {
        let evil = "</pre><script>alert('x')</script> & \"q\"";
        let mut data = report(2, 1.0);
        data.scenario = evil.into();
        data.question = evil.into();
        data.answer = evil.into();
        data.command = evil.into();
        data.scenario_text = evil.into();
        data.interval_method = evil.into();
        data.assumptions = vec![evil.into()];
        for variant in &mut data.variants {
            variant.name.push_str(evil);
            variant.overrides = vec![evil.into()];
            variant.measures[0].name = evil.into();
            variant.measures[0].unit = evil.into();
        }
        data.differences[0].variant = data.variants[1].name.clone();
        data.differences[0].measure = evil.into();
        data.differences[0].unit = evil.into();
        let page = render_html(&data).unwrap();
        assert!(!page.contains("<script") && !page.contains("alert('x')</"));
        assert_eq!(page.matches("</pre>").count(), 2, "only the page's own");
        assert!(page.matches("&lt;script").count() + page.matches("&#60;script").count() > 12);
    }

    #[test]
    fn the_page_needs_nothing_but_itself() {
        let page = render_html(&report(3, 1.0)).unwrap();
        for outside in ["src=", "href=", "url(", "@import", "<script", "<link"] {
            assert!(!page.contains(outside), "{outside}");
        }
        let addresses = page.matches("://").count();
        assert_eq!(addresses, page.matches("http://www.w3.org/2000/svg").count());
    }

    #[test]
    fn the_same_data_give_the_same_page() {
        assert_eq!(render_html(&report(4, 1.0)).unwrap(), render_html(&report(4, 1.0)).unwrap());
    }

    #[test]
    fn any_number_of_variants_and_any_size_of_numbers_makes_a_page() {
        for count in [0, 1, 2, 8, 12] {
            for scale in [0.0, 1e-9, 1.0, 1e12] {
                let page = render_html(&report(count, scale)).unwrap();
                assert!(!page.contains("NaN"), "{count} at {scale}");
                assert_eq!(page.contains("Figure 6"), count > 1, "{count}");
                assert_eq!(page.contains("Figure 5"), count > 0, "{count}");
            }
        }
    }

    fn best_of(means: &[f64], differences: &[(f64, f64)], better: Better) -> Option<usize> {
        let mut data = report(means.len(), 1.0);
        for (variant, mean) in data.variants.iter_mut().zip(means) {
            variant.measures[0].estimate = Some(Estimate::point(*mean));
        }
        data.differences = differences
            .iter()
            .enumerate()
            .map(|(i, &(low, high))| Difference {
                estimate: Estimate::new((low + high) / 2.0, low, high),
                better,
                ..data.differences[i].clone()
            })
            .collect();
        best(&data, "exposed wait", "s")
    }

    #[test]
    fn best_is_said_only_where_the_interval_excludes_zero() {
        let lower = Better::Lower;
        assert_eq!(best_of(&[3.0, 1.0, 2.0], &[(-3.0, -1.0), (-2.0, 0.5)], lower), Some(1));
        assert_eq!(best_of(&[3.0, 1.0, 2.0], &[(-4.0, 0.5), (-2.0, 0.5)], lower), None);
        assert_eq!(best_of(&[1.0, 3.0, 2.0], &[(1.0, 3.0), (0.5, 1.5)], lower), Some(0));
        assert_eq!(best_of(&[1.0, 3.0, 2.0], &[(1.0, 3.0), (-0.5, 2.5)], lower), None);
        assert_eq!(best_of(&[1.0, 3.0], &[(1.0, 3.0)], Better::Higher), Some(1));
        assert_eq!(best_of(&[1.0, 3.0], &[(1.0, 3.0)], Better::Neither), None);
    }

    #[test]
    fn a_verdict_is_in_words() {
        let page = render_html(&report(2, 1.0)).unwrap();
        assert!(page.contains(">better</td>") && page.contains("variant-1</td>"));
        assert!(page.contains("[\u{2212}2.00, \u{2212}0.50]"));
    }

    #[test]
    fn one_replication_is_not_passed_off_as_sure() {
        let mut data = report(1, 1.0);
        data.replications = 1;
        assert!(render_html(&data).unwrap().contains("One replication gives no interval"));
    }

    #[test]
    fn percents_have_no_needless_decimals() {
        assert_eq!(percent(0.95), "95 %");
        assert_eq!(percent(0.999), "99.9 %");
    }
}
