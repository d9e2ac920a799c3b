//! Runs the replications. Which thread runs which changes nothing: every replication is a function
//! of the seed and its number, and results are put together in a fixed order.

use super::answer::answer;
use super::traffic::{RecordedTraffic, source_of};
use super::warm_up::{BinnedWaits, FIRST_PILOT, PILOTS, decide};
use crate::engine::{RunOptions, run};
use crate::output::{
    MeasureId, Observed, ObservedVariant, Results, Setting, interval_of, summarise,
};
use crate::scenario::{Scenario, WarmUp};
use crate::stats::{Stopping, StoppingError, StoppingRule};
use rayon::prelude::*;
use sandpool_core::Span;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

/// Replications that are added at a time when a precision is wanted. Fixed, so that the number of
/// threads does not change where the run stops.
const BATCH: u32 = 10;

/// How an experiment is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExperimentOptions<'a> {
    /// Threads; `None` takes as many as the machine has cores. The results do not depend on it.
    pub threads: Option<usize>,
    /// Check every invariant of the scheduler after every step; several times slower.
    pub check_invariants: bool,
    /// A recorded trace instead of the drawn traffic.
    pub traffic: Option<&'a RecordedTraffic>,
}

/// How far an experiment has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Replications that are simulated, all variants together.
    pub done: u64,
    /// How many there will be, as far as is known.
    pub planned: u64,
}

/// What an experiment came to.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The tables.
    pub results: Results,
    /// What they say about exposed wait, refusals and cost, one sentence.
    pub answer: String,
}

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// The scheduler broke one of its invariants: a bug.
    #[error("variant `{variant}`, replication {replication} of seed {seed}: {message}")]
    Broken {
        /// The variant.
        variant: String,
        /// The seed.
        seed: u64,
        /// The replication, from 0.
        replication: u32,
        /// What broke, and when.
        message: String,
    },
    /// The wanted precision and the numbers of replications do not go together.
    #[error(transparent)]
    Stopping(#[from] StoppingError),
    /// Threads could not be started.
    #[error("cannot start threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// Runs every variant of the scenario, all of them on the same arrivals and the same luck, and sums
/// up. `progress` is called after every replication, from any thread.
///
/// # Errors
/// [`ExperimentError`]. With several failures, the one of the first replication and variant.
pub fn run_experiment(
    scenario: &Scenario,
    options: &ExperimentOptions<'_>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Experiment, ExperimentError> {
    let rule = match scenario.precision {
        Some(precision) => {
            Some(StoppingRule::new(precision, scenario.replications, scenario.max_replications)?)
        }
        None => None,
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads.unwrap_or(0)).build()?;
    pool.install(|| {
        let runner = Runner {
            scenario,
            options,
            progress,
            done: AtomicU64::new(0),
            planned: AtomicU64::new(0),
        };
        runner.run(rule.as_ref())
    })
}

struct Runner<'a> {
    scenario: &'a Scenario,
    options: &'a ExperimentOptions<'a>,
    progress: &'a (dyn Fn(Progress) + Sync),
    done: AtomicU64,
    planned: AtomicU64,
}

impl Runner<'_> {
    fn run(&self, rule: Option<&StoppingRule>) -> Result<Experiment, ExperimentError> {
        let scenario = self.scenario;
        let mut notes = Vec::new();
        let warm_up = match scenario.warm_up {
            WarmUp::Fixed(span) => span,
            WarmUp::Mser5 => {
                let (cut, found) = decide(scenario, &self.pilots()?);
                notes.extend(found);
                cut
            }
        };
        let mut variants: Vec<ObservedVariant> = scenario
            .variants
            .iter()
            .map(|variant| ObservedVariant {
                name: variant.name.clone(),
                overrides: variant.overrides.clone(),
                replications: Vec::new(),
            })
            .collect();
        let mut made = 0;
        loop {
            let wanted = match (made, rule) {
                (0, Some(_)) => scenario
                    .replications
                    .max(crate::stats::MIN_REPLICATIONS)
                    .min(scenario.max_replications),
                (0, None) => scenario.replications,
                _ => (made + BATCH).min(scenario.max_replications),
            };
            self.batch(made..wanted, warm_up, &mut variants)?;
            made = wanted;
            let Some(rule) = rule else { break };
            match self.look(rule, made, &variants) {
                Stopping::Continue => {}
                Stopping::Reached => {
                    notes.push(format!(
                        "The wanted precision of the mean exposed wait, {} % of it, was reached \
                         after {made} replications.",
                        super::number::short(self.scenario.precision.unwrap_or(0.0) * 100.0)
                    ));
                    break;
                }
                Stopping::GivenUp => {
                    notes.push(self.missed(rule, made, &variants));
                    break;
                }
            }
        }
        if self.options.check_invariants {
            notes.push("Every invariant of the scheduler was checked after every step.".to_owned());
        }
        let setting = Setting {
            scenario: scenario.name.clone(),
            question: scenario.question.clone(),
            seed: scenario.seed,
            notes,
        };
        Ok(Experiment { results: summarise(setting, &variants), answer: answer(&variants) })
    }

    /// What to do after a batch: go on until every variant is precise enough. Whether variants
    /// differ is never looked at.
    fn look(&self, rule: &StoppingRule, made: u32, variants: &[ObservedVariant]) -> Stopping {
        let verdicts: Vec<Stopping> =
            variants.iter().map(|variant| judged(rule, made, variant)).collect();
        if verdicts.iter().all(|&verdict| verdict == Stopping::Reached) {
            Stopping::Reached
        } else if verdicts.contains(&Stopping::GivenUp) {
            Stopping::GivenUp
        } else {
            Stopping::Continue
        }
    }

    fn missed(&self, rule: &StoppingRule, made: u32, variants: &[ObservedVariant]) -> String {
        let names: Vec<String> = variants
            .iter()
            .filter(|variant| judged(rule, made, variant) != Stopping::Reached)
            .map(|variant| format!("`{}`", variant.name))
            .collect();
        format!(
            "The wanted precision of the mean exposed wait, {} % of it, was NOT reached by {} in \
             {made} replications, the most allowed.",
            super::number::short(self.scenario.precision.unwrap_or(0.0) * 100.0),
            names.join(", ")
        )
    }

    /// Simulates these replications of every variant and adds them to the results.
    fn batch(
        &self,
        replications: std::ops::Range<u32>,
        warm_up: Span,
        variants: &mut [ObservedVariant],
    ) -> Result<(), ExperimentError> {
        let width = variants.len();
        let observed = self.all(replications, |job| {
            let options = RunOptions { warm_up, ..self.run_options(job.1) };
            let outcome = self.simulate(job, &options)?;
            Ok(outcome.measures.observed(outcome.leaked))
        })?;
        for (index, observed) in observed.into_iter().enumerate() {
            let observed: Observed = observed;
            variants[index % width].replications.push(observed);
        }
        Ok(())
    }

    /// The exposed waits of the pilots, by variant.
    fn pilots(&self) -> Result<Vec<BinnedWaits>, ExperimentError> {
        let duration = self.scenario.duration;
        let found = self.all(FIRST_PILOT..FIRST_PILOT + PILOTS, |job| {
            let options = RunOptions {
                journal: true,
                wind_down: false,
                bin: None,
                ..self.run_options(job.1)
            };
            let outcome = self.simulate(job, &options)?;
            let mut waits = BinnedWaits::new(duration);
            waits.fold(outcome.journal.as_deref().unwrap_or_default());
            Ok(waits)
        })?;
        let mut by_variant = vec![BinnedWaits::new(duration); self.scenario.variants.len()];
        for (index, waits) in found.iter().enumerate() {
            by_variant[index % self.scenario.variants.len()].merge(waits);
        }
        Ok(by_variant)
    }

    fn run_options(&self, replication: u32) -> RunOptions {
        RunOptions {
            seed: self.scenario.seed,
            replication,
            duration: self.scenario.duration,
            warm_up: Span::ZERO,
            bin: Some(self.scenario.bin),
            check_invariants: self.options.check_invariants,
            journal: false,
            wind_down: true,
        }
    }

    /// Does `work` for every variant (by index) of every replication, on all threads. Results come
    /// in order of replications, then of variants.
    fn all<T: Send>(
        &self,
        replications: std::ops::Range<u32>,
        work: impl Fn((usize, u32)) -> Result<T, ExperimentError> + Sync,
    ) -> Result<Vec<T>, ExperimentError> {
        let variants = self.scenario.variants.len();
        let jobs: Vec<(usize, u32)> = replications
            .flat_map(|replication| (0..variants).map(move |index| (index, replication)))
            .collect();
        self.planned.fetch_add(jobs.len() as u64, Ordering::Relaxed);
        let results: Vec<Result<T, ExperimentError>> = jobs
            .into_par_iter()
            // Replications differ in length: one at a time keeps every thread busy to the end.
            .with_max_len(1)
            .map(|job| {
                let result = work(job);
                let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
                let planned = self.planned.load(Ordering::Relaxed);
                (self.progress)(Progress { done, planned });
                result
            })
            .collect();
        results.into_iter().collect()
    }

    fn simulate(
        &self,
        (index, replication): (usize, u32),
        options: &RunOptions,
    ) -> Result<crate::engine::Outcome, ExperimentError> {
        let variant = &self.scenario.variants[index];
        let broken = |message| ExperimentError::Broken {
            variant: variant.name.clone(),
            seed: options.seed,
            replication,
            message,
        };
        let source = source_of(
            self.options.traffic,
            index,
            variant,
            options.seed,
            replication,
            options.duration,
        );
        let outcome = catch_unwind(AssertUnwindSafe(|| run(variant, source, options)))
            .map_err(|panic| broken(panic_text(panic.as_ref())))?;
        match outcome.measures.counts().illegal {
            0 => Ok(outcome),
            n => Err(broken(format!("{n} changes of state that the life-cycle table lacks"))),
        }
    }
}

fn judged(rule: &StoppingRule, made: u32, variant: &ObservedVariant) -> Stopping {
    rule.after(made, interval_of(&variant.replications, MeasureId::ExposedWaitMean).as_ref())
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("stopped without a message")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(head: &str) -> Scenario {
        let text = format!(
            "{head}\nduration = \"2h\"\n[workload]\nthink_seconds = 30\nneeds_code = 1\n\
             turns = 3\n[workload.arrivals.poisson]\nper_hour = 60\n\
             [[variant]]\nname = \"none warm\"\n\"server.warm_sandboxes\" = 0\n"
        );
        crate::scenario::parse("s.toml", &text).unwrap()
    }

    fn done(head: &str, threads: usize) -> Experiment {
        let options = ExperimentOptions { threads: Some(threads), ..Default::default() };
        run_experiment(&scenario(head), &options, &|_| {}).unwrap()
    }

    #[test]
    fn threads_change_nothing() {
        let head = "replications = 6\nwarm_up = \"mser5\"";
        let (one, two) = (done(head, 1), done(head, 2));
        assert_eq!(one.results.to_json().unwrap(), two.results.to_json().unwrap());
        assert_eq!(one.answer, two.answer);
        assert!(one.results.notes[0].contains("left out as warm-up"), "{:?}", one.results.notes);
        assert_eq!(one.results.replications, 6);
    }

    #[test]
    fn a_precision_is_reached_or_given_up_in_whole_batches() {
        let results = done("replications = 2\nprecision = 0.5\nmax_replications = 40", 2).results;
        assert!(results.replications >= 10 && results.replications.is_multiple_of(10));
        assert!(results.notes[0].contains("was reached after"), "{:?}", results.notes);
        let results = done("replications = 2\nprecision = 0.001\nmax_replications = 13", 2).results;
        assert_eq!(results.replications, 13);
        assert!(results.notes[0].contains("NOT reached by `base`"), "{:?}", results.notes);
    }

    #[test]
    fn too_few_replications_for_a_precision_are_refused() {
        let scenario = scenario("replications = 2\nprecision = 0.1\nmax_replications = 5");
        let error = run_experiment(&scenario, &ExperimentOptions::default(), &|_| {}).unwrap_err();
        assert!(error.to_string().contains("max_replications"), "{error}");
    }

    #[test]
    fn progress_counts_every_replication() {
        let most = AtomicU64::new(0);
        let check = |progress: Progress| {
            assert!(progress.done <= progress.planned);
            most.fetch_max(progress.done, Ordering::Relaxed);
        };
        run_experiment(&scenario("replications = 3"), &ExperimentOptions::default(), &check)
            .unwrap();
        assert_eq!(most.into_inner(), 6);
    }
}
