//! How a command can fail, and what the process then says and returns.

use sandpool_sim::{
    Divergence, ExperimentError, FolderError, ResultFilesError, ScenarioErrors, TraceErrors,
    render_mistakes,
};
use std::io::{self, IsTerminal};
use std::path::PathBuf;

/// Columns of drawn mistakes.
const WIDTH: usize = 100;

/// Why a command did not end well.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Files cannot be read or have mistakes.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Input(Vec<InputProblem>),
    /// The arguments do not go together or name what is not there.
    #[error("{0}")]
    Usage(String),
    /// Results are outside the ranges that scenarios expect. Each has been told.
    #[error("{count} expected {} missed", if *count == 1 { "range was" } else { "ranges were" })]
    Missed {
        /// How many.
        count: usize,
    },
    /// The scheduler broke an invariant, or its journal does not rebuild its state.
    #[error("{0}\n  hint: this is a bug of the scheduler; the seed and replication reproduce it")]
    Broken(String),
    /// A result folder cannot be written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The files of a result folder cannot be made.
    #[error(transparent)]
    Files(#[from] ResultFilesError),
    /// Standard output cannot be written to.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
    /// Something was turned into JSON that JSON cannot hold.
    #[error("cannot write as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The machine refuses something.
    #[error("{0}")]
    Machine(String),
}

/// What is wrong with one file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InputProblem {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A scenario file has mistakes.
    #[error(transparent)]
    Scenario(#[from] ScenarioErrors),
    /// A trace has mistakes.
    #[error("{}: {}", path.display(), errors.to_string().replace('\n', &format!("\n{}: ", path.display())))]
    Trace {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        errors: TraceErrors,
    },
}

impl From<ExperimentError> for Failure {
    fn from(error: ExperimentError) -> Self {
        let text = error.to_string();
        match error {
            ExperimentError::Broken { .. } => Failure::Broken(text),
            ExperimentError::Stopping(_) => Failure::Usage(text),
            ExperimentError::Threads(_) => Failure::Machine(text),
        }
    }
}

impl From<Divergence> for Failure {
    fn from(divergence: Divergence) -> Self {
        Failure::Broken(divergence.to_string())
    }
}

impl Failure {
    /// The process's exit code, as documented in the help.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Failure::Missed { .. } | Failure::Broken(_) => 1,
            Failure::Input(_) | Failure::Usage(_) => 2,
            // Whoever reads has seen enough: `sandpool-sim events .. | head`.
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Failure::Json(error) if error.io_error_kind() == Some(io::ErrorKind::BrokenPipe) => 0,
            _ => 3,
        }
    }

    /// Says on standard error what went wrong.
    pub(crate) fn tell(&self) {
        if self.exit_code() == 0 {
            return;
        }
        match self {
            Failure::Input(problems) => problems.iter().for_each(tell_problem),
            other => eprintln!("error: {other}"),
        }
    }
}

fn tell_problem(problem: &InputProblem) {
    match problem {
        InputProblem::Scenario(errors) => {
            eprint!("{}", render_mistakes(errors, draws_in_colour(), WIDTH));
        }
        InputProblem::Trace { .. } => eprintln!("{problem}"),
        InputProblem::Unreadable { .. } => eprintln!("error: {problem}"),
    }
}

/// Whether standard error is a terminal whose user has not declined colours (no-color.org).
fn draws_in_colour() -> bool {
    let declined = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    io::stderr().is_terminal() && !declined
}
