//! From results to the report's page and charts, and to the files of a result folder.

use super::runner::Experiment;
use crate::output::{
    Better, Bin, Cause, CsvError, Difference, MANIFEST, Measure, MeasureId, OutputFile, Results,
    ResultsError, VariantResult, csv_files,
};
use crate::scenario::{Prices, Scenario};
use sandpool_reports::{
    CdfPoint, Chart, ChartError, CostByCause, Estimate, OverTime, ReportData, ReportError,
    StateCounts, TimeBin, VariantData, render_html, render_svg,
};

/// Why the files of a result folder cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ResultFilesError {
    /// A table.
    #[error(transparent)]
    Csv(#[from] CsvError),
    /// `results.json`.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A chart.
    #[error(transparent)]
    Chart(#[from] ChartError),
    /// The page.
    #[error(transparent)]
    Report(#[from] ReportError),
}

/// What a report says besides the results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportContext {
    /// The command that makes the results again.
    pub command: String,
    /// The scenario file, as written.
    pub scenario_text: String,
    /// What was assumed about the traffic, one sentence each; empty: it was drawn as the scenario
    /// says.
    pub traffic: Vec<String>,
}

/// The report of an experiment.
#[must_use]
pub fn report_data(
    experiment: &Experiment,
    scenario: &Scenario,
    context: &ReportContext,
) -> ReportData {
    let results = &experiment.results;
    let bin_hours = scenario.bin.as_secs_f64() / 3_600.0;
    ReportData {
        scenario: results.scenario.clone(),
        question: results.question.clone(),
        answer: experiment.answer.clone(),
        seed: results.seed,
        replications: u32::try_from(results.replications).unwrap_or(u32::MAX),
        confidence: results.confidence,
        interval_method:
            "Student's t over replications; quantiles by sectioning; differences paired".to_owned(),
        common_random_numbers: true,
        command: context.command.clone(),
        scenario_text: context.scenario_text.clone(),
        assumptions: assumptions(results, scenario, context),
        variants: results.variants.iter().map(|variant| variant_data(variant, bin_hours)).collect(),
        differences: results.differences.iter().filter_map(difference).collect(),
    }
}

/// Every file of the result folder: tables, `results.json`, the charts and the page.
///
/// # Errors
/// When a number is not finite, which would be a bug, or a file cannot be made.
pub fn result_files(
    results: &Results,
    report: &ReportData,
) -> Result<Vec<OutputFile>, ResultFilesError> {
    let mut files = csv_files(results)?;
    files.push(OutputFile::new(MANIFEST, results.to_json()?));
    for chart in Chart::ALL {
        files.push(OutputFile::new(chart.file_name(), render_svg(chart, report)?));
    }
    files.push(OutputFile::new("report.html", render_html(report)?));
    Ok(files)
}

fn assumptions(results: &Results, scenario: &Scenario, context: &ReportContext) -> Vec<String> {
    let mut sentences = results.notes.clone();
    if context.traffic.is_empty() {
        sentences.push(
            "Arrivals, turns, think times, agent work and executes are drawn from the \
             distributions of [workload]."
                .to_owned(),
        );
    } else {
        sentences.extend(context.traffic.iter().cloned());
    }
    sentences.push(
        "The provider is simulated: latencies, failures and deaths are drawn as [provider] says."
            .to_owned(),
    );
    if let Some(variant) = scenario.variants.first() {
        let Prices { cpu_hour, memory_gb_hour, disk_gb_hour } = variant.prices;
        sentences.push(format!(
            "Prices{}: ${cpu_hour} per vCPU and hour, ${memory_gb_hour} per GB of memory and hour, \
             ${disk_gb_hour} per GB of disk and hour, from `started` until the delete request.",
            if scenario.variants.iter().any(|other| other.prices != variant.prices) {
                " of the first variant"
            } else {
                ""
            }
        ));
    }
    sentences
}

fn variant_data(variant: &VariantResult, bin_hours: f64) -> VariantData {
    let estimate_of = |id| variant.measure(id).and_then(estimate);
    let limit = variant
        .over_time
        .iter()
        .map(|bin| bin.limit)
        .fold(None, |most: Option<f64>, l| Some(most.map_or(l, |most| most.max(l))));
    VariantData {
        name: variant.name.clone(),
        overrides: variant.overrides.clone(),
        measures: variant
            .measures
            .iter()
            .map(|measure| sandpool_reports::Measure {
                name: measure.name.clone(),
                unit: measure.unit.name().to_owned(),
                headline: MeasureId::named(&measure.name).is_some_and(|id| id.info().headline),
                estimate: estimate(measure),
            })
            .collect(),
        wait_cdf: wait_cdf(variant),
        cost: cost_by_cause(variant),
        over_time: OverTime { bin_hours, bins: variant.over_time.iter().map(time_bin).collect() },
        limit_sandboxes: limit,
        total_cost: estimate_of(MeasureId::CostTotal),
        wait_p95: estimate_of(MeasureId::ExposedWaitP95),
    }
}

fn estimate(measure: &Measure) -> Option<Estimate> {
    Some(Estimate { mean: measure.mean?, interval: measure.low.zip(measure.high) })
}

/// The result's distribution is that of first executes that were served; the chart's is that of all
/// of them, and never gets to 1 where some were not.
fn wait_cdf(variant: &VariantResult) -> Vec<CdfPoint> {
    let unserved = variant.measure(MeasureId::UnservedTurnShare).and_then(|m| m.mean);
    let served = 1.0 - unserved.unwrap_or(0.0);
    let points = variant.exposed_wait_cdf.iter();
    points.map(|point| CdfPoint { seconds: point.seconds, share: point.share * served }).collect()
}

fn cost_by_cause(variant: &VariantResult) -> CostByCause {
    let of = |cause: Cause| {
        let found = variant.cost_by_cause.iter().find(|cost| cost.cause == cause);
        found.and_then(|cost| cost.mean).unwrap_or(0.0).max(0.0)
    };
    CostByCause {
        busy: of(Cause::Busy),
        idle: of(Cause::Idle),
        warm: of(Cause::Warm),
        starting: of(Cause::Starting),
        never_used: of(Cause::NeverUsed),
        orphaned: of(Cause::Orphaned),
    }
}

fn time_bin(bin: &Bin) -> TimeBin {
    TimeBin {
        start_hours: bin.start_seconds / 3_600.0,
        waiting: bin.waiting,
        refusals_per_hour: bin.refusals_per_hour,
        sandboxes: StateCounts {
            starting: bin.starting,
            warm: bin.warm,
            in_use: bin.in_use,
            idle: bin.idle,
            lost: bin.in_doubt,
            destroying: bin.destroying,
        },
    }
}

fn difference(difference: &Difference) -> Option<sandpool_reports::Difference> {
    let mean = difference.mean?;
    Some(sandpool_reports::Difference {
        variant: difference.variant.clone(),
        measure: difference.measure.clone(),
        unit: difference.unit.name().to_owned(),
        estimate: Estimate { mean, interval: difference.low.zip(difference.high) },
        better: match difference.better {
            Better::Lower => sandpool_reports::Better::Lower,
            Better::Higher => sandpool_reports::Better::Higher,
            Better::Neither => sandpool_reports::Better::Neither,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::runner::{ExperimentOptions, run_experiment};
    use super::*;

    /// A pool of one sandbox, so that some are refused.
    fn sample() -> (Scenario, Experiment) {
        let text = "
            duration = \"1h\"
            replications = 3
            [server]
            max_sandboxes = 1
            warm_sandboxes = 0
            [workload.arrivals.poisson]
            per_hour = 40
            [[variant]]
            name = \"two\"
            \"server.max_sandboxes\" = 2
        ";
        let scenario = crate::scenario::parse("small.toml", text).unwrap();
        let experiment = run_experiment(&scenario, &ExperimentOptions::default(), &|_| {}).unwrap();
        (scenario, experiment)
    }

    #[test]
    fn the_folder_has_every_file_and_the_page_its_answer() {
        let (scenario, experiment) = sample();
        let context = ReportContext {
            command: "sandpool-sim compare small.toml".to_owned(),
            scenario_text: "duration = \"1h\"".to_owned(),
            traffic: Vec::new(),
        };
        let data = report_data(&experiment, &scenario, &context);
        let files = result_files(&experiment.results, &data).unwrap();
        assert_eq!(files.len(), 5 + 1 + 6 + 1);
        let page = files.iter().find(|file| file.name() == "report.html").unwrap();
        let page = String::from_utf8(page.bytes().to_vec()).unwrap();
        assert!(page.contains("sandpool-sim compare small.toml"));
        assert!(data.assumptions.iter().any(|a| a.contains("$0.0504 per vCPU and hour")));
        assert_eq!(data.variants[0].limit_sandboxes, Some(1.0));
    }

    #[test]
    fn the_wait_curve_stops_short_of_what_was_never_served() {
        let (scenario, experiment) = sample();
        let data = report_data(&experiment, &scenario, &ReportContext::default());
        let unserved = experiment.results.variants[0]
            .measure(MeasureId::UnservedTurnShare)
            .and_then(|measure| measure.mean)
            .unwrap();
        assert!(unserved > 0.05, "{unserved}");
        let last = data.variants[0].wait_cdf.last().unwrap().share;
        assert!((last - (1.0 - unserved)).abs() < 1e-12, "{last} {unserved}");
    }
}
