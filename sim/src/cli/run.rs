//! `run`: one variant of one scenario.

use super::compare::{SimulationArguments, shown, simulate, target_of};
use super::examples;
use super::failure::Failure;
use super::input::{load_one, quoted, variant_index};
use clap::Args;
use sandpool_sim::check_target;
use std::io::Write;
use std::path::PathBuf;

/// Simulate one variant of a scenario and show its measures
///
/// Expected ranges of [[expect]] that speak of this variant are checked. Without --out nothing is
/// written.
#[derive(Args, Debug)]
#[command(after_help = examples!("  sandpool-sim run scenarios/quiet-day.toml
  sandpool-sim run my.toml --variant 'three warm' --replications 5 --check-invariants
  sandpool-sim run my.toml --seed 7 --out results --all"))]
pub(crate) struct Arguments {
    /// The scenario file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The variant; the first one if none is named
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// Also write a result folder of the scenario's name below this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    simulation: SimulationArguments,
}

pub(crate) fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let mut file = load_one(&arguments.file, &arguments.simulation.settings.set)?;
    let simulation = &arguments.simulation;
    simulation.apply(&mut file);
    let scenario = &mut file.scenario;
    let index = variant_index(&scenario.variants, arguments.variant.as_deref())?;
    scenario.variants = vec![scenario.variants.swap_remove(index)];
    let name = scenario.variants[0].name.clone();
    scenario.expectations.retain(|e| e.variant.as_ref().is_none_or(|variant| *variant == name));
    let traffic = simulation.trace.load(&scenario.variants)?;
    let target = arguments.out.as_ref().map(|folder| target_of(folder, &scenario.name));
    if let Some(target) = &target {
        check_target(target)?;
    }
    let mut beginning = format!("run {}", shown(&arguments.file));
    if let Some(variant) = &arguments.variant {
        beginning.push_str(&format!(" --variant {}", quoted(variant)));
    }
    let command = simulation.command(&beginning);
    let done = simulate(&file, simulation, traffic.as_ref(), command, target.as_deref())?;
    if simulation.json {
        writeln!(out, "{:#}", done.to_json(target.as_deref())?)?;
    } else {
        done.tell(simulation, target.as_deref(), out)?;
    }
    match done.missed() {
        0 => Ok(()),
        count => Err(Failure::Missed { count }),
    }
}
