//! From what replications saw to results with intervals.

use super::measures::{Cause, MEASURES, MeasureId};
use super::results::{
    Bin, CauseCost, CdfPoint, Difference, FORMAT, Measure, Results, VariantResult, Verdict,
};
use crate::stats::{
    CONFIDENCE, Histogram, Interval, paired_difference, paired_quantile_difference,
    quantile_interval,
};

/// What the results are about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The scenario's name.
    pub scenario: String,
    /// The question that it answers.
    pub question: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// What is to be known about how the results came about, one sentence each.
    pub notes: Vec<String>,
}

/// What one replication of one variant saw after its warm-up.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    values: Vec<Option<f64>>,
    exposed_wait: Histogram,
    over_time: Vec<Bin>,
}

impl Observed {
    /// From the exposed waits (nanoseconds) of the first executes that were served, one per turn
    /// that ran code. They give the mean, the quantiles and the share that waited; every other
    /// measure is without value until it is [set](Observed::set).
    #[must_use]
    pub fn new(exposed_wait: Histogram) -> Self {
        let mut observed =
            Self { values: vec![None; MEASURES.len()], exposed_wait, over_time: Vec::new() };
        let waits = &observed.exposed_wait;
        let mean = waits.mean_nanos().map(|nanos| nanos / 1e9);
        let waited = waits.share_at_most(0).map(|zero| 1.0 - zero);
        let quantiles: Vec<_> =
            [MeasureId::ExposedWaitP50, MeasureId::ExposedWaitP95, MeasureId::ExposedWaitP99]
                .into_iter()
                .map(|id| {
                    let nanos = quantile_of(id).and_then(|q| observed.exposed_wait.quantile(q));
                    (id, nanos.map(|nanos| nanos as f64 / 1e9))
                })
                .collect();
        observed.put(MeasureId::ExposedWaitMean, mean);
        observed.put(MeasureId::WaitedShare, waited);
        for (id, seconds) in quantiles {
            observed.put(id, seconds);
        }
        observed
    }

    /// Sets a measure. What is not finite counts as no value: a share of nothing, for instance.
    pub fn set(&mut self, id: MeasureId, value: f64) {
        self.put(id, Some(value));
    }

    /// Sets a measure to `part / whole`, and to no value where the whole is zero.
    pub fn set_ratio(&mut self, id: MeasureId, part: f64, whole: f64) {
        self.put(id, Some(part / whole));
    }

    fn put(&mut self, id: MeasureId, value: Option<f64>) {
        self.values[id as usize] = value.filter(|value| value.is_finite());
    }

    /// A measure's value.
    #[must_use]
    pub fn get(&self, id: MeasureId) -> Option<f64> {
        self.values[id as usize]
    }

    /// The exposed waits.
    #[must_use]
    pub const fn exposed_wait(&self) -> &Histogram {
        &self.exposed_wait
    }

    /// Sets what happened over time, in bins that begin at the same times in every replication.
    pub fn set_over_time(&mut self, bins: Vec<Bin>) {
        self.over_time = bins;
    }
}

/// Every replication of one variant; replication `i` of each variant met the same luck.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedVariant {
    /// The variant's name.
    pub name: String,
    /// What it overrides, as `key = value` lines.
    pub overrides: Vec<String>,
    /// One per replication, in their order.
    pub replications: Vec<Observed>,
}

impl ObservedVariant {
    fn values(&self, id: MeasureId) -> Vec<Option<f64>> {
        self.replications.iter().map(|observed| observed.get(id)).collect()
    }

    fn waits(&self) -> impl Iterator<Item = &Histogram> {
        self.replications.iter().map(Observed::exposed_wait)
    }
}

/// The quantile that a measure is, if it is one.
const fn quantile_of(id: MeasureId) -> Option<f64> {
    match id {
        MeasureId::ExposedWaitP50 => Some(0.5),
        MeasureId::ExposedWaitP95 => Some(0.95),
        MeasureId::ExposedWaitP99 => Some(0.99),
        _ => None,
    }
}

/// The 95 % interval of a measure over replications, as the tables show it: for sequential
/// stopping, and for anything else that looks at results before they are complete.
#[must_use]
pub fn interval_of(replications: &[Observed], id: MeasureId) -> Option<Interval> {
    match quantile_of(id) {
        Some(q) => {
            let waits = replications.iter().map(Observed::exposed_wait);
            quantile_interval(waits, q, CONFIDENCE)
        }
        None => {
            let values: Vec<f64> =
                replications.iter().filter_map(|observed| observed.get(id)).collect();
            Interval::of(&values, CONFIDENCE)
        }
    }
}

/// Sums up: intervals over replications for every measure, and paired differences of every further
/// variant against the first.
#[must_use]
pub fn summarise(setting: Setting, variants: &[ObservedVariant]) -> Results {
    let differences = match variants.split_first() {
        Some((base, others)) => others.iter().flat_map(|other| differences(base, other)).collect(),
        None => Vec::new(),
    };
    let replications = variants.iter().map(|variant| variant.replications.len()).max();
    Results {
        format: FORMAT.to_owned(),
        scenario: setting.scenario,
        question: setting.question,
        seed: setting.seed,
        replications: replications.unwrap_or(0) as u64,
        confidence: CONFIDENCE,
        notes: setting.notes,
        variants: variants.iter().map(variant_result).collect(),
        differences,
    }
}

fn variant_result(variant: &ObservedVariant) -> VariantResult {
    let measures: Vec<Measure> = MEASURES
        .iter()
        .map(|info| Measure::new(info.id, interval_of(&variant.replications, info.id).as_ref()))
        .collect();
    let cost_by_cause = Cause::ALL
        .into_iter()
        .map(|cause| {
            let Measure { mean, low, high, .. } = measures[cause.measure() as usize];
            CauseCost { cause, mean, low, high }
        })
        .collect();
    VariantResult {
        name: variant.name.clone(),
        overrides: variant.overrides.clone(),
        measures,
        exposed_wait_cdf: cdf_points(&variant.replications),
        cost_by_cause,
        over_time: mean_over_time(&variant.replications),
    }
}

fn differences(base: &ObservedVariant, other: &ObservedVariant) -> Vec<Difference> {
    MEASURES
        .iter()
        .map(|info| {
            let interval = match quantile_of(info.id) {
                Some(q) => paired_quantile_difference(base.waits(), other.waits(), q, CONFIDENCE),
                None => {
                    paired_difference(&base.values(info.id), &other.values(info.id), CONFIDENCE)
                }
            };
            Difference {
                variant: other.name.clone(),
                base: base.name.clone(),
                measure: info.name.to_owned(),
                unit: info.unit,
                better: info.better,
                n: interval.map_or(0, |interval| interval.n),
                mean: interval.map(|interval| interval.mean),
                half_width: interval.and_then(|interval| interval.half_width),
                low: interval.and_then(|interval| interval.low()),
                high: interval.and_then(|interval| interval.high()),
                verdict: Verdict::of(info.better, interval.as_ref()),
            }
        })
        .collect()
}

/// The pooled distribution function, thinned to what a chart can show: a point is kept when it is
/// 1 % of the shares or 3 % of the seconds away from the last one that was kept. The first point
/// is at zero seconds, with the share that did not wait.
fn cdf_points(replications: &[Observed]) -> Vec<CdfPoint> {
    let mut pooled = Histogram::new();
    for observed in replications {
        pooled.merge(&observed.exposed_wait);
    }
    let Some(none) = pooled.share_at_most(0) else { return Vec::new() };
    let mut points = vec![CdfPoint { seconds: 0.0, share: none }];
    let mut last_seen = None;
    for (nanos, share) in pooled.cdf().filter(|(nanos, _)| *nanos > 0) {
        let point = CdfPoint { seconds: nanos as f64 / 1e9, share };
        let kept = points[points.len() - 1];
        if share - kept.share >= 0.01 || point.seconds >= kept.seconds * 1.03 {
            points.push(point);
            last_seen = None;
        } else {
            last_seen = Some(point);
        }
    }
    points.extend(last_seen);
    points
}

/// Bin by bin, the mean over the replications that have the bin.
fn mean_over_time(replications: &[Observed]) -> Vec<Bin> {
    let bins = replications.iter().map(|observed| observed.over_time.len()).max().unwrap_or(0);
    (0..bins)
        .map(|index| {
            let mut sums = [0.0; Bin::NAMES.len()];
            let mut count = 0.0;
            for bin in replications.iter().filter_map(|observed| observed.over_time.get(index)) {
                for (sum, number) in sums.iter_mut().zip(bin.numbers()) {
                    *sum += number;
                }
                count += 1.0;
            }
            Bin::from_numbers(sums.map(|sum| sum / count))
        })
        .collect()
}

/// Results of two made-up variants, for the tests of this folder.
#[cfg(test)]
pub(crate) fn sample_results() -> Results {
    summarise(tests::setting(), &tests::sample_variants())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::test_random::SplitMix64;

    pub(super) fn setting() -> Setting {
        Setting {
            scenario: "sample".to_owned(),
            question: "Does a warm pool of three help?".to_owned(),
            seed: 1,
            notes: vec!["Made up for tests.".to_owned()],
        }
    }

    pub(super) fn sample_variants() -> Vec<ObservedVariant> {
        ["base", "warm 3"]
            .into_iter()
            .enumerate()
            .map(|(index, name)| {
                let mut random = SplitMix64(99);
                let replications = (0..10)
                    .map(|_| {
                        let luck = 1.0 + random.uniform();
                        let mut waits = Histogram::new();
                        for _ in 0..300 {
                            let nanos = (random.exponential() * luck * 2e9) as u64;
                            let warm = random.uniform() < 0.3 + 0.4 * index as f64;
                            waits.record(if warm { 0 } else { nanos });
                        }
                        let mut observed = Observed::new(waits);
                        observed.set(MeasureId::CostTotal, 0.4 * luck + 0.1 * index as f64);
                        observed.set(MeasureId::CostBusy, 0.2);
                        observed.set(MeasureId::CostWarm, 0.1 * index as f64);
                        observed.set(MeasureId::Turns, 300.0);
                        observed.set_ratio(MeasureId::RefusedShare, 0.0, 0.0);
                        observed.set_over_time(vec![
                            Bin { waiting: luck, limit: 10.0, ..Bin::default() },
                            Bin { start_seconds: 60.0, limit: 10.0, ..Bin::default() },
                        ]);
                        observed
                    })
                    .collect();
                let overrides = match index {
                    0 => Vec::new(),
                    _ => vec!["warm_sandboxes = 3".to_owned()],
                };
                ObservedVariant { name: name.to_owned(), overrides, replications }
            })
            .collect()
    }

    #[test]
    fn waits_give_their_measures() {
        let mut waits = Histogram::new();
        for seconds in [0, 0, 0, 4] {
            waits.record(seconds * 1_000_000_000);
        }
        let observed = Observed::new(waits);
        assert_eq!(observed.get(MeasureId::ExposedWaitMean), Some(1.0));
        assert_eq!(observed.get(MeasureId::WaitedShare), Some(0.25));
        assert_eq!(observed.get(MeasureId::ExposedWaitP50), Some(0.0));
        assert_eq!(observed.get(MeasureId::ExposedWaitP99), Some(4.0));
        assert_eq!(observed.get(MeasureId::Turns), None);
        assert_eq!(Observed::new(Histogram::new()).get(MeasureId::ExposedWaitMean), None);
    }

    #[test]
    fn a_share_of_nothing_is_no_value() {
        let mut observed = Observed::new(Histogram::new());
        observed.set_ratio(MeasureId::RefusedShare, 0.0, 0.0);
        assert_eq!(observed.get(MeasureId::RefusedShare), None);
        observed.set_ratio(MeasureId::RefusedShare, 1.0, 4.0);
        assert_eq!(observed.get(MeasureId::RefusedShare), Some(0.25));
        observed.set(MeasureId::RefusedShare, f64::INFINITY);
        assert_eq!(observed.get(MeasureId::RefusedShare), None);
    }

    #[test]
    fn differences_agree_with_the_means_and_their_verdicts_with_the_direction() {
        let results = sample_results();
        let (base, warm) = (&results.variants[0], &results.variants[1]);
        for id in [
            MeasureId::ExposedWaitMean,
            MeasureId::ExposedWaitP95,
            MeasureId::WaitedShare,
            MeasureId::CostTotal,
        ] {
            let of = |variant: &VariantResult| variant.measure(id).unwrap().mean.unwrap();
            let name = id.info().name;
            let found = results.differences.iter().find(|d| d.measure == name).unwrap();
            assert!((found.mean.unwrap() - (of(warm) - of(base))).abs() < 1e-12, "{name}");
            assert_eq!((found.n, found.variant.as_str()), (10, "warm 3"));
        }
        let verdict =
            |name: &str| results.differences.iter().find(|d| d.measure == name).unwrap().verdict;
        assert_eq!(verdict("exposed_wait_mean"), Verdict::Better);
        assert_eq!(verdict("cost_total_per_hour"), Verdict::Worse);
        assert_eq!(verdict("turns"), Verdict::Same);
        assert_eq!(verdict("refused_share"), Verdict::Unknown);
    }

    #[test]
    fn sharing_luck_shows_in_the_differences() {
        let results = sample_results();
        let alone = results.variants[1].measure(MeasureId::CostTotal).unwrap().half_width.unwrap();
        let paired = results
            .differences
            .iter()
            .find(|d| d.measure == "cost_total_per_hour")
            .and_then(|d| d.half_width)
            .unwrap();
        assert!(paired < alone / 100.0, "{paired} against {alone}");
    }

    #[test]
    fn the_cdf_is_thin_and_whole() {
        let points = &sample_results().variants[0].exposed_wait_cdf;
        assert_eq!(points[0].seconds, 0.0);
        assert!((0.2..0.4).contains(&points[0].share));
        assert_eq!(points[points.len() - 1].share, 1.0);
        assert!(points.is_sorted_by(|a, b| a.seconds < b.seconds && a.share < b.share));
        assert!((20..700).contains(&points.len()), "{}", points.len());
    }

    #[test]
    fn bins_are_means_over_replications() {
        let variants = sample_variants();
        let expected: f64 =
            variants[0].replications.iter().map(|r| r.over_time[0].waiting).sum::<f64>() / 10.0;
        let bins = &summarise(setting(), &variants).variants[0].over_time;
        assert_eq!((bins.len(), bins[1].start_seconds), (2, 60.0));
        assert!((bins[0].waiting - expected).abs() < 1e-12);
        assert_eq!(bins[0].limit, 10.0);
    }

    #[test]
    fn nothing_gives_empty_results() {
        let results = summarise(setting(), &[]);
        assert_eq!((results.replications, results.differences.len()), (0, 0));
        let empty = ObservedVariant {
            name: "none".to_owned(),
            overrides: Vec::new(),
            replications: Vec::new(),
        };
        let results = summarise(setting(), &[empty]);
        let measure = &results.variants[0].measures[0];
        assert_eq!((measure.n, measure.mean, measure.low), (0, None, None));
        assert!(results.to_json().is_ok());
    }
}
