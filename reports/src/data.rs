//! What a report shows: plain numbers and text, whatever computed them.

use sandpool_core::SandboxState;
use serde::{Deserialize, Serialize};

/// Everything that one report shows.
///
/// Every number must be finite; [`render_svg`](crate::render_svg) and
/// [`render_html`](crate::render_html) answer with an error that names the first one that is not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReportData {
    /// Name of the scenario.
    pub scenario: String,
    /// The question that the scenario answers, one sentence. The title of the page.
    pub question: String,
    /// The answer, one sentence.
    pub answer: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// Replications of each variant.
    pub replications: u32,
    /// Confidence level of every interval, above 0 and below 1, for example 0.95.
    pub confidence: f64,
    /// How the intervals were made, a phrase: "Student's t over replications".
    pub interval_method: String,
    /// Whether every variant saw the same arrivals and the same luck.
    pub common_random_numbers: bool,
    /// The command that makes these results again.
    pub command: String,
    /// The scenario file, as written.
    pub scenario_text: String,
    /// What was drawn from distributions or assumed, one sentence each.
    pub assumptions: Vec<String>,
    /// The variants that were compared. Differences are taken from the first one. The charts are
    /// laid out for one to eight; more are drawn, and are hard to tell apart.
    pub variants: Vec<VariantData>,
    /// Paired differences from the first variant.
    pub differences: Vec<Difference>,
}

/// The results of one variant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VariantData {
    /// Its name; unique in the report.
    pub name: String,
    /// What it overrides, one `key = value` a line; empty for the base.
    pub overrides: Vec<String>,
    /// Rows of the comparison table.
    pub measures: Vec<Measure>,
    /// The exposed wait of first executes as a cumulative distribution: ascending in both fields,
    /// each point saying which share waited at most so long. The share is of all first executes,
    /// so what the last point lacks to 1 was refused.
    pub wait_cdf: Vec<CdfPoint>,
    /// What each cause cost, US dollars per simulated hour.
    pub cost: CostByCause,
    /// Means over replications, by time of the run.
    pub over_time: OverTime,
    /// `max_sandboxes` of this variant; `None` draws no limit line.
    pub limit_sandboxes: Option<f64>,
    /// Total cost, US dollars per simulated hour.
    pub total_cost: Option<Estimate>,
    /// The 95th percentile of the exposed wait, seconds; `None` if nothing was served.
    pub wait_p95: Option<Estimate>,
}

/// A mean and its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean over replications.
    pub mean: f64,
    /// The interval's ends, low then high; `None` if one replication gives no interval.
    pub interval: Option<(f64, f64)>,
}

impl Estimate {
    /// A mean with its interval.
    #[must_use]
    pub const fn new(mean: f64, low: f64, high: f64) -> Self {
        Self { mean, interval: Some((low, high)) }
    }

    /// A mean without an interval, as one replication gives.
    #[must_use]
    pub const fn point(mean: f64) -> Self {
        Self { mean, interval: None }
    }

    /// The interval's low end, or the mean where there is no interval.
    #[must_use]
    pub fn low(&self) -> f64 {
        self.interval.map_or(self.mean, |(low, _)| low)
    }

    /// The interval's high end, or the mean where there is no interval.
    #[must_use]
    pub fn high(&self) -> f64 {
        self.interval.map_or(self.mean, |(_, high)| high)
    }

    /// Whether there is an interval and zero lies outside it.
    #[must_use]
    pub fn excludes_zero(&self) -> bool {
        self.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }
}

/// One row of the comparison table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Its name; rows of different variants meet by it.
    pub name: String,
    /// Its unit, for example `s`, `%`, `$/h`; empty for a pure number.
    pub unit: String,
    /// Whether it belongs to the short table; the others stand below it, folded.
    pub headline: bool,
    /// Its value; `None` where nothing happened that it could be taken from.
    pub estimate: Option<Estimate>,
}

/// One point of a cumulative distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CdfPoint {
    /// Exposed wait, seconds, 0 or more.
    pub seconds: f64,
    /// Share of first executes that waited at most so long, 0 to 1.
    pub share: f64,
}

/// Cost by cause, US dollars per simulated hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CostByCause {
    /// A command ran.
    pub busy: f64,
    /// Bound and used, no command running.
    pub idle: f64,
    /// Ready and bound to nobody.
    pub warm: f64,
    /// On its way up.
    pub starting: f64,
    /// Bound to a conversation that never used it.
    pub never_used: f64,
    /// At the provider and owned by nobody.
    pub orphaned: f64,
}

impl CostByCause {
    /// The sum over causes, US dollars per simulated hour.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.busy + self.idle + self.warm + self.starting + self.never_used + self.orphaned
    }
}

/// A run over time, in bins of one width.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OverTime {
    /// Width of a bin, hours, above 0 if there are bins.
    pub bin_hours: f64,
    /// The bins, in order of time.
    pub bins: Vec<TimeBin>,
}

/// Means over one bin of time and over replications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeBin {
    /// Where the bin begins, hours from the start of the run.
    pub start_hours: f64,
    /// Claims waiting, time average.
    pub waiting: f64,
    /// Refused executes per hour.
    pub refusals_per_hour: f64,
    /// Sandboxes by state, time average.
    pub sandboxes: StateCounts,
}

/// Sandboxes by what they are doing, in the groups that the chart of states shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StateCounts {
    /// New, creating or preparing.
    pub starting: f64,
    /// Ready and bound to nobody.
    pub warm: f64,
    /// Assigned or busy.
    pub in_use: f64,
    /// Bound and used, no command running.
    pub idle: f64,
    /// Limbo, failed or dead: capacity is held and nobody is served.
    pub lost: f64,
    /// Deleting.
    pub destroying: f64,
}

impl StateCounts {
    /// Counts `sandboxes` more of them in `state`; those deleted are shown nowhere.
    pub fn add(&mut self, state: SandboxState, sandboxes: f64) {
        match state {
            SandboxState::New | SandboxState::Creating | SandboxState::Preparing => {
                self.starting += sandboxes;
            }
            SandboxState::Warm => self.warm += sandboxes,
            SandboxState::Assigned | SandboxState::Busy => self.in_use += sandboxes,
            SandboxState::Idle => self.idle += sandboxes,
            SandboxState::Limbo | SandboxState::Failed | SandboxState::Dead => {
                self.lost += sandboxes;
            }
            SandboxState::Destroying => self.destroying += sandboxes,
            SandboxState::Deleted => {}
        }
    }

    /// All that hold capacity.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.starting + self.warm + self.in_use + self.idle + self.lost + self.destroying
    }
}

/// The paired difference of one measure between a variant and the first one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The variant's name; never the first one's.
    pub variant: String,
    /// The measure's name.
    pub measure: String,
    /// Its unit.
    pub unit: String,
    /// Variant minus first variant, over pairs of replications.
    pub estimate: Estimate,
    /// Which direction is better.
    pub better: Better,
}

impl Difference {
    /// What the interval says: better or worse where it excludes zero, else nothing.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if !self.estimate.excludes_zero() {
            return Verdict::Unclear;
        }
        match (self.better, self.estimate.mean < 0.0) {
            (Better::Lower, true) | (Better::Higher, false) => Verdict::Better,
            (Better::Lower, false) | (Better::Higher, true) => Verdict::Worse,
            (Better::Neither, _) => Verdict::Different,
        }
    }
}

/// Which direction of a measure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Less is better, as with a wait.
    Lower,
    /// More is better, as with a hit ratio.
    Higher,
    /// It depends, as with utilisation.
    Neither,
}

/// What a paired interval says of a variant against the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The interval excludes zero, on the better side.
    Better,
    /// The interval excludes zero, on the worse side.
    Worse,
    /// The interval excludes zero, and neither side is the better one.
    Different,
    /// The interval holds zero, or there is none.
    Unclear,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_but_deleted_is_counted_once() {
        let mut counts = StateCounts::default();
        for state in SandboxState::ALL {
            counts.add(state, 1.0);
        }
        assert_eq!(counts.total(), (SandboxState::ALL.len() - 1) as f64);
        assert_eq!((counts.starting, counts.in_use, counts.lost), (3.0, 2.0, 3.0));
    }

    #[test]
    fn an_interval_that_touches_zero_gives_no_verdict() {
        let difference = |low, high, better| Difference {
            variant: "b".into(),
            measure: "m".into(),
            unit: "s".into(),
            estimate: Estimate::new((low + high) / 2.0, low, high),
            better,
        };
        assert_eq!(difference(-2.0, -1.0, Better::Lower).verdict(), Verdict::Better);
        assert_eq!(difference(-2.0, -1.0, Better::Higher).verdict(), Verdict::Worse);
        assert_eq!(difference(1.0, 2.0, Better::Neither).verdict(), Verdict::Different);
        assert_eq!(difference(-2.0, 0.0, Better::Lower).verdict(), Verdict::Unclear);
        let mut lone = difference(-2.0, -1.0, Better::Lower);
        lone.estimate = Estimate::point(-1.0);
        assert_eq!(lone.verdict(), Verdict::Unclear);
    }
}
