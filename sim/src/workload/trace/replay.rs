//! Playing a trace back: the plans of its conversations.

use super::super::drawn::Drawn;
use super::super::plan::{Conversation, ExecutePlan, TurnPlan};
use super::table::{Recorded, RecordedTurn, Trace};
use crate::random::{Permutation, Purpose, StreamFamily};
use sandpool_core::{AccountId, Span, Time};
use std::sync::Arc;

/// What a trace's `arrival_s` counts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TraceTimes {
    /// Each conversation's own start; the starts are drawn from `[workload]` arrivals.
    #[default]
    Relative,
    /// The start of the trace, which is the start of the run.
    Absolute,
}

/// How to play a trace back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplayOptions {
    /// What `arrival_s` counts from.
    pub times: TraceTimes,
    /// Share of the conversations that is played, 0 to 1, chosen by chance in each replication.
    pub sample: f64,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        Self { times: TraceTimes::default(), sample: 1.0 }
    }
}

/// A trace as one replication plays it.
#[derive(Clone, Debug)]
pub(crate) struct Replay {
    trace: Arc<Trace>,
    times: TraceTimes,
    /// The conversations that are played: in order of their starts when those are recorded, else
    /// in the trace's order.
    kept: Vec<u32>,
    order: Permutation,
    order_family: StreamFamily,
}

impl Replay {
    pub(crate) fn new(
        trace: Arc<Trace>,
        options: ReplayOptions,
        seed: u64,
        replication: u32,
    ) -> Self {
        let sample = StreamFamily::new(seed, replication, Purpose::TraceSample);
        let all = 0..trace.conversations.len() as u32;
        let mut kept: Vec<u32> =
            all.filter(|&c| sample.entity(u64::from(c)).chance(options.sample)).collect();
        if options.times == TraceTimes::Absolute {
            kept.sort_by_key(|&c| trace.conversations[c as usize].starts_after);
        }
        Self {
            trace,
            times: options.times,
            order: Permutation::new(kept.len() as u32),
            kept,
            order_family: StreamFamily::new(seed, replication, Purpose::TraceStart),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    pub(crate) fn has_start_times(&self) -> bool {
        self.times == TraceTimes::Absolute
    }

    pub(crate) fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The recorded start of conversation `number`, if the trace has so many.
    pub(crate) fn starts_at(&self, number: u64) -> Option<Time> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        let conversation = *self.kept.get(index)?;
        Some(Time::ZERO.plus(self.trace.conversations[conversation as usize].starts_after))
    }

    /// The name in the trace of conversation `number`.
    pub(crate) fn name(&self, number: u64) -> &str {
        &self.recorded(number).name
    }

    pub(crate) fn conversation(&self, drawn: &Drawn, number: u64, starts_at: Time) -> Conversation {
        let recorded = self.recorded(number);
        Conversation {
            number,
            starts_at,
            account: recorded.account.map_or_else(|| drawn.account(number), AccountId),
            class: recorded.class.unwrap_or_else(|| drawn.class(number)),
            turns: recorded.turn_count,
        }
    }

    pub(crate) fn turn_plan(&self, drawn: &Drawn, number: u64, turn: u32) -> TurnPlan {
        let turns = self.turns(number);
        let Some(index) = usize::try_from(turn).ok().and_then(|turn| turn.checked_sub(1)) else {
            return TurnPlan::default();
        };
        let Some(recorded) = turns.get(index) else { return TurnPlan::default() };
        let details = Details::new(recorded, drawn, number, turn);
        let needs_code = details.executes > 0;
        let work_before = details.work_before();
        let work_after = details.work_after();
        let think_after = match turns.get(index + 1) {
            None => Span::ZERO,
            Some(next) => next.think.unwrap_or_else(|| {
                let length = (1..=details.executes).fold(work_before.plus(work_after), |sum, e| {
                    sum.plus(details.work_between(e)).plus(details.runs_for(e))
                });
                next.since_start.minus(recorded.since_start).minus(length)
            }),
        };
        TurnPlan {
            needs_code,
            likely_percent: drawn.likely_percent(number, turn, needs_code),
            executes: details.executes,
            work_before,
            work_after,
            think_after,
        }
    }

    pub(crate) fn execute_plan(
        &self,
        drawn: &Drawn,
        number: u64,
        turn: u32,
        execute: u32,
    ) -> ExecutePlan {
        let index = (turn as usize).wrapping_sub(1);
        let Some(recorded) = self.turns(number).get(index) else { return ExecutePlan::default() };
        let details = Details::new(recorded, drawn, number, turn);
        ExecutePlan {
            work_between: details.work_between(execute),
            runs_for: details.runs_for(execute),
            patience: drawn.patience(number, turn, execute),
        }
    }

    /// The recorded conversation that conversation `number` of the run plays. With drawn starts
    /// each pass through the trace has a random order of its own.
    fn recorded(&self, number: u64) -> &Recorded {
        let place = number.saturating_sub(1);
        let length = self.kept.len() as u64;
        let (pass, place) = (place / length, (place % length) as u32);
        let index = match self.times {
            TraceTimes::Absolute => place,
            TraceTimes::Relative => self.order.at(&self.order_family, pass, place),
        };
        &self.trace.conversations[self.kept[index as usize] as usize]
    }

    fn turns(&self, number: u64) -> &[RecordedTurn] {
        let recorded = self.recorded(number);
        &self.trace.turns[recorded.first_turn..recorded.first_turn + recorded.turn_count as usize]
    }
}

/// One recorded turn, with what is drawn for it.
struct Details<'a> {
    recorded: &'a RecordedTurn,
    drawn: &'a Drawn,
    number: u64,
    turn: u32,
    executes: u32,
    /// One even part of the recorded agent work: between two executes, and after the last one.
    work_part: Option<Span>,
    /// One even part of the time in tools.
    tool_part: Option<Span>,
}

impl<'a> Details<'a> {
    fn new(recorded: &'a RecordedTurn, drawn: &'a Drawn, number: u64, turn: u32) -> Self {
        let executes = recorded.executes.unwrap_or_else(|| drawn.executes(number, turn));
        let count = u64::from(executes);
        // Where the work before the first execute is known, the rest is spread over the pauses
        // behind each execute; else it is spread over those and the time before.
        let work_part = recorded.agent_work.map(|total| match recorded.work_before {
            Some(before) => part(total.minus(before), count.max(1)),
            None => part(total, count + 1),
        });
        let tool_part = recorded.tool_time.filter(|_| count > 0).map(|total| part(total, count));
        Self { recorded, drawn, number, turn, executes, work_part, tool_part }
    }

    fn work_before(&self) -> Span {
        self.recorded
            .work_before
            .or(self.work_part)
            .unwrap_or_else(|| self.drawn.work_before(self.number, self.turn))
    }

    fn work_between(&self, execute: u32) -> Span {
        if execute <= 1 {
            return Span::ZERO;
        }
        self.work_part
            .unwrap_or_else(|| self.drawn.work_between(self.number, self.turn, execute))
            .plus(self.pause_behind(execute - 1))
    }

    fn work_after(&self) -> Span {
        let work = match self.work_part {
            // All of the work of a turn without code was before its (missing) first execute.
            Some(_) if self.executes == 0 && self.recorded.work_before.is_none() => Span::ZERO,
            Some(part) => part,
            None => self.drawn.work_after(self.number, self.turn),
        };
        if self.executes == 0 { work } else { work.plus(self.pause_behind(self.executes)) }
    }

    fn runs_for(&self, execute: u32) -> Span {
        self.recorded.runs_for.unwrap_or_else(|| {
            let drawn = self.drawn.runs_for(self.number, self.turn, execute);
            // Tools cannot have run for longer than the time that passed in them.
            self.tool_part.map_or(drawn, |most| drawn.min(most))
        })
    }

    /// The time in tools that the execute does not account for: waits for permission and the like.
    /// The sandbox is idle meanwhile, and the turn goes on.
    fn pause_behind(&self, execute: u32) -> Span {
        self.tool_part.map_or(Span::ZERO, |part| part.minus(self.runs_for(execute)))
    }
}

/// One of `count` even parts.
fn part(total: Span, count: u64) -> Span {
    Span::from_nanos(total.as_nanos() / count)
}
