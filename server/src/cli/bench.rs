//! `sandpool-server bench`: what an execute through the server costs, and what many conversations
//! cost.

use super::Failure;
use crate::bench::{self, BenchOptions};
use clap::Args;

/// Measure what an execute through the server costs
///
/// The server runs in a process of its own and speaks to a simulated Daytona that answers at once
/// and runs no commands. The same executes are sent to it directly and through the server, in turn,
/// so that what the machine does meanwhile strikes both.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  sandpool-server bench
  sandpool-server bench --rate 500 --seconds 10 --pairs 5 --json
  sandpool-server bench --pairs 1 --seconds 2 --conversations 0")]
pub(super) struct Arguments {
    /// Executes a second while latencies are measured
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,
    /// How long each part is measured
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=3600))]
    seconds: u32,
    /// So many times directly and through the server
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Conversations that execute at the same time
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1000))]
    callers: u32,
    /// Conversations that are open while memory and a restart are measured; 0: leave it out
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    conversations: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn execute(arguments: &Arguments) -> Result<(), Failure> {
    let options = BenchOptions {
        rate: arguments.rate,
        seconds: arguments.seconds,
        pairs: arguments.pairs,
        callers: arguments.callers,
        conversations: arguments.conversations,
    };
    let folder = tempfile::tempdir().map_err(|error| Failure::CannotStart(error.to_string()))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::CannotStart(error.to_string()))?;
    let measured = runtime
        .block_on(bench::run(options, folder.path(), |what| eprintln!("{what}")))
        .map_err(|error| Failure::Failed(error.to_string()))?;
    if arguments.json {
        println!("{:#}", bench::json(&measured));
    } else {
        print!("{}", bench::table(&measured));
    }
    Ok(())
}
