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

#[cfg(test)]
mod tests {
    use super::super::model::{Accounts, Arrivals};
    use super::super::trace::{TraceOptions, TraceTimes};
    use super::*;
    use crate::random::Distribution;
    use sandpool_core::ClassId;

    /// Everything drawn, nothing constant.
    fn varied() -> Workload {
        let exponential = |mean| Distribution::Exponential { mean };
        Workload {
            accounts: Accounts::zipf(20, 1.1),
            turns: Distribution::Geometric { mean: 5.5 },
            think_seconds: Distribution::Weibull { shape: 0.62, scale: 290.0 },
            needs_code: 0.8,
            hint_quality: Some(0.5),
            executes: Distribution::Geometric { mean: 4.0 },
            work_before_seconds: Distribution::LogNormal { mu: 1.93, sigma: 0.677 },
            work_between_seconds: Distribution::LogNormal { mu: 1.93, sigma: 0.677 },
            work_after_seconds: exponential(3.0),
            classes: vec![(ClassId(0), 0.9), (ClassId(1), 0.1)],
            patience_seconds: Some(exponential(30.0)),
            retry_after_refusal: 0.5,
            retry_pause_seconds: exponential(20.0),
            close_after_seconds: exponential(3600.0),
            ..Workload::single_execute(120.0, 2.0)
        }
    }

    fn source(workload: &Workload, replication: u32) -> Source {
        Source::new(workload, 5, replication, Span::from_secs(24 * 3600))
    }

    #[test]
    fn plans_do_not_depend_on_the_order_of_calls() {
        let (mut ahead, mut behind) = (source(&varied(), 0), source(&varied(), 0));
        let all: Vec<Conversation> = ahead.by_ref().collect();
        assert!(all.len() > 2000 && all.iter().any(|c| c.turns > 10));
        // One asks as it goes, the other for everything backwards at the end.
        let forwards: Vec<_> = all
            .iter()
            .map(|&expected| {
                assert_eq!(behind.next(), Some(expected));
                details(&behind, expected)
            })
            .collect();
        let mut backwards: Vec<_> = all.iter().rev().map(|&c| details(&ahead, c)).collect();
        backwards.reverse();
        assert_eq!(forwards, backwards);
        assert_eq!(behind.next(), None);
        assert_eq!(behind.next(), None);
    }

    type Details = (Vec<TurnPlan>, Vec<ExecutePlan>, Vec<Option<Span>>, Span);

    fn details(source: &Source, conversation: Conversation) -> Details {
        let number = conversation.number;
        let turns: Vec<TurnPlan> =
            (1..=conversation.turns).map(|turn| source.turn_plan(number, turn)).collect();
        let executes = (1u32..)
            .zip(&turns)
            .flat_map(|(turn, plan)| {
                (1..=plan.executes).map(move |e| source.execute_plan(number, turn, e))
            })
            .collect();
        let retries = (1..=11).map(|retry| source.retry_pause(number, 1, 1, retry)).collect();
        (turns, executes, retries, source.close_after(number))
    }

    #[test]
    fn changing_one_key_leaves_everything_else_as_it_was() {
        let mut changed = varied();
        changed.execute_seconds = Distribution::LogNormal { mu: 0.0, sigma: 1.0 };
        changed.think_seconds = Distribution::Constant(1.0);
        changed.patience_seconds = None;
        let (before, after) = (source(&varied(), 0), source(&changed, 0));
        assert!(source(&varied(), 0).eq(source(&changed, 0)));
        for number in 1..200 {
            let (mut plan, other) = (before.turn_plan(number, 2), after.turn_plan(number, 2));
            plan.think_after = other.think_after;
            assert_eq!(plan, other);
            let (mut plan, other) =
                (before.execute_plan(number, 2, 2), after.execute_plan(number, 2, 2));
            (plan.runs_for, plan.patience) = (other.runs_for, None);
            assert_eq!(plan, other);
        }
    }

    #[test]
    fn replications_differ() {
        assert!(!source(&varied(), 0).take(50).eq(source(&varied(), 1).take(50)));
        assert_ne!(source(&varied(), 0).turn_plan(1, 1), source(&varied(), 1).turn_plan(1, 1));
    }

    #[test]
    fn plans_follow_their_distributions() {
        let workload = varied();
        let conversations: Vec<Conversation> = source(&workload, 2).collect();
        let source = source(&workload, 2);
        let check = |what: &str, values: &[f64], expected: f64| {
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
            let error = (variance / n).sqrt();
            let off = mean - expected;
            assert!(off.abs() < 4.0 * error, "seed 5, {what}: {mean}, expected {expected}");
        };
        let turns: Vec<f64> = conversations.iter().map(|c| f64::from(c.turns)).collect();
        check("turns", &turns, 5.5);
        let large: Vec<f64> = conversations.iter().map(|c| f64::from(c.class.0)).collect();
        check("class", &large, 0.1);
        let first = workload.accounts.weights[0] / workload.accounts.weights.iter().sum::<f64>();
        let of_first: Vec<f64> =
            conversations.iter().map(|c| f64::from(u8::from(c.account.0 == 0))).collect();
        check("account", &of_first, first);
        let plans: Vec<TurnPlan> = conversations
            .iter()
            .flat_map(|c| (1..=c.turns).map(|turn| source.turn_plan(c.number, turn)))
            .collect();
        let of = |value: &dyn Fn(&TurnPlan) -> f64| plans.iter().map(value).collect::<Vec<f64>>();
        check("needs code", &of(&|p| f64::from(u8::from(p.needs_code))), 0.8);
        check("executes", &of(&|p| f64::from(p.executes)), 0.8 * 4.0);
        check("hint", &of(&|p| f64::from(p.likely_percent.unwrap()) / 100.0), 0.8);
        check("before", &of(&|p| p.work_before.as_secs_f64()), workload.work_before_seconds.mean());
        check("after", &of(&|p| p.work_after.as_secs_f64()), 3.0);
        check("think", &of(&|p| p.think_after.as_secs_f64()), workload.think_seconds.mean());
        assert!(plans.iter().all(|p| p.needs_code == (p.executes > 0)));
        let executes: Vec<ExecutePlan> =
            conversations.iter().map(|c| source.execute_plan(c.number, 1, 2)).collect();
        let of =
            |value: &dyn Fn(&ExecutePlan) -> f64| executes.iter().map(value).collect::<Vec<f64>>();
        check("runs", &of(&|e| e.runs_for.as_secs_f64()), 2.0);
        check("patience", &of(&|e| e.patience.unwrap().as_secs_f64()), 30.0);
        check(
            "between",
            &of(&|e| e.work_between.as_secs_f64()),
            workload.work_between_seconds.mean(),
        );
        assert_eq!(source.execute_plan(1, 1, 1).work_between, Span::ZERO);
        let retries: Vec<f64> = conversations
            .iter()
            .map(|c| f64::from(u8::from(source.retry_pause(c.number, 1, 1, 3).is_some())))
            .collect();
        check("retries", &retries, 0.5);
        assert_eq!(source.retry_pause(1, 1, 1, 0), None);
        assert!(conversations.iter().all(|c| source.retry_pause(c.number, 1, 1, 11).is_none()));
    }

    #[test]
    fn the_end_and_the_largest_number_are_kept() {
        let mut workload = Workload::single_execute(3600.0, 1.0);
        workload.arrivals = Arrivals::At(vec![0.0, 1.0, 2.0, 2.5, 3.0]);
        let numbers = |workload: &Workload| -> Vec<u64> {
            Source::new(workload, 1, 0, Span::from_secs(3)).map(|c| c.number).collect()
        };
        assert_eq!(numbers(&workload), [1, 2, 3, 4]);
        workload.max_conversations = 2;
        assert_eq!(numbers(&workload), [1, 2]);
        workload.arrivals = Arrivals::Poisson { per_hour: 0.0 };
        assert_eq!(numbers(&workload), [] as [u64; 0]);
    }

    const TRACE: &[u8] = b"conversation,turn,arrival_s,account\n\
        a,1,10,x\na,2,50,x\nb,1,5,y\nc,1,7,x\nd,1,900,z\ne,1,8,z\n";

    fn replay(options: ReplayOptions, replication: u32, workload: &Workload) -> Source {
        let trace = Arc::new(Trace::parse(TRACE, &TraceOptions::default()).unwrap());
        Source::from_trace(trace, options, workload, 8, replication, Span::from_secs(600))
    }

    #[test]
    fn absolute_times_start_each_conversation_once_when_the_trace_says() {
        let options = ReplayOptions { times: TraceTimes::Absolute, sample: 1.0 };
        let source = replay(options, 0, &varied());
        let asked = source.clone();
        let found: Vec<(u64, &str, u64, u32)> = source
            .map(|c| {
                let name = asked.trace_name(c.number).unwrap();
                (c.starts_at.as_nanos() / 1_000_000_000, name, c.number, c.account.0)
            })
            .collect();
        // The last one starts after the run's end.
        assert_eq!(found, [(5, "b", 1, 1), (7, "c", 2, 0), (8, "e", 3, 2), (10, "a", 4, 0)]);
        assert_eq!(asked.account_count(), 3);
    }

    #[test]
    fn relative_times_go_through_the_whole_trace_again_and_again() {
        let mut workload = varied();
        workload.arrivals = Arrivals::Poisson { per_hour: 3600.0 };
        let names = |replication| -> Vec<String> {
            let source = replay(ReplayOptions::default(), replication, &workload);
            let asked = source.clone();
            source.map(|c| asked.trace_name(c.number).unwrap().to_owned()).collect()
        };
        let found = names(0);
        assert!(found.len() > 400, "{} conversations in 600 s", found.len());
        for pass in found.chunks_exact(5) {
            let mut pass = pass.to_vec();
            pass.sort();
            assert_eq!(pass, ["a", "b", "c", "d", "e"]);
        }
        let passes: Vec<_> = found.chunks_exact(5).collect();
        assert!(passes.iter().any(|pass| *pass != passes[0]), "every pass has the same order");
        assert_ne!(found[..50], names(1)[..50]);
        assert_eq!(found, names(0));
    }

    #[test]
    fn a_sample_keeps_whole_conversations_and_differs_by_replication() {
        let rows: String = (0..2000).map(|n| format!("{n},1,{n}\n{n},2,{}\n", n + 9)).collect();
        let text = format!("conversation,turn,arrival_s\n{rows}");
        let trace = Arc::new(Trace::parse(text.as_bytes(), &TraceOptions::default()).unwrap());
        let kept = |replication, sample| -> Vec<Time> {
            let options = ReplayOptions { times: TraceTimes::Absolute, sample };
            let (trace, duration) = (Arc::clone(&trace), Span::from_secs(86_400));
            Source::from_trace(trace, options, &varied(), 8, replication, duration)
                .inspect(|c| assert_eq!(c.turns, 2))
                .map(|c| c.starts_at)
                .collect()
        };
        let tenth = kept(0, 0.1);
        // 200 expected with a standard deviation of 13.4.
        assert!((146..=254).contains(&tenth.len()), "seed 8: {} kept", tenth.len());
        assert_ne!(tenth, kept(1, 0.1));
        assert_eq!(kept(0, 1.0).len(), 2000);
        assert_eq!(kept(0, 0.0), []);
        assert_eq!(
            replay(ReplayOptions { sample: 0.0, ..Default::default() }, 0, &varied()).next(),
            None
        );
    }
}
