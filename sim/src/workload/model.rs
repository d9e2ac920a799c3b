//! The `[workload]` table of a scenario, resolved.

use crate::random::{Distribution, DistributionError, WeightError, Weighted};
use sandpool_core::ClassId;

/// Everything that can be set about the conversations that arrive.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// When conversations start.
    pub arrivals: Arrivals,
    /// Whose they are.
    pub accounts: Accounts,
    /// Turns per conversation, rounded to at least 1.
    pub turns: Distribution,
    /// From the end of a turn to the next turn of the conversation, seconds.
    pub think_seconds: Distribution,
    /// Chance that a turn runs any code, 0 to 1.
    pub needs_code: f64,
    /// How well the caller foresees at a turn's begin whether it runs code, 0 to 1 (0: knows the
    /// chance above and no more, 1: knows exactly): twice the area under the ROC curve less 1 of
    /// its estimates, which are calibrated. `None`: it says nothing.
    pub hint_quality: Option<f64>,
    /// Executes per turn that runs code, rounded to at least 1.
    pub executes: Distribution,
    /// Agent work from the turn's begin to its first execute, seconds.
    pub work_before_seconds: Distribution,
    /// Agent work between two executes of a turn, seconds.
    pub work_between_seconds: Distribution,
    /// Agent work from the last execute (or, in a turn without code, from the first step) to the
    /// turn's end, seconds.
    pub work_after_seconds: Distribution,
    /// How long an execute runs, seconds.
    pub execute_seconds: Distribution,
    /// Class of a conversation's sandboxes, with weights.
    pub classes: Vec<(ClassId, f64)>,
    /// Patience of a blocked execute, seconds, where it differs from `sandbox_wait_seconds`.
    pub patience_seconds: Option<Distribution>,
    /// After a refusal: chance that the agent tries the execute again, 0 to 1 (at most 10 times).
    pub retry_after_refusal: f64,
    /// Pause before such a new attempt, seconds.
    pub retry_pause_seconds: Distribution,
    /// From the last turn's end to the conversation's closing, seconds; the user mostly just
    /// leaves, so this is long by default.
    pub close_after_seconds: Distribution,
    /// Most conversations in one run; `u64::MAX` is unlimited.
    pub max_conversations: u64,
}

/// When conversations start.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// Independent of each other at a constant rate.
    Poisson {
        /// Conversations an hour.
        per_hour: f64,
    },
    /// Gamma-distributed gaps: coefficient of variation above 1 means bursts.
    Bursty {
        /// Conversations an hour.
        per_hour: f64,
        /// Coefficient of variation of the gaps.
        cv: f64,
    },
    /// Poisson with a rate that follows the time of day, repeated every `day_hours`.
    ByTimeOfDay {
        /// Conversations an hour, in equal parts of the day, first part first.
        per_hour: Vec<f64>,
        /// Length of the day, hours.
        day_hours: f64,
    },
    /// At these times, seconds from the start of the run, ascending.
    At(Vec<f64>),
}

/// Whose conversations they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Accounts {
    /// Relative weight of each account; its length is the number of accounts.
    pub weights: Vec<f64>,
}

impl Accounts {
    /// `count` accounts whose weights fall as rank to the power of `-skew` (0: all equal).
    #[must_use]
    pub fn zipf(count: usize, skew: f64) -> Self {
        Self { weights: (1..=count).map(|rank| (rank as f64).powf(-skew)).collect() }
    }
}

/// Why a workload cannot be simulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorkloadError {
    /// A distribution cannot be drawn from.
    #[error("{key}: {error}")]
    Distribution {
        /// The key in the `[workload]` table.
        key: &'static str,
        /// What is wrong with it.
        error: DistributionError,
    },
    /// Weights cannot be used.
    #[error("{key}: {error}")]
    Weights {
        /// The key in the `[workload]` table.
        key: &'static str,
        /// What is wrong with them.
        error: WeightError,
    },
    /// A number is out of its range.
    #[error("{key} is {value}, not {range}")]
    OutOfRange {
        /// The key in the `[workload]` table.
        key: &'static str,
        /// Its value.
        value: f64,
        /// The range, in words.
        range: &'static str,
    },
}

impl Workload {
    /// Checks every range. A scenario file is checked when it is read, with places in the file;
    /// this is for workloads that were put together by hand.
    ///
    /// # Errors
    /// The first key that cannot be used.
    pub fn validate(&self) -> Result<(), WorkloadError> {
        let distributions = [
            ("turns", Some(&self.turns)),
            ("think_seconds", Some(&self.think_seconds)),
            ("executes", Some(&self.executes)),
            ("work_before_seconds", Some(&self.work_before_seconds)),
            ("work_between_seconds", Some(&self.work_between_seconds)),
            ("work_after_seconds", Some(&self.work_after_seconds)),
            ("execute_seconds", Some(&self.execute_seconds)),
            ("patience_seconds", self.patience_seconds.as_ref()),
            ("retry_pause_seconds", Some(&self.retry_pause_seconds)),
            ("close_after_seconds", Some(&self.close_after_seconds)),
        ];
        for (key, distribution) in distributions {
            let checked = distribution.map_or(Ok(()), Distribution::validate);
            checked.map_err(|error| WorkloadError::Distribution { key, error })?;
        }
        let classes: Vec<f64> = self.classes.iter().map(|&(_, weight)| weight).collect();
        for (key, weights) in [("accounts", &self.accounts.weights), ("class_mix", &classes)] {
            Weighted::new(weights).map_err(|error| WorkloadError::Weights { key, error })?;
        }
        let chances = [
            ("needs_code", Some(self.needs_code)),
            ("hint_quality", self.hint_quality),
            ("retry_after_refusal", Some(self.retry_after_refusal)),
        ];
        for (key, chance) in chances {
            in_range(key, chance.unwrap_or(0.0), 0.0, 1.0, "a number from 0 to 1")?;
        }
        self.arrivals.validate()
    }
}

impl Arrivals {
    fn validate(&self) -> Result<(), WorkloadError> {
        let at_least_zero =
            |key, value| in_range(key, value, 0.0, f64::MAX, "a finite number of at least 0");
        match self {
            Arrivals::Poisson { per_hour } => at_least_zero("arrivals.per_hour", *per_hour),
            Arrivals::Bursty { per_hour, cv } => {
                at_least_zero("arrivals.per_hour", *per_hour)?;
                // Beyond this the shape of the gaps leaves the range in which they can be drawn.
                in_range("arrivals.cv", *cv, 0.0, 100.0, "a number from 0 to 100")
            }
            Arrivals::ByTimeOfDay { per_hour, day_hours } => {
                per_hour.iter().try_for_each(|&rate| at_least_zero("arrivals.per_hour", rate))?;
                let range = "a number of hours above 0 and at most 1e6";
                in_range("arrivals.day", *day_hours, f64::MIN_POSITIVE, 1e6, range)
            }
            Arrivals::At(times) => times.iter().try_for_each(|&t| at_least_zero("arrivals.at", t)),
        }
    }
}

fn in_range(
    key: &'static str,
    value: f64,
    min: f64,
    max: f64,
    range: &'static str,
) -> Result<(), WorkloadError> {
    // NaN is in no range.
    if (min..=max).contains(&value) {
        Ok(())
    } else {
        Err(WorkloadError::OutOfRange { key, value, range })
    }
}

#[cfg(test)]
impl Workload {
    /// A queue without anything around it: Poisson arrivals, one turn, one execute.
    pub(crate) fn single_execute(per_hour: f64, mean_seconds: f64) -> Self {
        let zero = Distribution::Constant(0.0);
        Self {
            arrivals: Arrivals::Poisson { per_hour },
            accounts: Accounts { weights: vec![1.0] },
            turns: Distribution::Constant(1.0),
            think_seconds: zero.clone(),
            needs_code: 1.0,
            hint_quality: None,
            executes: Distribution::Constant(1.0),
            work_before_seconds: zero.clone(),
            work_between_seconds: zero.clone(),
            work_after_seconds: zero.clone(),
            execute_seconds: Distribution::Exponential { mean: mean_seconds },
            classes: vec![(ClassId(0), 1.0)],
            patience_seconds: None,
            retry_after_refusal: 0.0,
            retry_pause_seconds: zero.clone(),
            close_after_seconds: zero,
            max_conversations: u64::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_range_is_checked_and_the_key_is_named() {
        let good = Workload::single_execute(60.0, 1.0);
        assert_eq!(good.validate(), Ok(()));
        let text = |change: &dyn Fn(&mut Workload)| {
            let mut bad = good.clone();
            change(&mut bad);
            bad.validate().expect_err("out of range").to_string()
        };
        assert_eq!(text(&|w| w.needs_code = 1.5), "needs_code is 1.5, not a number from 0 to 1");
        assert_eq!(text(&|w| w.accounts.weights.clear()), "accounts: no weights");
        assert_eq!(text(&|w| w.classes.clear()), "class_mix: no weights");
        assert_eq!(
            text(&|w| w.patience_seconds = Some(Distribution::Constant(-1.0))),
            "patience_seconds: value of constant is -1, not a finite number of at least 0"
        );
        for arrivals in [
            Arrivals::Poisson { per_hour: f64::NAN },
            Arrivals::Bursty { per_hour: 1.0, cv: -1.0 },
            Arrivals::ByTimeOfDay { per_hour: vec![1.0], day_hours: 0.0 },
            Arrivals::At(vec![0.0, f64::INFINITY]),
        ] {
            assert!(text(&|w| w.arrivals = arrivals.clone()).starts_with("arrivals."));
        }
    }

    #[test]
    fn zipf_weights_fall_with_rank() {
        assert_eq!(Accounts::zipf(3, 1.0).weights, [1.0, 0.5, 1.0 / 3.0]);
        assert_eq!(Accounts::zipf(2, 0.0).weights, [1.0, 1.0]);
    }
}
