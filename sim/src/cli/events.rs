//! `events`: the journal of one replication.

use super::examples;
use super::failure::Failure;
use super::input::{SettingArguments, TraceArguments, load_one, variant_index};
use clap::Args;
use clap::builder::PossibleValuesParser;
use sandpool_core::{Config, ConversationId, EventKind, Id, Input, Span};
use sandpool_sim::{Journal, Line, RunOptions, What, run, source_of};
use std::io::Write;
use std::path::PathBuf;

/// The kinds of lines that are not events.
const OTHER_KINDS: [&str; 7] =
    ["instance", "input", "timeout", "operation", "event", "rejection", "crash"];

/// Which replication is looked at.
#[derive(Args, Clone, Debug)]
pub(crate) struct ReplicationArguments {
    /// The scenario file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The variant; the first one if none is named
    #[arg(long, value_name = "NAME")]
    pub(crate) variant: Option<String>,
    /// Which replication, counting from 0
    #[arg(long, value_name = "R", default_value_t = 0)]
    pub(crate) replication: u32,
    /// Seed of every random stream, instead of the scenario's
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) settings: SettingArguments,
    #[command(flatten)]
    pub(crate) trace: TraceArguments,
}

impl ReplicationArguments {
    /// Simulates it from the start, with the journal kept. It ends with the scenario's duration, as
    /// it stands: what is under way stays so.
    pub(crate) fn journal(&self) -> Result<(Config, Journal), Failure> {
        let loaded = load_one(&self.file, &self.settings.set)?;
        let scenario = &loaded.scenario;
        let index = variant_index(&scenario.variants, self.variant.as_deref())?;
        let traffic = self.trace.load(&scenario.variants)?;
        let variant = &scenario.variants[index];
        let options = RunOptions {
            seed: self.seed.unwrap_or(scenario.seed),
            replication: self.replication,
            duration: scenario.duration,
            warm_up: Span::ZERO,
            bin: None,
            check_invariants: false,
            journal: true,
            wind_down: false,
        };
        let source = source_of(
            traffic.as_ref(),
            index,
            variant,
            options.seed,
            options.replication,
            options.duration,
        );
        let journal = run(variant, source, &options).journal.unwrap_or_default();
        Ok((variant.server.clone(), journal))
    }
}

/// Print everything that went into the scheduler and came out of it, as JSON lines
///
/// One line each for what the scheduler was told (input, timeout), what it asked of the provider
/// (operation), what it said (event, rejection) and for restarts and crashes of our server
/// (instance, crash). Times are nanoseconds from the start of the run.
#[derive(Args, Debug)]
#[command(after_help = examples!("  sandpool-sim events scenarios/rush-hour.toml > journal.jsonl
  sandpool-sim events scenarios/rush-hour.toml --kind sandbox_unavailable | head
  sandpool-sim events my.toml --variant likely --replication 3 --conversation 12"))]
pub(crate) struct Arguments {
    #[command(flatten)]
    replication: ReplicationArguments,
    /// Only lines of this kind: an event's kind, or input, timeout, operation, event, rejection,
    /// instance, crash
    #[arg(long, value_name = "K", value_parser = kinds(), hide_possible_values = true)]
    kind: Option<String>,
    /// Only lines that name this conversation
    #[arg(long, value_name = "N")]
    conversation: Option<u64>,
}

fn kinds() -> PossibleValuesParser {
    let events = EventKind::ALL.iter().map(|kind| kind.name());
    PossibleValuesParser::new(OTHER_KINDS.into_iter().chain(events))
}

pub(crate) fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let (_, journal) = arguments.replication.journal()?;
    for line in &journal {
        let is_of_kind = arguments.kind.as_deref().is_none_or(|kind| has_kind(line, kind));
        let is_theirs = arguments.conversation.is_none_or(|number| names(line, number));
        if is_of_kind && is_theirs {
            serde_json::to_writer(&mut *out, line)?;
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}

fn has_kind(line: &Line, kind: &str) -> bool {
    match &line.what {
        What::Instance(_) => kind == "instance",
        What::Input(_) => kind == "input",
        What::Timeout => kind == "timeout",
        What::Operation(_) => kind == "operation",
        What::Event(event) => kind == "event" || kind == event.kind.name(),
        What::Rejection(_) => kind == "rejection",
        What::Crash => kind == "crash",
    }
}

fn names(line: &Line, number: u64) -> bool {
    let conversation = match &line.what {
        What::Input(input) => of_input(input),
        What::Operation(operation) => operation.conversation,
        What::Event(event) => event.conversation,
        What::Rejection(rejection) => rejection.conversation,
        What::Instance(_) | What::Timeout | What::Crash => None,
    };
    conversation.is_some_and(|id| id.sequence() == number)
}

fn of_input(input: &Input) -> Option<ConversationId> {
    match *input {
        Input::OpenConversation { conversation, .. }
        | Input::CloseConversation { conversation, .. }
        | Input::BeginTurn { conversation, .. }
        | Input::EndTurn { conversation, .. }
        | Input::StartExecute { conversation, .. }
        | Input::FinishExecute { conversation, .. }
        | Input::CancelExecute { conversation, .. }
        | Input::Restore { conversation, .. }
        | Input::FilesLost { conversation, .. } => Some(conversation),
        Input::Reply { .. }
        | Input::Recovered
        | Input::Reconcile
        | Input::Reconfigure(_)
        | Input::Drain { .. } => None,
    }
}
