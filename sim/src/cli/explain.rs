//! `explain`: what happened to one conversation, and which ones are worth asking about.

use super::events::ReplicationArguments;
use super::examples;
use super::failure::Failure;
use clap::Args;
use sandpool_sim::{Notable, notable, story};
use serde_json::json;
use std::cmp::Reverse;
use std::io::Write;

/// Conversations in each list.
const LISTED: usize = 5;

/// Tell what happened to one conversation: why it waited, lost its files or was refused
///
/// The reasons of a wait are asked of the scheduler itself, whose state at that moment is rebuilt
/// from the journal. Without --conversation, lists those that waited longest, were refused or lost
/// files.
#[derive(Args, Debug)]
#[command(after_help = examples!("  sandpool-sim explain scenarios/rush-hour.toml
  sandpool-sim explain scenarios/rush-hour.toml --conversation 12
  sandpool-sim explain my.toml --variant likely --replication 3 --conversation 12 --json"))]
pub(crate) struct Arguments {
    #[command(flatten)]
    replication: ReplicationArguments,
    /// The conversation's number, counting from 1 in order of arrival
    #[arg(long, value_name = "N")]
    conversation: Option<u64>,
    /// Write to standard output as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let (config, journal) = arguments.replication.journal()?;
    let Some(number) = arguments.conversation else {
        return list(&notable(&journal), arguments.json, out);
    };
    let Some(story) = story(&config, &journal, number)? else {
        let last = notable(&journal).last().map_or(0, |last| last.conversation);
        return Err(Failure::Usage(format!(
            "there is no conversation {number} in this replication\n  hint: {}",
            if last == 0 {
                "it has none at all".to_owned()
            } else {
                format!("they are numbered 1 to {last}")
            }
        )));
    };
    if arguments.json {
        writeln!(out, "{:#}", serde_json::to_value(&story)?)?;
        return Ok(());
    }
    for step in &story.steps {
        writeln!(out, "{:>12}  {}", step.clock, step.text)?;
    }
    writeln!(out, "\n{}", story.summary)?;
    Ok(())
}

fn list(all: &[Notable], json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    if json {
        writeln!(out, "{:#}", json!({ "conversations": serde_json::to_value(all)? }))?;
        return Ok(());
    }
    writeln!(out, "{} conversations", all.len())?;
    let mut any = false;
    any |= section(
        out,
        "Longest waits",
        all,
        |n| n.longest_wait.as_nanos(),
        |n| format!("waited {:.1} s", n.longest_wait.as_secs_f64()),
    )?;
    any |= section(
        out,
        "Most refusals",
        all,
        |n| u64::from(n.refusals),
        |n| format!("refused {}", times(n.refusals)),
    )?;
    any |= section(
        out,
        "Most often without their files",
        all,
        |n| u64::from(n.lost_files),
        |n| format!("lost its files {}", times(n.lost_files)),
    )?;
    if any {
        writeln!(out, "\nTell one of them with --conversation N.")?;
    } else {
        writeln!(out, "Nobody waited, was refused or lost files.")?;
    }
    Ok(())
}

fn times(n: u32) -> String {
    match n {
        1 => "once".to_owned(),
        n => format!("{n} times"),
    }
}

/// One list, worst first; gives whether there was anything to list.
fn section(
    out: &mut dyn Write,
    title: &str,
    all: &[Notable],
    badness: impl Fn(&Notable) -> u64,
    words: impl Fn(&Notable) -> String,
) -> Result<bool, Failure> {
    let mut worst: Vec<&Notable> = all.iter().filter(|n| badness(n) > 0).collect();
    worst.sort_by_key(|n| (Reverse(badness(n)), n.conversation));
    if worst.is_empty() {
        return Ok(false);
    }
    writeln!(out, "\n{title}:")?;
    for found in worst.iter().take(LISTED) {
        writeln!(
            out,
            "  conversation {:<6} {} ({} turns, {} executes)",
            found.conversation,
            words(found),
            found.turns,
            found.executes
        )?;
    }
    if worst.len() > LISTED {
        writeln!(out, "  and {} more", worst.len() - LISTED)?;
    }
    Ok(true)
}
