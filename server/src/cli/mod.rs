//! The command line.

mod bench;
mod chaos;
mod check_config;
mod first_start;
mod serve;
mod status;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Conversations that keep their history while sandboxes come and go.
///
/// Without a Daytona key it starts a SIMULATED Daytona in the same process, on loopback: its
/// commands run on this machine with your rights, which is no security boundary.
#[derive(Debug, Parser)]
#[command(
    name = "sandpool-server",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  sandpool-server
  DAYTONA_API_KEY_FILE=/run/secrets/daytona sandpool-server --config pool.toml
  sandpool-server check-config pool.toml
  sandpool-server status
  sandpool-server bench
  sandpool-server chaos

Exit codes:
  0  all is well
  1  the server failed while it ran
  2  the command or the configuration file has mistakes
  3  the server could not start: address, store or provider"
)]
struct CommandLine {
    #[command(flatten)]
    serve: serve::Arguments,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Say what is wrong with a configuration file, with line and column
    CheckConfig(check_config::Arguments),
    Status(status::Arguments),
    Bench(bench::Arguments),
    Chaos(chaos::Arguments),
}

/// Why a command ends without success.
#[derive(Debug)]
enum Failure {
    /// It failed while it ran.
    Failed(String),
    /// The command or a file has mistakes.
    Mistakes(String),
    /// It could not start.
    CannotStart(String),
}

/// Runs the program with the arguments of this process.
#[must_use]
pub fn main() -> ExitCode {
    let line = CommandLine::parse();
    let done = match line.command {
        Some(Command::CheckConfig(arguments)) => check_config::execute(&arguments),
        Some(Command::Status(arguments)) => status::execute(&arguments),
        Some(Command::Bench(arguments)) => bench::execute(&arguments),
        Some(Command::Chaos(arguments)) => chaos::execute(&arguments),
        None => serve::execute(&line.serve),
    };
    let (text, code) = match done {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Failed(text)) => (text, 1),
        Err(Failure::Mistakes(text)) => (text, 2),
        Err(Failure::CannotStart(text)) => (text, 3),
    };
    eprintln!("error: {}", text.trim_end());
    ExitCode::from(code)
}

/// The settings of a file, or all defaults without one.
fn settings(path: Option<&PathBuf>) -> Result<crate::config::Settings, Failure> {
    match path {
        None => crate::config::Settings::parse("defaults", "")
            .map_err(|errors| Failure::Mistakes(errors.to_string())),
        Some(path) => crate::config::Settings::read(path)
            .map_err(|error| Failure::Mistakes(error.to_string())),
    }
}
