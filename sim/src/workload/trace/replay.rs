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

#[cfg(test)]
mod tests {
    use super::super::TraceOptions;
    use super::*;
    use crate::random::Distribution;
    use crate::workload::{Source, Workload};

    fn source(text: &str, workload: &Workload) -> Source {
        let trace = Arc::new(Trace::parse(text.as_bytes(), &TraceOptions::default()).unwrap());
        let options = ReplayOptions { times: TraceTimes::Absolute, sample: 1.0 };
        Source::from_trace(trace, options, workload, 4, 0, Span::from_secs(86_400))
    }

    /// Executes of 2 s, one a turn, and 1 s of work before, between and after.
    fn plain() -> Workload {
        Workload {
            execute_seconds: Distribution::Constant(2.0),
            work_before_seconds: Distribution::Constant(1.0),
            work_between_seconds: Distribution::Constant(1.0),
            work_after_seconds: Distribution::Constant(1.0),
            executes: Distribution::Constant(2.0),
            ..Workload::single_execute(60.0, 1.0)
        }
    }

    fn seconds(span: Span) -> f64 {
        span.as_secs_f64()
    }

    /// Begin and end of each turn of a conversation for which nothing ever waits.
    fn schedule(source: &Source, number: u64, turns: u32) -> Vec<(f64, f64)> {
        let mut now = Span::ZERO;
        (1..=turns)
            .map(|turn| {
                let plan = source.turn_plan(number, turn);
                let begin = now;
                now = now.plus(plan.work_before).plus(plan.work_after);
                for execute in 1..=plan.executes {
                    let execute = source.execute_plan(number, turn, execute);
                    now = now.plus(execute.work_between).plus(execute.runs_for);
                }
                let end = now;
                now = now.plus(plan.think_after);
                (seconds(begin), seconds(end))
            })
            .collect()
    }

    #[test]
    fn without_think_times_turns_begin_when_they_were_recorded() {
        let text = "conversation,turn,arrival_s\n1,1,100\n1,2,120\n1,3,123\n1,4,200\n";
        // A turn takes 1 + 2 + 1 + 2 + 1 = 7 s, so the third begins late and the fourth does not.
        let found = schedule(&source(text, &plain()), 1, 4);
        assert_eq!(found, [(0.0, 7.0), (20.0, 27.0), (27.0, 34.0), (104.0, 111.0)]);
    }

    #[test]
    fn recorded_think_times_count_from_the_end_of_the_turn_before() {
        let text = "conversation,turn,arrival_s,think_s\n1,1,0,99\n1,2,50,8\n1,3,60,\n";
        let found = schedule(&source(text, &plain()), 1, 3);
        assert_eq!(found, [(0.0, 7.0), (15.0, 22.0), (25.0, 32.0)]);
        assert_eq!(source(text, &plain()).turn_plan(1, 3).think_after, Span::ZERO);
    }

    #[test]
    fn agent_work_is_spread_before_between_and_after_the_executes() {
        let text = "conversation,turn,arrival_s,steps,exec_s,work_s,llm_s\n\
                    1,1,0,3,0.5,,12\n1,2,100,3,,6,12\n1,3,200,0,,,12\n1,4,300,0,,5,12\n\
                    1,5,400,1,,20,12\n1,6,500,2,,4,\n";
        let source = source(text, &plain());
        let work = |turn| {
            let plan = source.turn_plan(1, turn);
            let between = source.execute_plan(1, turn, 2).work_between;
            (seconds(plan.work_before), seconds(between), seconds(plan.work_after))
        };
        assert_eq!(work(1), (3.0, 3.0, 3.0));
        assert_eq!(work(2), (6.0, 2.0, 2.0));
        let quiet = source.turn_plan(1, 3);
        assert!(!quiet.needs_code);
        assert_eq!((seconds(quiet.work_before), seconds(quiet.work_after)), (12.0, 0.0));
        let quiet = source.turn_plan(1, 4);
        assert_eq!((seconds(quiet.work_before), seconds(quiet.work_after)), (5.0, 7.0));
        // More work before the first execute than in the whole turn: nothing is left for after.
        assert_eq!(seconds(source.turn_plan(1, 5).work_after), 0.0);
        // Without a total, what is not recorded is drawn.
        assert_eq!(work(6), (4.0, 1.0, 1.0));
        assert_eq!(seconds(source.execute_plan(1, 1, 1).runs_for), 0.5);
        assert_eq!(seconds(source.execute_plan(1, 2, 1).runs_for), 2.0);
    }

    #[test]
    fn time_in_tools_bounds_the_executes_and_the_rest_is_a_pause() {
        let header = "conversation,turn,arrival_s,llm_s,tool_gap_s,tool_steps,exec_s\n";
        let rows =
            "1,1,0,8,30,3,\n1,2,100,8,3,3,\n1,3,200,8,30,3,4\n1,4,300,8,30,0,\n1,5,400,0,0,0,\n";
        let source = source(&format!("{header}{rows}"), &plain());
        let turn = |turn| {
            let plan = source.turn_plan(1, turn);
            let execute = source.execute_plan(1, turn, 2);
            let work = (seconds(plan.work_before), seconds(plan.work_after));
            (work, seconds(execute.work_between), seconds(execute.runs_for))
        };
        // 10 s a tool step, of which the execute takes 2 and a pause behind it 8.
        assert_eq!(turn(1), ((2.0, 10.0), 10.0, 2.0));
        // 1 s a tool step: the execute is cut to that.
        assert_eq!(turn(2), ((2.0, 2.0), 2.0, 1.0));
        // A recorded length is kept.
        assert_eq!(turn(3), ((2.0, 8.0), 8.0, 4.0));
        // Whatever was drawn, a turn lasts for its recorded work and time in tools.
        let lengths: Vec<f64> =
            schedule(&source, 1, 5).into_iter().map(|(begin, end)| end - begin).collect();
        assert_eq!(lengths, [38.0, 11.0, 38.0, 8.0, 0.0]);
        // And so every turn begins when it was recorded.
        let begins: Vec<f64> = schedule(&source, 1, 5).into_iter().map(|(b, _)| b).collect();
        assert_eq!(begins, [0.0, 100.0, 200.0, 300.0, 400.0]);
    }

    #[test]
    fn what_was_not_recorded_is_drawn_by_conversation_and_turn() {
        let mut workload = plain();
        workload.needs_code = 0.5;
        workload.hint_quality = Some(1.0);
        workload.execute_seconds = Distribution::Exponential { mean: 10.0 };
        let rows: String = (1..=400).map(|n| format!("{n},1,{n}\n")).collect();
        let source = source(&format!("conversation,turn,arrival_s\n{rows}"), &workload);
        let plans: Vec<TurnPlan> = (1..=400).map(|n| source.turn_plan(n, 1)).collect();
        let with_code = plans.iter().filter(|plan| plan.needs_code).count();
        // 200 expected with a standard deviation of 10.
        assert!((160..=240).contains(&with_code), "seed 4: {with_code} of 400 run code");
        for plan in &plans {
            assert_eq!(plan.executes, if plan.needs_code { 2 } else { 0 });
            assert_eq!(plan.likely_percent, Some(if plan.needs_code { 100 } else { 0 }));
        }
        assert_ne!(source.execute_plan(1, 1, 1), source.execute_plan(2, 1, 1));
    }

    #[test]
    fn turns_that_do_not_exist_have_empty_plans() {
        let source = source("conversation,turn,arrival_s\n1,1,0\n", &plain());
        assert_eq!(source.turn_plan(1, 0), TurnPlan::default());
        assert_eq!(source.turn_plan(1, 2), TurnPlan::default());
        assert_eq!(source.execute_plan(1, 2, 1), ExecutePlan::default());
    }
}
