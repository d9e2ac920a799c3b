//! The charts of a report, one file each.

mod axes;
mod bins;
mod canvas;
mod cost_against_wait;
mod cost_by_cause;
mod differences;
mod legend;
mod over_day;
mod scale;
mod states;
mod style;
mod text;
mod wait_cdf;

pub(crate) use style::dark_rules;

use crate::check::check;
use crate::data::ReportData;
use crate::error::ChartError;
use canvas::{Anchor, Area, Font};
use style::{INK, TITLE_SIZE, WIDTH};

/// Pixels left free around a chart.
const MARGIN: f64 = 14.0;
/// Pixels that the title takes.
const TITLE_HEIGHT: f64 = 34.0;

/// A chart of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chart {
    /// Exposed wait of first executes, as a cumulative distribution.
    WaitCdf,
    /// Cost against the 95th percentile of the exposed wait, with both intervals.
    CostAgainstWait,
    /// Cost by cause, stacked.
    CostByCause,
    /// Waiting and refusals over the run.
    OverDay,
    /// Sandboxes by state over the run, against the limit.
    States,
    /// Paired differences from the first variant, with their intervals.
    Differences,
}

impl Chart {
    /// Every chart, in the order of the report.
    pub const ALL: [Chart; 6] = [
        Chart::WaitCdf,
        Chart::CostAgainstWait,
        Chart::CostByCause,
        Chart::OverDay,
        Chart::States,
        Chart::Differences,
    ];

    /// The name of its file.
    #[must_use]
    pub const fn file_name(self) -> &'static str {
        match self {
            Chart::WaitCdf => "wait-cdf.svg",
            Chart::CostAgainstWait => "cost-against-wait.svg",
            Chart::CostByCause => "cost-by-cause.svg",
            Chart::OverDay => "over-day.svg",
            Chart::States => "states.svg",
            Chart::Differences => "differences.svg",
        }
    }

    /// Its title.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Chart::WaitCdf => "How long a first execute waited",
            Chart::CostAgainstWait => "What a shorter wait costs",
            Chart::CostByCause => "Where the money goes",
            Chart::OverDay => "Waiting and refusals over the run",
            Chart::States => "What the sandboxes were doing",
            Chart::Differences => "Differences from the first variant",
        }
    }

    /// One plain sentence that says how to read it.
    #[must_use]
    pub const fn reading(self) -> &'static str {
        match self {
            Chart::WaitCdf => {
                "A line that passes 0.95 at 2 s says that 95 % of first executes waited at most \
                 2 s, so further up and to the left is better; marks stand at half and at 95 %, \
                 and what a line lacks to 1 at the right edge was refused."
            }
            Chart::CostAgainstWait => {
                "Each mark is one variant and its cross shows both confidence intervals, where \
                 they are wider than the mark; further left is a shorter wait, further down is cheaper."
            }
            Chart::CostByCause => {
                "Each bar is the mean cost per simulated hour, split by what a sandbox was doing \
                 while it was paid for; only the first part, busy, ran a command."
            }
            Chart::OverDay => {
                "The upper plots count the claims waiting at a time, the lower ones the executes \
                 refused per hour, both as means over replications; where each variant has its \
                 own plot, the grey lines are the others."
            }
            Chart::States => {
                "The height of a band is the mean number of sandboxes in that state; where the \
                 stack touches the dashed line the quota is used up."
            }
            Chart::Differences => {
                "Each mark is a variant minus the first one over the same arrivals, with its \
                 confidence interval; it is filled where the interval excludes zero, and the \
                 shaded side is the better one."
            }
        }
    }
}

/// Draws a chart as an SVG document with its title, on white.
///
/// # Errors
/// A number that is not finite or out of range, points out of order, a name used twice.
pub fn render_svg(chart: Chart, data: &ReportData) -> Result<String, ChartError> {
    check(data)?;
    draw(chart, data, TITLE_HEIGHT)
}

/// Draws a chart of data that have been checked, without its title, to stand in a page.
pub(crate) fn render_inline(chart: Chart, data: &ReportData) -> Result<String, ChartError> {
    draw(chart, data, 0.0)
}

fn draw(chart: Chart, data: &ReportData, title_height: f64) -> Result<String, ChartError> {
    let height = match chart {
        Chart::WaitCdf => wait_cdf::height(data),
        Chart::CostAgainstWait => cost_against_wait::height(data),
        Chart::CostByCause => cost_by_cause::height(data),
        Chart::OverDay => over_day::height(data),
        Chart::States => states::height(data),
        Chart::Differences => differences::height(data),
    };
    let top = MARGIN + title_height;
    let area = Area::new(MARGIN, top, WIDTH - MARGIN, top + height);
    let names: Vec<&str> = data.variants.iter().map(|variant| variant.name.as_str()).collect();
    let label = format!("{}. Variants: {}.", chart.title(), names.join(", "));
    canvas::draw((WIDTH, area.bottom + MARGIN), &label, |canvas| {
        canvas.rectangle(Area::new(0.0, 0.0, WIDTH, area.bottom + MARGIN), style::PAPER);
        if title_height > 0.0 {
            let font = Font::new(INK, TITLE_SIZE).bold();
            let at = (area.left, MARGIN + TITLE_SIZE / 2.0);
            canvas.text(at, Anchor::Start, font, chart.title());
        }
        match chart {
            Chart::WaitCdf => wait_cdf::draw(canvas, area, data),
            Chart::CostAgainstWait => cost_against_wait::draw(canvas, area, data),
            Chart::CostByCause => cost_by_cause::draw(canvas, area, data),
            Chart::OverDay => over_day::draw(canvas, area, data),
            Chart::States => states::draw(canvas, area, data),
            Chart::Differences => differences::draw(canvas, area, data),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Estimate, VariantData};
    use crate::test_data::report;

    /// The documents of every chart.
    fn all(data: &ReportData) -> Vec<(Chart, String)> {
        Chart::ALL.into_iter().map(|chart| (chart, render_svg(chart, data).unwrap())).collect()
    }

    /// What the texts of a document say.
    fn texts(svg: &str) -> Vec<String> {
        svg.split("<text ")
            .skip(1)
            .map(|text| {
                let start = text.find('>').unwrap() + 1;
                text[start..text.find("</text>").unwrap()].trim().to_string()
            })
            .collect()
    }

    /// The numbers of an attribute, wherever it stands.
    fn numbers(svg: &str, attribute: &str) -> Vec<f64> {
        svg.split(&format!(" {attribute}=\""))
            .skip(1)
            .map(|rest| rest[..rest.find('"').unwrap()].parse().unwrap())
            .collect()
    }

    #[test]
    fn every_variant_is_named_where_it_is_drawn() {
        for count in 1..=8 {
            for (chart, svg) in all(&report(count, 1.0)) {
                let texts = texts(&svg);
                for index in 0..count {
                    // A difference is that of a variant after the first.
                    if chart == Chart::Differences && (index == 0 || count == 1) {
                        continue;
                    }
                    let name = format!("variant-{index}");
                    assert!(texts.contains(&name), "{chart:?} of {count} lacks {name}");
                }
            }
        }
    }

    #[test]
    fn every_axis_says_its_unit() {
        let data = report(2, 1.0);
        for (chart, titles) in [
            (Chart::WaitCdf, vec!["exposed wait (s;", "share of first executes"]),
            (Chart::CostAgainstWait, vec!["exposed wait (s)", "($ per simulated hour)"]),
            (Chart::CostByCause, vec!["($ per simulated hour)"]),
            (Chart::OverDay, vec!["run (h)", "claims waiting (mean)", "executes (per hour)"]),
            (Chart::States, vec!["run (h)", "sandboxes (mean number)"]),
            (Chart::Differences, vec!["exposed wait (s)"]),
        ] {
            let texts = texts(&render_svg(chart, &data).unwrap());
            for title in titles {
                assert!(texts.iter().any(|text| text.contains(title)), "{chart:?}: {title}");
            }
        }
    }

    #[test]
    fn the_same_data_give_the_same_bytes() {
        assert_eq!(all(&report(5, 1.0)), all(&report(5, 1.0)));
    }

    #[test]
    fn markup_in_names_is_escaped() {
        let mut data = report(2, 1.0);
        data.variants[1].name = "a<b & \"c\"".into();
        data.differences[0].variant = data.variants[1].name.clone();
        for (chart, svg) in all(&data) {
            assert!(svg.contains("a&lt;b &amp; &quot;c&quot;"), "{chart:?}");
            assert!(!svg.contains("a<b"), "{chart:?}");
        }
    }

    #[test]
    fn nothing_to_show_is_said_in_words() {
        for (chart, svg) in all(&report(0, 1.0)) {
            assert!(
                svg.contains("no variant") || svg.contains("othing") || svg.contains("No variant"),
                "{chart:?}"
            );
        }
        let mut data = report(2, 1.0);
        data.differences.clear();
        for variant in &mut data.variants {
            *variant = VariantData { name: variant.name.clone(), ..VariantData::default() };
        }
        for (chart, svg) in all(&data) {
            assert!(texts(&svg).len() > 1, "{chart:?}");
        }
    }

    #[test]
    fn any_finite_size_of_numbers_stays_on_the_sheet() {
        for scale in [0.0, 1e-300, 1e-12, 1e-3, 1e6, 1e100, 1e290] {
            for count in [1, 3, 8] {
                for (chart, svg) in all(&report(count, scale)) {
                    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{chart:?} at {scale}");
                    let (wide, high) = (numbers(&svg, "width")[0], numbers(&svg, "height")[0]);
                    for (attribute, most) in
                        [("x1", wide), ("x2", wide), ("y1", high), ("y2", high)]
                    {
                        for value in numbers(&svg, attribute) {
                            let pixels = value / 10.0;
                            assert!(
                                (0.0..=most).contains(&pixels),
                                "{chart:?} at {scale}: {attribute} {pixels}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn one_point_and_one_bin_are_enough() {
        let mut data = report(2, 1.0);
        for variant in &mut data.variants {
            variant.wait_cdf.truncate(1);
            variant.over_time.bins.truncate(1);
            variant.total_cost = variant.total_cost.map(|e| Estimate::point(e.mean));
        }
        for (chart, svg) in all(&data) {
            let shapes = svg.matches("<polyline").count()
                + svg.matches("<polygon").count()
                + svg.matches("<line").count();
            assert!(shapes > 3, "{chart:?}");
        }
    }

    #[test]
    fn long_names_are_cut_and_more_than_eight_variants_are_drawn() {
        let mut data = report(12, 1.0);
        for index in 1..12 {
            let name = format!("{index}{}", " a very long name indeed".repeat(30));
            data.differences[index - 1].variant = name.clone();
            data.variants[index].name = name;
        }
        for (chart, svg) in all(&data) {
            for text in texts(&svg) {
                let width = text::width(&text, style::SMALL_SIZE);
                assert!(width < WIDTH - MARGIN, "{chart:?}: {text}");
            }
        }
    }

    #[test]
    fn what_is_not_a_number_is_refused_by_name() {
        let mut data = report(2, 1.0);
        data.variants[1].over_time.bins[3].waiting = f64::NAN;
        let error = render_svg(Chart::WaitCdf, &data).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, ChartError::NotFinite { .. }));
        assert!(text.contains("variant-1") && text.contains("bins[3].waiting"), "{text}");
    }

    #[test]
    fn a_legend_stands_beside_the_plot_and_never_on_it() {
        let svg = render_svg(Chart::WaitCdf, &report(8, 1.0)).unwrap();
        let grid = svg.lines().filter(|line| line.contains("stroke=\"#E4E8EC\""));
        let plot_right = grid.flat_map(|line| numbers(line, "x2")).fold(0.0, f64::max);
        for line in svg.lines().collect::<Vec<_>>().windows(2) {
            if line[0].starts_with("<text") && line[1].starts_with("variant-") {
                assert!(numbers(line[0], "x")[0] > plot_right, "{}", line[1]);
            }
        }
    }

    /// Where the texts of a document stand, as wide as they may be.
    fn boxes(svg: &str) -> Vec<(Area, String)> {
        svg.split("<text ")
            .skip(1)
            .zip(texts(svg))
            .map(|(element, text)| {
                let element = format!(" {}", &element[..element.find('>').unwrap()]);
                let pixels = |name| numbers(&element, name)[0] / 10.0;
                let (x, y, size) = (pixels("x"), pixels("y"), pixels("font-size"));
                // What is escaped is one character to a reader.
                let shown = text.replace("&lt;", "<").replace("&amp;", "&");
                let width = text::width(&shown, size);
                let left = if element.contains("text-anchor=\"start\"") {
                    x
                } else if element.contains("text-anchor=\"end\"") {
                    x - width
                } else {
                    x - width / 2.0
                };
                (Area::new(left, y - 0.4 * size, left + width, y + 0.4 * size), text)
            })
            .collect()
    }

    #[test]
    fn no_text_overlaps_another_or_leaves_the_sheet() {
        for count in [1, 2, 4, 5, 8] {
            for scale in [0.0, 1e-4, 1.0, 12_345.0, 1e9] {
                for (chart, svg) in all(&report(count, scale)) {
                    let sheet = Area::new(0.0, 0.0, WIDTH, numbers(&svg, "height")[0]);
                    let boxes = boxes(&svg);
                    for (i, (area, text)) in boxes.iter().enumerate() {
                        let size = area.width() * area.height();
                        let place = format!("{chart:?} of {count} at {scale}: {text}");
                        assert!(area.overlap(&sheet) > size - 1.0, "{place} leaves the sheet");
                        for (other, other_text) in &boxes[..i] {
                            let common = area.overlap(other);
                            assert!(common < 2.0, "{place} overlaps {other_text} by {common}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn file_names_are_unique() {
        let names: Vec<&str> = Chart::ALL.iter().map(|chart| chart.file_name()).collect();
        for (i, name) in names.iter().enumerate() {
            assert!(name.ends_with(".svg") && !names[..i].contains(name), "{name}");
        }
    }
}
