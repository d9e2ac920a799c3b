//! A trace in memory.

use sandpool_core::{ClassId, Span};
use std::fmt;

/// A recorded trace, checked: conversations in order of the file, turns in order of their numbers.
/// Made by [`Trace::load`] or [`Trace::parse`].
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    pub(super) conversations: Vec<Recorded>,
    pub(super) turns: Vec<RecordedTurn>,
    pub(super) accounts: Vec<String>,
    pub(super) drawn_columns: Vec<DrawnColumn>,
    pub(super) left_out: usize,
}

/// One conversation of a trace.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Recorded {
    pub(super) name: String,
    /// From the trace's origin to its first turn.
    pub(super) starts_after: Span,
    /// Where its turns begin in [`Trace::turns`].
    pub(super) first_turn: usize,
    /// How many they are, at least 1.
    pub(super) turn_count: u32,
    /// Index into [`Trace::accounts`].
    pub(super) account: Option<u32>,
    pub(super) class: Option<ClassId>,
}

/// One turn of a trace: what its row tells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RecordedTurn {
    /// From the conversation's first turn to this one.
    pub(super) since_start: Span,
    /// From the end of the turn before to this one.
    pub(super) think: Option<Span>,
    pub(super) executes: Option<u32>,
    /// How long each execute runs.
    pub(super) runs_for: Option<Span>,
    /// Agent work before the first execute.
    pub(super) work_before: Option<Span>,
    /// Agent work of the whole turn.
    pub(super) agent_work: Option<Span>,
    /// Time that passed in tools in the whole turn, waits for permission included.
    pub(super) tool_time: Option<Span>,
}

/// Something that a trace does not tell, or not in every row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnColumn {
    /// The column that would tell.
    pub column: &'static str,
    /// In how many rows it is missing.
    pub rows: usize,
    /// How many rows the trace has.
    pub of: usize,
    /// What stands in for it: keys of the `[workload]` table, or a rule.
    pub instead: &'static str,
}

impl fmt::Display for DrawnColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows == self.of {
            write!(f, "{}: {}", self.column, self.instead)
        } else {
            write!(f, "{} in {} of {} rows: {}", self.column, self.rows, self.of, self.instead)
        }
    }
}

impl Trace {
    /// Number of conversations, at least 1.
    #[must_use]
    pub fn conversation_count(&self) -> usize {
        self.conversations.len()
    }

    /// Number of turns, which is the number of rows used.
    #[must_use]
    pub fn turn_count(&self) -> usize {
        self.turns.len()
    }

    /// The names of the accounts, by [`sandpool_core::AccountId`]; empty when the trace has no
    /// such column.
    #[must_use]
    pub fn accounts(&self) -> &[String] {
        &self.accounts
    }

    /// What the trace does not tell and the replay therefore takes from elsewhere, for the report.
    #[must_use]
    pub fn drawn_columns(&self) -> &[DrawnColumn] {
        &self.drawn_columns
    }

    /// Conversations that were left out because their turns contradict each other
    /// ([`super::TraceOptions::leave_out_conflicts`]).
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// From the trace's origin to its last arrival.
    #[must_use]
    pub fn last_arrival(&self) -> Span {
        let last = |c: &Recorded| {
            let turns = &self.turns[c.first_turn..c.first_turn + c.turn_count as usize];
            turns.last().map_or(c.starts_after, |turn| c.starts_after.plus(turn.since_start))
        };
        self.conversations.iter().map(last).max().unwrap_or(Span::ZERO)
    }

    /// Whether times seem to count from each conversation's own start: there are several
    /// conversations and all of them start at zero. Such a trace wants
    /// [`super::TraceTimes::Relative`].
    #[must_use]
    pub fn starts_at_zero_throughout(&self) -> bool {
        self.conversations.len() > 1
            && self.conversations.iter().all(|c| c.starts_after == Span::ZERO)
    }
}
