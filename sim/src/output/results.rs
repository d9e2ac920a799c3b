//! The results of a comparison, as they are kept in `results.json`.

use super::measures::{Better, Cause, MeasureId, Unit};
use crate::stats::{Direction, Interval};
use serde::{Deserialize, Serialize};

/// Names the format and its version in `results.json`; raised when a field changes its meaning.
pub const FORMAT: &str = "sandpool-results-1";

/// Why results cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The text is not what [`Results::to_json`] writes.
    #[error("not a result file: {0}")]
    Json(#[from] serde_json::Error),
    /// A number is infinite or not a number, which the format cannot hold.
    #[error("{place} is not a finite number")]
    NotFinite {
        /// Which number.
        place: String,
    },
    /// It is of another format.
    #[error(
        "the result file has format `{found}`, this version reads `{FORMAT}`; hint: simulate again"
    )]
    Format {
        /// The format that it names.
        found: String,
    },
}

/// Everything that a comparison came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// [`FORMAT`].
    pub format: String,
    /// The scenario's name.
    pub scenario: String,
    /// The question that it answers.
    pub question: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// Replications that were made.
    pub replications: u64,
    /// Confidence of every interval, such as 0.95.
    pub confidence: f64,
    /// What is to be known about how they came about, one sentence each: a precision that was not
    /// reached, a warm-up that was read off.
    pub notes: Vec<String>,
    /// One per variant, in the scenario's order.
    pub variants: Vec<VariantResult>,
    /// Paired differences of every further variant against the first.
    pub differences: Vec<Difference>,
}

/// What one variant came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariantResult {
    /// Its name.
    pub name: String,
    /// What it overrides, as `key = value` lines.
    pub overrides: Vec<String>,
    /// Every measure, in the order of the measure table.
    pub measures: Vec<Measure>,
    /// The exposed wait's distribution function, all replications together, thinned to points that
    /// a chart can show.
    pub exposed_wait_cdf: Vec<CdfPoint>,
    /// What the sandboxes were paid for.
    pub cost_by_cause: Vec<CauseCost>,
    /// What happened over time, averaged over the replications.
    pub over_time: Vec<Bin>,
}

/// One measure of one variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Its name.
    pub name: String,
    /// What it counts in.
    pub unit: Unit,
    /// Which direction is the good one.
    pub better: Better,
    /// Replications in which it had a value.
    pub n: u64,
    /// The estimate; `None` when no replication had a value.
    pub mean: Option<f64>,
    /// Half the confidence interval's width; `None` with fewer than two values.
    pub half_width: Option<f64>,
    /// The interval's lower end.
    pub low: Option<f64>,
    /// The interval's upper end.
    pub high: Option<f64>,
}

impl Measure {
    /// From an interval; without one, no replication had a value.
    #[must_use]
    pub fn new(id: MeasureId, interval: Option<&Interval>) -> Measure {
        let info = id.info();
        Measure {
            name: info.name.to_owned(),
            unit: info.unit,
            better: info.better,
            n: interval.map_or(0, |interval| interval.n),
            mean: interval.map(|interval| interval.mean),
            half_width: interval.and_then(|interval| interval.half_width),
            low: interval.and_then(Interval::low),
            high: interval.and_then(Interval::high),
        }
    }
}

/// What a difference says about the two variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The interval excludes zero, on the good side.
    Better,
    /// The interval excludes zero, on the bad side.
    Worse,
    /// The interval excludes zero, and more is neither good nor bad.
    Higher,
    /// The interval excludes zero, and less is neither good nor bad.
    Lower,
    /// The interval holds zero.
    Unclear,
    /// The same in every replication.
    Same,
    /// There are too few values for an interval.
    Unknown,
}

impl Verdict {
    /// Reads it off the interval of `variant - base`.
    #[must_use]
    pub fn of(better: Better, interval: Option<&Interval>) -> Verdict {
        let Some(interval) = interval.filter(|interval| interval.half_width.is_some()) else {
            return Verdict::Unknown;
        };
        if interval.mean == 0.0 && interval.half_width == Some(0.0) {
            return Verdict::Same;
        }
        match (Direction::of(interval), better) {
            (Direction::Unclear, _) => Verdict::Unclear,
            (Direction::Below, Better::Lower) | (Direction::Above, Better::Higher) => {
                Verdict::Better
            }
            (Direction::Below, Better::Higher) | (Direction::Above, Better::Lower) => {
                Verdict::Worse
            }
            (Direction::Below, Better::Neither) => Verdict::Lower,
            (Direction::Above, Better::Neither) => Verdict::Higher,
        }
    }

    /// The word in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Higher => "higher",
            Verdict::Lower => "lower",
            Verdict::Unclear => "unclear",
            Verdict::Same => "same",
            Verdict::Unknown => "unknown",
        }
    }
}

/// The paired difference of one measure, `variant - base`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// The variant.
    pub variant: String,
    /// What it is compared with: the first variant.
    pub base: String,
    /// The measure's name.
    pub measure: String,
    /// What it counts in.
    pub unit: Unit,
    /// Which direction is the good one.
    pub better: Better,
    /// Pairs of replications.
    pub n: u64,
    /// The estimate; `None` without pairs.
    pub mean: Option<f64>,
    /// Half the confidence interval's width; `None` with fewer than two pairs.
    pub half_width: Option<f64>,
    /// The interval's lower end.
    pub low: Option<f64>,
    /// The interval's upper end.
    pub high: Option<f64>,
    /// What it says.
    pub verdict: Verdict,
}

/// A point of a distribution function.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CdfPoint {
    /// A wait, seconds.
    pub seconds: f64,
    /// Share of first executes that waited at most that, 0 to 1.
    pub share: f64,
}

/// Cost by one cause, US dollars an hour.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CauseCost {
    /// The cause.
    pub cause: Cause,
    /// The estimate; `None` when no replication had a value.
    pub mean: Option<f64>,
    /// The interval's lower end.
    pub low: Option<f64>,
    /// The interval's upper end.
    pub high: Option<f64>,
}

/// What happened in one bin of time, averaged over the replications. Numbers of sandboxes, of
/// waiters and the limit are averages over the bin's time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bin {
    /// When it begins, seconds from the start of the run.
    pub start_seconds: f64,
    /// Executes that were refused, an hour.
    pub refusals_per_hour: f64,
    /// Executes that wait.
    pub waiting: f64,
    /// Sandboxes that are new, creating or preparing.
    pub starting: f64,
    /// Sandboxes that are warm.
    pub warm: f64,
    /// Sandboxes that are assigned or busy.
    pub in_use: f64,
    /// Sandboxes that are idle.
    pub idle: f64,
    /// Sandboxes in limbo, failed or dead.
    pub in_doubt: f64,
    /// Sandboxes that are being destroyed.
    pub destroying: f64,
    /// The effective limit, in default-class sandboxes.
    pub limit: f64,
}

impl Bin {
    /// The names of [`Bin::numbers`].
    pub(super) const NAMES: [&'static str; 10] = [
        "start_seconds",
        "refusals_per_hour",
        "waiting",
        "starting",
        "warm",
        "in_use",
        "idle",
        "in_doubt",
        "destroying",
        "limit",
    ];

    /// Its numbers, in the order of the fields.
    pub(super) const fn numbers(&self) -> [f64; 10] {
        [
            self.start_seconds,
            self.refusals_per_hour,
            self.waiting,
            self.starting,
            self.warm,
            self.in_use,
            self.idle,
            self.in_doubt,
            self.destroying,
            self.limit,
        ]
    }

    /// The bin of these numbers.
    pub(super) const fn from_numbers(numbers: [f64; 10]) -> Bin {
        let [
            start_seconds,
            refusals_per_hour,
            waiting,
            starting,
            warm,
            in_use,
            idle,
            in_doubt,
            destroying,
            limit,
        ] = numbers;
        Bin {
            start_seconds,
            refusals_per_hour,
            waiting,
            starting,
            warm,
            in_use,
            idle,
            in_doubt,
            destroying,
            limit,
        }
    }
}

impl Results {
    /// The text of `results.json`: keys in the order of the fields, two spaces of indentation, a
    /// newline at the end. Floats are written as the shortest decimal that reads back as the same
    /// bits, so the same results are the same bytes everywhere, and reading is lossless.
    ///
    /// # Errors
    /// When a float is not finite: that would read back as something else.
    pub fn to_json(&self) -> Result<String, ResultsError> {
        if let Some(place) = self.first_not_finite() {
            return Err(ResultsError::NotFinite { place });
        }
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }

    /// Reads what [`Results::to_json`] wrote.
    ///
    /// # Errors
    /// When it is not that, or of another format.
    pub fn from_json(text: &str) -> Result<Results, ResultsError> {
        /// The one field that every version of the format has.
        #[derive(Deserialize)]
        struct Head {
            format: String,
        }
        let Head { format } = serde_json::from_str(text)?;
        if format != FORMAT {
            return Err(ResultsError::Format { found: format });
        }
        Ok(serde_json::from_str(text)?)
    }

    /// Names the first number that is not finite: the JSON writer would turn it into `null`.
    fn first_not_finite(&self) -> Option<String> {
        let broken = |numbers: &[f64]| numbers.iter().any(|number| !number.is_finite());
        let broken_options =
            |numbers: &[Option<f64>]| numbers.iter().flatten().any(|number| !number.is_finite());
        if broken(&[self.confidence]) {
            return Some("confidence".to_owned());
        }
        for variant in &self.variants {
            let name = &variant.name;
            for m in &variant.measures {
                if broken_options(&[m.mean, m.half_width, m.low, m.high]) {
                    return Some(format!("{} of `{name}`", m.name));
                }
            }
            if variant.exposed_wait_cdf.iter().any(|p| broken(&[p.seconds, p.share])) {
                return Some(format!("exposed_wait_cdf of `{name}`"));
            }
            if variant.cost_by_cause.iter().any(|c| broken_options(&[c.mean, c.low, c.high])) {
                return Some(format!("cost_by_cause of `{name}`"));
            }
            if variant.over_time.iter().any(|bin| broken(&bin.numbers())) {
                return Some(format!("over_time of `{name}`"));
            }
        }
        for d in &self.differences {
            if broken_options(&[d.mean, d.half_width, d.low, d.high]) {
                return Some(format!("the difference in {} of `{}`", d.measure, d.variant));
            }
        }
        None
    }

    /// The variant of this name.
    #[must_use]
    pub fn variant(&self, name: &str) -> Option<&VariantResult> {
        self.variants.iter().find(|variant| variant.name == name)
    }
}

impl VariantResult {
    /// One of its measures.
    #[must_use]
    pub fn measure(&self, id: MeasureId) -> Option<&Measure> {
        self.measures.iter().find(|measure| measure.name == id.info().name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::summary::sample_results;

    #[test]
    fn json_reads_back_as_the_same_results_and_the_same_bytes() {
        let results = sample_results();
        let text = results.to_json().unwrap();
        let back = Results::from_json(&text).unwrap();
        assert_eq!(back, results);
        assert_eq!(back.to_json().unwrap(), text);
        assert!(text.starts_with("{\n  \"format\": \"sandpool-results-1\",\n  \"scenario\""));
        assert!(text.ends_with("}\n"));
    }

    #[test]
    fn every_float_survives_the_text() {
        let mut results = sample_results();
        for hard in [0.1 + 0.2, 1e-7, 5e-324, 1.797_693_134_862_315_7e308, 123_456_789.123_456_78] {
            results.variants[0].measures[0].mean = Some(hard);
            let back = Results::from_json(&results.to_json().unwrap()).unwrap();
            assert_eq!(back.variants[0].measures[0].mean, Some(hard));
        }
    }

    #[test]
    fn what_is_not_finite_is_named() {
        let mut results = sample_results();
        results.variants[1].over_time[0].waiting = f64::NAN;
        let error = results.to_json().unwrap_err().to_string();
        assert_eq!(error, "over_time of `warm 3` is not a finite number");
        let mut results = sample_results();
        results.differences[0].low = Some(f64::NEG_INFINITY);
        assert!(matches!(results.to_json(), Err(ResultsError::NotFinite { .. })));
    }

    #[test]
    fn another_format_is_refused_by_name() {
        let text = sample_results().to_json().unwrap().replace(FORMAT, "sandpool-results-0");
        let error = Results::from_json(&text).unwrap_err().to_string();
        assert!(error.contains("sandpool-results-0"), "{error}");
        assert!(matches!(Results::from_json("{}"), Err(ResultsError::Json(_))));
        let extra = sample_results().to_json().unwrap().replacen("{", "{\"extra\": 1,", 1);
        assert!(Results::from_json(&extra).is_err());
    }

    #[test]
    fn verdicts_know_which_way_is_good() {
        let interval = |mean, half| Interval { n: 10, mean, half_width: half };
        for (better, mean, half, verdict) in [
            (Better::Lower, -2.0, Some(1.0), Verdict::Better),
            (Better::Lower, 2.0, Some(1.0), Verdict::Worse),
            (Better::Higher, 2.0, Some(1.0), Verdict::Better),
            (Better::Higher, -2.0, Some(1.0), Verdict::Worse),
            (Better::Neither, -2.0, Some(1.0), Verdict::Lower),
            (Better::Neither, 2.0, Some(1.0), Verdict::Higher),
            (Better::Lower, -1.0, Some(1.0), Verdict::Unclear),
            (Better::Lower, 0.0, Some(0.0), Verdict::Same),
            (Better::Lower, -2.0, None, Verdict::Unknown),
        ] {
            assert_eq!(Verdict::of(better, Some(&interval(mean, half))), verdict);
        }
        assert_eq!(Verdict::of(Better::Lower, None), Verdict::Unknown);
    }
}
