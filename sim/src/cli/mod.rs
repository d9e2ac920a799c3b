//! The command line: one file per command.

mod bench;
mod compare;
mod daytona;
mod events;
mod explain;
mod failure;
mod fuzz;
mod input;
mod policy;
mod progress;
mod run;
mod schema;
mod validate;
mod verify;

use clap::{Parser, Subcommand};
use failure::Failure;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

/// What follows every command's help.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  all is well
  1  an expected range was missed, or an invariant of the scheduler was broken
  2  the command, a scenario file or a trace has mistakes
  3  the results cannot be written";

/// The help that follows a command's own.
macro_rules! examples {
    ($examples:literal) => {
        concat!(
            "Examples:\n",
            $examples,
            "\n\nExit codes:\n",
            "  0  all is well\n",
            "  1  an expected range was missed, or an invariant of the scheduler was broken\n",
            "  2  the command, a scenario file or a trace has mistakes\n",
            "  3  the results cannot be written"
        )
    };
}
pub(crate) use examples;

/// Compares sandbox-pool policies against a simulated provider.
#[derive(Debug, Parser)]
#[command(name = "sandpool-sim", version, max_term_width = 100, after_help = EXIT_CODES)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Validate(validate::Arguments),
    Run(run::Arguments),
    Compare(compare::Arguments),
    Explain(explain::Arguments),
    Events(events::Arguments),
    Policy(policy::Arguments),
    Schema(schema::Arguments),
    Daytona(daytona::Arguments),
    Fuzz(fuzz::Arguments),
    /// Check the simulation against closed forms of queueing theory.
    Verify(verify::VerifyArgs),
    /// Measure how fast the simulation and the scheduler's decisions are.
    Bench(bench::BenchArgs),
}

impl Command {
    /// Does what it says and gives the exit code.
    fn execute(&self) -> ExitCode {
        let mut out = BufWriter::new(io::stdout());
        let done = match self {
            Command::Validate(arguments) => validate::execute(arguments, &mut out),
            Command::Run(arguments) => run::execute(arguments, &mut out),
            Command::Compare(arguments) => compare::execute(arguments, &mut out),
            Command::Explain(arguments) => explain::execute(arguments, &mut out),
            Command::Events(arguments) => events::execute(arguments, &mut out),
            Command::Policy(arguments) => policy::execute(arguments, &mut out),
            Command::Daytona(arguments) => daytona::execute(arguments, &mut out),
            Command::Fuzz(arguments) => fuzz::execute(arguments, &mut out),
            Command::Schema(_) => schema::execute(&mut out),
            Command::Verify(arguments) => return verify::run(arguments),
            Command::Bench(arguments) => return bench::run(arguments),
        };
        match out.flush().map_err(Failure::from).and(done) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => {
                failure.tell();
                ExitCode::from(failure.exit_code())
            }
        }
    }
}

/// Reads the process's arguments, does what they say, and gives the exit code: data to standard
/// output, everything else to standard error.
#[must_use]
pub(crate) fn command_line() -> ExitCode {
    quiet_broken_invariants();
    // Mistakes in the arguments end the process here, with code 2.
    CommandLine::parse().command.execute()
}

/// A broken invariant is told once, as a failure of the command, not also as a panic.
fn quiet_broken_invariants() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload().downcast_ref::<String>();
        let is_told = |text: &String| {
            text.starts_with("invariant broken") || text.starts_with("the books do not balance")
        };
        if !text.is_some_and(is_told) {
            usual(panic);
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn every_command_has_examples_and_exit_codes() {
        for command in CommandLine::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for part in
                ["Examples:\n", "Exit codes:", &format!("sandpool-sim {}", command.get_name())]
            {
                assert!(help.contains(part), "{} lacks {part}", command.get_name());
            }
            assert!(command.get_about().is_some(), "{}", command.get_name());
        }
    }
}
