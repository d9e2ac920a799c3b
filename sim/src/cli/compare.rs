//! `compare`: every variant of each scenario, tables, and a result folder with charts and a page.

use super::examples;
use super::failure::Failure;
use super::input::{Loaded, SettingArguments, TraceArguments, load_files, quoted};
use super::progress::Bar;
use clap::Args;
use sandpool_sim::{
    Detail, Experiment, ExperimentOptions, Missed, RecordedTraffic, ReportContext,
    check_expectations, check_target, report_data, result_files, run_experiment, terminal_tables,
    write_folder,
};
use serde_json::{Value, json};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Columns of the tables.
const WIDTH: usize = 100;

/// How replications are made, for every command that makes more than one.
#[derive(Args, Clone, Debug)]
pub(crate) struct SimulationArguments {
    /// Exactly so many replications, whatever the scenario says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) replications: Option<u32>,
    /// Seed of every random stream, instead of the scenario's
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// Threads; the results do not depend on it [default: one per core]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Check every invariant of the scheduler after every step (several times slower)
    #[arg(long)]
    pub(crate) check_invariants: bool,
    /// Show every measure, not only those that most decisions rest on
    #[arg(long)]
    pub(crate) all: bool,
    /// Write the results to standard output as JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingArguments,
    #[command(flatten)]
    pub(crate) trace: TraceArguments,
}

/// Simulate every variant of scenarios and compare them: tables, charts, a report page
///
/// Each scenario gets a folder of its own name below the output folder, with CSV tables,
/// results.json, charts and report.html. An earlier result there is replaced. Ranges given by
/// [[expect]] are checked.
#[derive(Args, Debug)]
#[command(after_help = examples!("  sandpool-sim compare scenarios/rush-hour.toml
  sandpool-sim compare scenarios/*.toml --out results --replications 50
  sandpool-sim compare my.toml --trace sessions.csv --trace-sample 0.2
  sandpool-sim compare my.toml --json | jq -r '.comparisons[].answer'"))]
pub(crate) struct Arguments {
    /// Scenario files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Folder that gets one result folder per scenario
    #[arg(long, value_name = "DIR", default_value = "out")]
    out: PathBuf,
    #[command(flatten)]
    simulation: SimulationArguments,
}

pub(crate) fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let mut files = load_files(&arguments.files, &arguments.simulation.settings.set)?;
    let simulation = &arguments.simulation;
    let mut targets: Vec<PathBuf> = Vec::new();
    for file in &files {
        let target = target_of(&arguments.out, &file.scenario.name);
        if targets.contains(&target) {
            return Err(Failure::Usage(format!(
                "two of the scenarios are called `{}`\n  hint: give one of them another `name`",
                file.scenario.name
            )));
        }
        targets.push(target);
    }
    let mut traffic = Vec::new();
    for (file, target) in files.iter_mut().zip(&targets) {
        simulation.apply(file);
        traffic.push(simulation.trace.load(&file.scenario.variants)?);
        check_target(target)?;
    }
    let mut comparisons = Vec::new();
    let mut missed = 0;
    for ((file, target), traffic) in files.iter().zip(&targets).zip(&traffic) {
        let command = simulation.command(&format!("compare {}", shown(&file.path)));
        let done = simulate(file, simulation, traffic.as_ref(), command, Some(target))?;
        missed += done.missed.len();
        if simulation.json {
            comparisons.push(done.to_json(Some(target))?);
        } else {
            done.tell(simulation, Some(target), out)?;
            // So that a long series shows what is done.
            out.flush()?;
        }
    }
    if simulation.json {
        writeln!(out, "{:#}", json!({ "comparisons": comparisons }))?;
    }
    if missed == 0 { Ok(()) } else { Err(Failure::Missed { count: missed }) }
}

/// The path as a shell takes it.
pub(crate) fn shown(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

/// The result folder of a scenario; a name that is no file name is made one.
pub(crate) fn target_of(out: &Path, scenario: &str) -> PathBuf {
    let name: String =
        scenario.chars().map(|c| if matches!(c, '/' | '\\' | ':') { '-' } else { c }).collect();
    let name = name.trim();
    out.join(if name.starts_with('.') { format!("_{name}") } else { name.to_owned() })
}

/// An experiment that has been run, and checked against what its scenario expects.
pub(crate) struct Done {
    experiment: Experiment,
    question: String,
    missed: Vec<Missed>,
}

impl SimulationArguments {
    /// Puts the arguments in the place of what the scenario says.
    pub(crate) fn apply(&self, file: &mut Loaded) {
        if let Some(replications) = self.replications {
            file.scenario.replications = replications;
            file.scenario.precision = None;
        }
        if let Some(seed) = self.seed {
            file.scenario.seed = seed;
        }
    }

    /// The command that gives the same results. Threads and the output folder change none.
    pub(crate) fn command(&self, beginning: &str) -> String {
        let mut text = format!("sandpool-sim {beginning}");
        if let Some(replications) = self.replications {
            text.push_str(&format!(" --replications {replications}"));
        }
        if let Some(seed) = self.seed {
            text.push_str(&format!(" --seed {seed}"));
        }
        text + &self.settings.typed() + &self.trace.typed()
    }
}

/// Runs the variants that `file` holds and, with a target, writes the result folder.
pub(crate) fn simulate(
    file: &Loaded,
    simulation: &SimulationArguments,
    traffic: Option<&RecordedTraffic>,
    command: String,
    target: Option<&Path>,
) -> Result<Done, Failure> {
    let scenario = &file.scenario;
    let bar = Bar::new(&scenario.name);
    let options = ExperimentOptions {
        threads: simulation.threads.map(NonZeroUsize::get),
        check_invariants: simulation.check_invariants,
        traffic,
    };
    let experiment = run_experiment(scenario, &options, &|progress| bar.advance(progress));
    bar.finish();
    let experiment = experiment?;
    // Names were checked when the file was read.
    let missed = check_expectations(&experiment.results, &scenario.expectations)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    if let Some(target) = target {
        let context = ReportContext {
            command,
            scenario_text: file.text.clone(),
            traffic: traffic.map(RecordedTraffic::assumptions).unwrap_or_default(),
        };
        let report = report_data(&experiment, scenario, &context);
        write_folder(target, &result_files(&experiment.results, &report)?)?;
    }
    Ok(Done { experiment, question: scenario.question.clone(), missed })
}

impl Done {
    /// Whether every expected range was met; if not, how many were missed.
    pub(crate) fn missed(&self) -> usize {
        self.missed.len()
    }

    /// The tables, the answer and where the report is; missed ranges to standard error.
    pub(crate) fn tell(
        &self,
        simulation: &SimulationArguments,
        target: Option<&Path>,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let detail = if simulation.all { Detail::All } else { Detail::Headline };
        write!(out, "{}", terminal_tables(&self.experiment.results, WIDTH, detail))?;
        writeln!(out)?;
        if !self.question.is_empty() {
            writeln!(out, "{}", self.question)?;
        }
        writeln!(out, "{}", self.experiment.answer)?;
        if let Some(target) = target {
            writeln!(out, "report: {}", target.join("report.html").display())?;
        }
        writeln!(out)?;
        out.flush()?;
        for missed in &self.missed {
            eprintln!("missed: {}: {missed}", self.experiment.results.scenario);
        }
        Ok(())
    }

    /// The same for a script.
    pub(crate) fn to_json(&self, target: Option<&Path>) -> Result<Value, Failure> {
        let missed: Vec<Value> = self
            .missed
            .iter()
            .map(|missed| {
                json!({ "variant": missed.variant, "measure": missed.measure,
                    "found": missed.found, "min": missed.min, "max": missed.max })
            })
            .collect();
        Ok(json!({
            "scenario": self.experiment.results.scenario,
            "answer": self.experiment.answer,
            "folder": target.map(|target| target.to_string_lossy().into_owned()),
            "missed": missed,
            "results": serde_json::to_value(&self.experiment.results)?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_name_never_leaves_the_output_folder() {
        let of = |name| target_of(Path::new("out"), name);
        assert_eq!(of("rush-hour"), Path::new("out/rush-hour"));
        assert_eq!(of("../../etc"), Path::new("out/_..-..-etc"));
        assert_eq!(of(".."), Path::new("out/_.."));
        assert_eq!(of("/tmp/x"), Path::new("out/-tmp-x"));
    }
}
