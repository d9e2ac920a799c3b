//! `sandpool-server chaos`: kills servers in the middle of their work and looks for what is lost.

use super::Failure;
use crate::chaos::{self, ChaosOptions};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;

/// Kill servers in the middle of their work, and look for what was lost
///
/// Each round starts a server on the same store, compares everything that was ever answered with
/// what it has, lets callers loose on it while the provider loses answers, fails and kills
/// sandboxes, and kills it (SIGKILL) at a random moment. Every ten rounds and at the end the
/// server's books must agree with the provider's, and after the end nothing may be left there.
#[derive(Args, Debug)]
#[command(after_help = "\
Exit codes:
  0  nothing was lost, nothing leaked
  1  something was: the line says what, and the folder with the store and the log is kept

Examples:
  sandpool-server chaos
  sandpool-server chaos --rounds 1000 --callers 16
  sandpool-server chaos --rounds 20 --seed 7 --json")]
pub(super) struct Arguments {
    /// Servers that are started and killed
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Callers at once, of two accounts
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(2..=1000))]
    callers: u32,
    /// The longest that a server lives
    #[arg(long, value_name = "MS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=600_000))]
    longest_ms: u64,
    /// Decides what callers do, what fails and when a server is killed; made up and printed
    /// without it
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn execute(arguments: &Arguments) -> Result<(), Failure> {
    let seed = match arguments.seed {
        Some(seed) => seed,
        None => made_up().map_err(|error| Failure::CannotStart(error.to_string()))?,
    };
    let options = ChaosOptions {
        rounds: arguments.rounds,
        callers: arguments.callers,
        longest_ms: arguments.longest_ms,
        seed,
    };
    let again = format!(
        "sandpool-server chaos --rounds {} --callers {} --longest-ms {} --seed {seed}",
        options.rounds, options.callers, options.longest_ms
    );
    eprintln!("{again}");
    let folder = tempfile::tempdir().map_err(|error| Failure::CannotStart(error.to_string()))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::CannotStart(error.to_string()))?;
    let bar = ProgressBar::new(u64::from(options.rounds));
    let shape = "{elapsed_precise} {wide_bar} {pos} of {len} servers, {eta} left";
    bar.set_style(
        ProgressStyle::with_template(shape).unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let done = runtime.block_on(chaos::run(options, folder.path(), |round| {
        bar.set_position(u64::from(round));
    }));
    bar.finish_and_clear();
    match done {
        Ok(survived) => {
            tell(&survived, seed, arguments.json);
            Ok(())
        }
        Err(error) => {
            let kept: PathBuf = folder.keep();
            Err(Failure::Failed(format!(
                "{error}\n  the store and the log are kept in {}\n  again: {again}",
                kept.display()
            )))
        }
    }
}

fn made_up() -> Result<u64, getrandom::Error> {
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes)?;
    Ok(u64::from(u32::from_le_bytes(bytes)))
}

fn tell(survived: &chaos::Survived, seed: u64, json: bool) {
    let counts = survived.counts;
    if json {
        let value = serde_json::json!({
            "seed": seed,
            "rounds": survived.rounds,
            "conversations": survived.conversations,
            "answers": counts.answers,
            "unanswered": counts.unanswered,
            "executes_completed": counts.completed,
            "executes_unavailable": counts.unavailable,
            "executes_sandbox_died": counts.sandbox_died,
            "messages_and_events_compared": counts.compared,
            "faults": counts.faults,
            "files_intact": counts.files_intact,
            "files_lost": counts.files_lost,
        });
        println!("{value:#}");
        return;
    }
    println!(
        "{} servers killed, {} conversations, {} answers heard and {} cut off, {} faults of the \
         provider",
        survived.rounds, survived.conversations, counts.answers, counts.unanswered, counts.faults
    );
    println!(
        "executes: {} completed, {} unavailable, {} sandbox_died; files: {} intact, {} lost and told",
        counts.completed,
        counts.unavailable,
        counts.sandbox_died,
        counts.files_intact,
        counts.files_lost
    );
    println!(
        "{} messages and events compared after restarts: nothing lost, nothing leaked, the books agree",
        counts.compared
    );
}
