//! What can be wrong with a trace.

use std::fmt;

/// Most mistakes that are listed; a file with the wrong separator has one in every row.
pub(super) const MOST_LISTED: usize = 20;

/// Every mistake found in a trace, in order of lines, up to 20.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct TraceErrors {
    /// The first 20.
    pub mistakes: Vec<TraceMistake>,
    /// How many more there are.
    pub more: usize,
}

impl TraceErrors {
    pub(super) fn new(mut mistakes: Vec<TraceMistake>) -> Self {
        mistakes.sort_by_key(|mistake| mistake.line);
        let more = mistakes.len().saturating_sub(MOST_LISTED);
        mistakes.truncate(MOST_LISTED);
        Self { mistakes, more }
    }

    pub(super) fn one(line: Option<u64>, problem: TraceProblem) -> Self {
        Self::new(vec![TraceMistake { line, problem }])
    }
}

impl fmt::Display for TraceErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.mistakes.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{mistake}")?;
        }
        if self.more > 0 {
            write!(f, "\nand {} more", self.more)?;
        }
        Ok(())
    }
}

/// One mistake and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceMistake {
    /// The line, counting from 1; `None` where the whole file is meant.
    pub line: Option<u64>,
    /// What is wrong.
    pub problem: TraceProblem,
}

impl fmt::Display for TraceMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{}", self.problem)?;
        match self.problem.hint() {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TraceProblem {
    /// The file cannot be read.
    #[error("cannot read the trace: {0}")]
    Unreadable(String),
    /// There is nothing in it.
    #[error("the trace is empty")]
    Empty,
    /// There is nothing but the header.
    #[error("the trace has a header and no rows")]
    NoRows,
    /// Conflicting conversations were to be left out, and none remained.
    #[error("every conversation of the trace contradicts itself and was left out")]
    NothingLeft,
    /// Required columns are missing from the header.
    #[error("the header lacks {}", .missing.join(", "))]
    MissingColumns {
        /// Their names.
        missing: Vec<&'static str>,
        /// Whether the header seems to use another separator.
        other_separator: bool,
    },
    /// A known column is there twice.
    #[error("the header names column {0} twice")]
    RepeatedColumn(&'static str),
    /// A row has too few or too many fields.
    #[error("{found} fields where the header has {expected}")]
    FieldCount {
        /// In this row.
        found: usize,
        /// In the header.
        expected: usize,
    },
    /// A row is not text.
    #[error("not UTF-8 text")]
    NotUtf8,
    /// A field that must be filled in is empty.
    #[error("{column} is empty")]
    EmptyField {
        /// The column.
        column: &'static str,
    },
    /// A field is not a number.
    #[error("{column} is {text:?}, not a number")]
    NotANumber {
        /// The column.
        column: &'static str,
        /// What is there.
        text: String,
    },
    /// A field is not a number that can be used.
    #[error("{column} is {text}, not {range}")]
    OutOfRange {
        /// The column.
        column: &'static str,
        /// What is there.
        text: String,
        /// The range, in words.
        range: &'static str,
    },
    /// A class that the scenario does not have.
    #[error("class {class:?} is not one of the scenario's: {}", .known.join(", "))]
    UnknownClass {
        /// What is there.
        class: String,
        /// The scenario's classes.
        known: Vec<String>,
    },
    /// Two rows for the same turn.
    #[error("turn {turn} of conversation {conversation} was on line {earlier_line} already")]
    RepeatedTurn {
        /// The conversation.
        conversation: String,
        /// The turn.
        turn: u32,
        /// The first row.
        earlier_line: u64,
    },
    /// A turn that arrives before one with a lower number.
    #[error(
        "turn {turn} of conversation {conversation} arrives before turn {earlier_turn} on line \
         {earlier_line}"
    )]
    ArrivesTooEarly {
        /// The conversation.
        conversation: String,
        /// The turn.
        turn: u32,
        /// The turn with the lower number.
        earlier_turn: u32,
        /// Its row.
        earlier_line: u64,
    },
    /// A conversation that changes its account or class.
    #[error("{column} of conversation {conversation} differs from line {earlier_line}")]
    Changes {
        /// `account` or `class`.
        column: &'static str,
        /// The conversation.
        conversation: String,
        /// A row that says something else.
        earlier_line: u64,
    },
}

impl TraceProblem {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            TraceProblem::Empty | TraceProblem::NoRows => {
                Some("one row a turn, with at least conversation, turn and arrival_s")
            }
            TraceProblem::MissingColumns { other_separator: true, .. } => {
                Some("columns are separated by commas")
            }
            TraceProblem::MissingColumns { .. } => Some(
                "the first line names the columns; conversation, turn and arrival_s must be there",
            ),
            TraceProblem::EmptyField { column: "account" } => {
                Some("fill in every account, or leave the column out to draw them all")
            }
            TraceProblem::RepeatedTurn { .. } | TraceProblem::ArrivesTooEarly { .. } => Some(
                "number the turns of a conversation in order of arrival, or leave such \
                 conversations out",
            ),
            TraceProblem::Changes { .. } => {
                Some("a conversation belongs to one account and uses one class")
            }
            TraceProblem::OutOfRange { column: "arrival_s", .. } => {
                Some("seconds from the start of the trace or of the conversation")
            }
            _ => None,
        }
    }
}
