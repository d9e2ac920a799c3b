//! Rebuilds the scheduler's state from a journal alone: its inputs go through a fresh scheduler,
//! and what comes out must be what the journal says came out.

use crate::engine::{Line, What};
use sandpool_core::{Config, Output, Scheduler, Time};

/// One step of a journal, after it was handled again.
#[derive(Clone, Copy, Debug)]
pub struct ReplayedStep<'a> {
    /// Where its lines begin in the journal.
    pub first_line: usize,
    /// The line that went in, and those that came out.
    pub lines: &'a [Line],
    /// The scheduler after the step; `None` while our server is down.
    pub scheduler: Option<&'a Scheduler>,
}

/// A journal that does not rebuild the state: it is of another version or another configuration,
/// or lines of it are missing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "line {line} of the journal is not what the scheduler says when it is told the same again: \
     the journal has {recorded}, the scheduler {replayed}"
)]
pub struct Divergence {
    /// The line, from 1.
    pub line: usize,
    /// What the journal has there.
    pub recorded: String,
    /// What the scheduler said.
    pub replayed: String,
}

/// Runs a journal through fresh schedulers, one for each instance in it, and calls `after_step`
/// after every step. `config` must be the one under which the journal was made.
///
/// # Errors
/// At the first line that comes out differently.
pub fn replay(
    config: &Config,
    journal: &[Line],
    mut after_step: impl FnMut(ReplayedStep<'_>),
) -> Result<(), Divergence> {
    let mut scheduler: Option<Scheduler> = None;
    let mut next = 0;
    while let Some(line) = journal.get(next) {
        let first_line = next;
        next += 1;
        match (&line.what, &mut scheduler) {
            (What::Instance(epoch), _) => {
                scheduler = Some(Scheduler::new(config.clone(), *epoch, line.at));
            }
            (What::Crash, _) => scheduler = None,
            (What::Input(input), Some(scheduler)) => scheduler.handle(line.at, input.clone()),
            (What::Timeout, Some(scheduler)) => scheduler.handle_timeout(line.at),
            (other, _) => return Err(diverged(first_line, Some(other), None)),
        }
        if let Some(scheduler) = &mut scheduler {
            while let Some(output) = scheduler.poll() {
                let (at, what) = as_line(line.at, output);
                let recorded = journal.get(next);
                if !recorded.is_some_and(|line| line.at == at && line.what == what) {
                    return Err(diverged(next, recorded.map(|line| &line.what), Some(&what)));
                }
                next += 1;
            }
        }
        after_step(ReplayedStep {
            first_line,
            lines: &journal[first_line..next],
            scheduler: scheduler.as_ref(),
        });
    }
    Ok(())
}

fn as_line(now: Time, output: Output) -> (Time, What) {
    match output {
        Output::Event(event) => (event.at, What::Event(event)),
        Output::Operation(operation) => (now, What::Operation(operation)),
        Output::Rejected(rejection) => (now, What::Rejection(rejection)),
    }
}

fn diverged(index: usize, recorded: Option<&What>, replayed: Option<&What>) -> Divergence {
    let text = |what: Option<&What>| what.map_or("nothing".to_owned(), |what| format!("{what:?}"));
    Divergence { line: index + 1, recorded: text(recorded), replayed: text(replayed) }
}

/// A journal to test with: two hours with crashes, deaths and a full pool.
#[cfg(test)]
pub(super) fn sample_journal() -> (Config, Vec<Line>) {
    use crate::engine::{RunOptions, run};
    use crate::workload::Source;
    use sandpool_core::Span;

    let text = "
        duration = \"2h\"
        [server]
        max_sandboxes = 3
        max_sandboxes_per_account = 2
        idle_seconds = 120
        [workload]
        think_seconds = { exponential = { mean = 60 } }
        accounts = { count = 5 }
        [workload.arrivals.poisson]
        per_hour = 25
        [provider]
        deaths_per_hour = 2
        [server_crashes]
        at = [\"1h\"]
    ";
    let scenario = crate::scenario::parse("sample.toml", text).unwrap();
    let variant = &scenario.variants[0];
    let options = RunOptions {
        seed: 3,
        replication: 0,
        duration: scenario.duration,
        warm_up: Span::ZERO,
        bin: None,
        check_invariants: false,
        journal: true,
        wind_down: true,
    };
    let source = Source::new(&variant.workload, 3, 0, scenario.duration);
    (variant.server.clone(), run(variant, source, &options).journal.unwrap())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_journal_rebuilds_the_state() {
        let (config, journal) = sample_journal();
        let mut instances = 0;
        let mut lines = 0;
        replay(&config, &journal, |step| {
            instances += usize::from(matches!(step.lines[0].what, What::Instance(_)));
            lines += step.lines.len();
            if let Some(scheduler) = step.scheduler {
                scheduler.invariants().unwrap();
            }
        })
        .unwrap();
        assert_eq!((instances, lines), (2, journal.len()));
    }

    #[test]
    fn a_line_that_is_missing_or_changed_is_found() {
        let (config, journal) = sample_journal();
        let is_event = |line: &Line| matches!(line.what, What::Event(_));
        let index = 200 + journal[200..].iter().position(is_event).unwrap();
        let mut shorter = journal.clone();
        shorter.remove(index);
        assert_eq!(replay(&config, &shorter, |_| {}).unwrap_err().line, index + 1);
        let mut other = journal;
        if let What::Event(event) = &mut other[index].what {
            event.sequence += 1;
        }
        let error = replay(&config, &other, |_| {}).unwrap_err().to_string();
        assert!(error.starts_with(&format!("line {} of the journal", index + 1)), "{error}");
    }

    #[test]
    fn every_line_survives_its_text() {
        let (_, journal) = sample_journal();
        for line in &journal {
            let text = serde_json::to_string(line).unwrap();
            let back: Line = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
            assert_eq!(&back, line, "{text}");
        }
    }
}
