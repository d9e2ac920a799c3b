//! The traffic of one replication: conversations in order of arrival, their details on demand.

use super::arrivals::ArrivalTimes;
use super::drawn::Drawn;
use super::model::Workload;
use super::plan::{Conversation, ExecutePlan, TurnPlan};
use super::trace::{Replay, ReplayOptions, Trace};
use sandpool_core::{Span, Time};
use std::sync::Arc;

/// Streams the conversations of one replication in order of arrival (it is an [`Iterator`]) and
/// tells the details of each when asked.
///
/// Every detail is a pure function of the seed, the replication and the numbers of conversation,
/// turn and execute: two policies see the same traffic whatever the order in which they ask, and
/// nothing is kept for conversations that are under way. Turns and executes count from 1.
#[derive(Clone, Debug)]
pub struct Source {
    starts: Starts,
    drawn: Drawn,
    replay: Option<Box<Replay>>,
    ends_at: Time,
    next_number: u64,
    max_conversations: u64,
}

/// Where the start times come from.
#[derive(Clone, Debug)]
enum Starts {
    Drawn(ArrivalTimes),
    Recorded,
}

impl Source {
    /// The traffic that `workload` describes, with conversations that start before `duration` is
    /// over.
    ///
    /// # Panics
    /// When the weights of accounts or classes cannot be used; [`Workload::validate`] tells.
    #[must_use]
    pub fn new(workload: &Workload, seed: u64, replication: u32, duration: Span) -> Self {
        Self {
            starts: Starts::Drawn(ArrivalTimes::new(&workload.arrivals, seed, replication)),
            drawn: Drawn::new(workload, seed, replication),
            replay: None,
            ends_at: Time::ZERO.plus(duration),
            next_number: 1,
            max_conversations: workload.max_conversations,
        }
    }

    /// The traffic of a recorded trace. What the trace does not tell
    /// ([`Trace::drawn_columns`]) comes from `workload`.
    ///
    /// With [`super::TraceTimes::Relative`] conversations start as `workload.arrivals` says, and
    /// the trace is gone through again and again until `duration` is over, each time in another
    /// random order and without repeating a conversation. With [`super::TraceTimes::Absolute`]
    /// each conversation starts once, when the trace says.
    ///
    /// # Panics
    /// When the weights of accounts or classes cannot be used; [`Workload::validate`] tells.
    #[must_use]
    pub fn from_trace(
        trace: Arc<Trace>,
        options: ReplayOptions,
        workload: &Workload,
        seed: u64,
        replication: u32,
        duration: Span,
    ) -> Self {
        let mut source = Self::new(workload, seed, replication, duration);
        let replay = Replay::new(trace, options, seed, replication);
        if replay.is_empty() {
            source.max_conversations = 0;
        }
        if replay.has_start_times() {
            source.starts = Starts::Recorded;
        }
        source.replay = Some(Box::new(replay));
        source
    }

    /// How many accounts there can be: their ids are below this number.
    #[must_use]
    pub fn account_count(&self) -> usize {
        let recorded = self.replay.as_ref().map_or(0, |replay| replay.trace().accounts().len());
        if recorded > 0 { recorded } else { self.drawn.account_count() }
    }

    /// The conversation's name in the trace, where there is one.
    #[must_use]
    pub fn trace_name(&self, number: u64) -> Option<&str> {
        self.replay.as_ref().map(|replay| replay.name(number))
    }

    /// What a turn is like. `turn` counts from 1; one that the conversation does not have gets a
    /// plan that means nothing.
    #[inline]
    #[must_use]
    pub fn turn_plan(&self, number: u64, turn: u32) -> TurnPlan {
        if let Some(replay) = &self.replay {
            return replay.turn_plan(&self.drawn, number, turn);
        }
        let executes = self.drawn.executes(number, turn);
        let needs_code = executes > 0;
        TurnPlan {
            needs_code,
            likely_percent: self.drawn.likely_percent(number, turn, needs_code),
            executes,
            work_before: self.drawn.work_before(number, turn),
            work_after: self.drawn.work_after(number, turn),
            think_after: self.drawn.think(number, turn),
        }
    }

    /// What an execute is like. `execute` counts from 1 within the turn.
    #[inline]
    #[must_use]
    pub fn execute_plan(&self, number: u64, turn: u32, execute: u32) -> ExecutePlan {
        if let Some(replay) = &self.replay {
            return replay.execute_plan(&self.drawn, number, turn, execute);
        }
        ExecutePlan {
            work_between: self.drawn.work_between(number, turn, execute),
            runs_for: self.drawn.runs_for(number, turn, execute),
            patience: self.drawn.patience(number, turn, execute),
        }
    }

    /// After a refusal: the pause before new attempt number `retry` (1 to 10) of an execute, or
    /// `None` when the agent gives up.
    #[must_use]
    pub fn retry_pause(&self, number: u64, turn: u32, execute: u32, retry: u32) -> Option<Span> {
        self.drawn.retry(number, turn, execute, retry)
    }

    /// From the end of a conversation's last turn to its closing.
    #[must_use]
    pub fn close_after(&self, number: u64) -> Span {
        self.drawn.close_after(number)
    }
}

impl Iterator for Source {
    type Item = Conversation;

    #[inline]
    fn next(&mut self) -> Option<Conversation> {
        let number = self.next_number;
        if number > self.max_conversations {
            return None;
        }
        let starts_at = match (&mut self.starts, &self.replay) {
            (Starts::Drawn(times), _) => times.next(),
            (Starts::Recorded, replay) => replay.as_ref().and_then(|r| r.starts_at(number)),
        };
        let Some(starts_at) = starts_at.filter(|&at| at < self.ends_at) else {
            self.max_conversations = 0;
            return None;
        };
        self.next_number += 1;
        Some(match &self.replay {
            Some(replay) => replay.conversation(&self.drawn, number, starts_at),
            None => Conversation {
                number,
                starts_at,
                account: self.drawn.account(number),
                class: self.drawn.class(number),
                turns: self.drawn.turns(number),
            },
        })
    }
}
