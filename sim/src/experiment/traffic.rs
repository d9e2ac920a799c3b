//! Where the traffic of an experiment comes from: drawn from `[workload]`, or a recorded trace.

use crate::scenario::Variant;
use crate::workload::{ReplayOptions, Source, Trace, TraceErrors, TraceOptions, TraceTimes};
use sandpool_core::Span;
use std::path::Path;
use std::sync::Arc;

/// A trace that takes the place of the drawn traffic in every variant.
#[derive(Clone, Debug)]
pub struct RecordedTraffic {
    options: ReplayOptions,
    /// One for each variant: classes are numbered by the variant's own list.
    traces: Vec<Arc<Trace>>,
}

impl RecordedTraffic {
    /// Reads a trace for these variants. `leave_out_conflicts`: leaves conversations out whose
    /// turns contradict each other, instead of refusing the file.
    ///
    /// # Errors
    /// Every mistake in the file, up to 20 with their lines.
    pub fn load(
        path: &Path,
        options: ReplayOptions,
        leave_out_conflicts: bool,
        variants: &[Variant],
    ) -> Result<RecordedTraffic, TraceErrors> {
        let mut traces: Vec<Arc<Trace>> = Vec::new();
        let mut last_names: Option<Vec<String>> = None;
        for variant in variants {
            let names: Vec<String> =
                variant.server.classes.iter().map(|class| class.name.clone()).collect();
            let trace = match traces.last() {
                Some(trace) if last_names.as_ref() == Some(&names) => Arc::clone(trace),
                _ => {
                    let class_names = names.clone();
                    let options = TraceOptions { class_names, leave_out_conflicts };
                    Arc::new(Trace::load(path, &options)?)
                }
            };
            traces.push(trace);
            last_names = Some(names);
        }
        Ok(RecordedTraffic { options, traces })
    }

    /// Whether times are taken as absolute although every conversation starts at zero, so that all
    /// of them would arrive at once.
    #[must_use]
    pub fn arrives_all_at_once(&self) -> bool {
        self.options.times == TraceTimes::Absolute
            && self.traces.first().is_some_and(|trace| trace.starts_at_zero_throughout())
    }

    /// What the report has to say of the trace, one sentence each.
    #[must_use]
    pub fn assumptions(&self) -> Vec<String> {
        let Some(trace) = self.traces.first() else { return Vec::new() };
        let mut sentences = vec![format!(
            "The traffic is a recorded trace of {} conversations with {} turns.",
            trace.conversation_count(),
            trace.turn_count()
        )];
        sentences.push(match self.options.times {
            TraceTimes::Relative => {
                "Conversations start as [workload.arrivals] says, not when the trace has them; the \
                 trace is gone through again and again, each time in another random order."
                    .to_owned()
            }
            TraceTimes::Absolute => {
                "Conversations start when the trace has them, once each, so replications differ \
                 only in what is drawn."
                    .to_owned()
            }
        });
        if self.options.sample < 1.0 {
            sentences.push(format!(
                "The trace is thinned: each replication keeps about {} % of its conversations, \
                 chosen at random.",
                super::number::short(self.options.sample * 100.0)
            ));
        }
        if trace.left_out() > 0 {
            sentences.push(format!(
                "{} conversations were left out because their turns contradict each other.",
                trace.left_out()
            ));
        }
        for column in trace.drawn_columns() {
            sentences.push(format!("Not told by the trace: {column}."));
        }
        sentences
    }

    /// Conversations that were left out because their turns contradict each other, and those that
    /// were kept.
    #[must_use]
    pub fn left_out(&self) -> (usize, usize) {
        let trace = &self.traces[0];
        (trace.left_out(), trace.conversation_count())
    }

    fn source(
        &self,
        index: usize,
        variant: &Variant,
        seed: u64,
        replication: u32,
        duration: Span,
    ) -> Source {
        Source::from_trace(
            Arc::clone(&self.traces[index]),
            self.options,
            &variant.workload,
            seed,
            replication,
            duration,
        )
    }
}

/// The traffic of one replication of the variant with this index: that of `traffic`, or drawn.
///
/// # Panics
/// When `traffic` was read for fewer variants.
#[must_use]
pub fn source_of(
    traffic: Option<&RecordedTraffic>,
    index: usize,
    variant: &Variant,
    seed: u64,
    replication: u32,
    duration: Span,
) -> Source {
    match traffic {
        Some(traffic) => traffic.source(index, variant, seed, replication, duration),
        None => Source::new(&variant.workload, seed, replication, duration),
    }
}
