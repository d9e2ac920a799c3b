//! The `sandpool-sim` command.

mod cli;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "sandpool-sim", version, about = "Compare sandbox-pool policies")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check the simulation against closed forms of queueing theory.
    Verify(cli::verify::VerifyArgs),
    /// Measure how fast the simulation and the scheduler's decisions are.
    Bench(cli::bench::BenchArgs),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Verify(args) => cli::verify::run(&args),
        Command::Bench(args) => cli::bench::run(&args),
    }
}
