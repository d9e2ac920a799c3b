//! How well a caller foresees at a turn's begin whether the turn will run code.

use crate::random::Stream;
use rand_distr::{Distribution as _, StandardNormal};
use statrs::distribution::{ContinuousCDF, Normal};

/// What the caller says at a turn's begin.
///
/// The caller is modelled as one who sees a signal, normal with variance 1 around `separation` in
/// turns that run code and around 0 in others, and who knows the base rate: it says the posterior
/// probability, rounded to whole percent. So its estimates are calibrated (of the turns said to be
/// 70 % likely, 70 % run code), and how much they tell is set by one number, the quality: twice the
/// area under the ROC curve less 1, the Gini coefficient. Quality 0 always says the base rate,
/// quality 1 says 0 or 100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Hint {
    /// Says nothing.
    Silent,
    /// Always says the base rate.
    BaseRate { percent: u8 },
    /// Says the truth.
    Truth,
    /// Sees a signal.
    Signal { separation: f64, base_log_odds: f64 },
}

impl Hint {
    /// What a caller of this quality (0 to 1; `None` says nothing) says about turns of which this
    /// share (0 to 1) runs code.
    pub(crate) fn new(quality: Option<f64>, base_rate: f64) -> Self {
        let Some(quality) = quality else { return Hint::Silent };
        if !(base_rate > 0.0 && base_rate < 1.0 && quality > 0.0) {
            return Hint::BaseRate { percent: percent(base_rate) };
        }
        // For two normals of equal variance the area is the distribution function at
        // separation / sqrt(2).
        let standard = Normal::standard();
        let separation = std::f64::consts::SQRT_2 * standard.inverse_cdf(0.5 + quality / 2.0);
        if separation.is_finite() {
            let base_log_odds = libm::log(base_rate / (1.0 - base_rate));
            Hint::Signal { separation, base_log_odds }
        } else {
            Hint::Truth
        }
    }

    /// What the caller says about a turn of which this is the truth, percent.
    #[inline]
    pub(crate) fn say(&self, truth: bool, stream: impl FnOnce() -> Stream) -> Option<u8> {
        match *self {
            Hint::Silent => None,
            Hint::BaseRate { percent } => Some(percent),
            Hint::Truth => Some(if truth { 100 } else { 0 }),
            Hint::Signal { separation, base_log_odds } => {
                let noise: f64 = StandardNormal.sample(&mut stream());
                let signal = noise + if truth { separation } else { 0.0 };
                // The logarithm of the likelihood ratio of the two normals at this signal.
                let evidence = separation * signal - separation * separation / 2.0;
                Some(percent(1.0 / (1.0 + libm::exp(-base_log_odds - evidence))))
            }
        }
    }
}

fn percent(share: f64) -> u8 {
    // `as` saturates and maps NaN to 0.
    (share * 100.0).round().min(100.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, StreamFamily};

    const TURNS: u64 = 60_000;
    const SEED: u64 = 19;

    /// What is said about each of many turns, with the truth.
    fn said(quality: f64, base_rate: f64) -> Vec<(u8, bool)> {
        let hint = Hint::new(Some(quality), base_rate);
        let truths = StreamFamily::new(SEED, 0, Purpose::NeedsCode);
        let hints = StreamFamily::new(SEED, 0, Purpose::Hint);
        (0..TURNS)
            .map(|n| {
                let truth = truths.entity(n).chance(base_rate);
                (hint.say(truth, || hints.entity(n)).unwrap(), truth)
            })
            .collect()
    }

    #[test]
    fn estimates_are_calibrated() {
        let said = said(0.6, 0.3);
        for decile in 0..10u8 {
            let group: Vec<_> = said.iter().filter(|(p, _)| p / 10 == decile).collect();
            let n = group.len() as f64;
            let estimate = group.iter().map(|(p, _)| f64::from(*p) / 100.0).sum::<f64>() / n;
            let truth = group.iter().filter(|(_, truth)| *truth).count() as f64 / n;
            let error = (estimate * (1.0 - estimate) / n).sqrt();
            // Rounding to whole percent can shift a group by up to half a percent.
            let off = (truth - estimate).abs();
            assert!(off < 4.0 * error + 0.005, "seed {SEED}: {estimate} said, {truth} true");
        }
    }

    #[test]
    fn quality_is_twice_the_area_under_the_curve_less_one() {
        for quality in [0.2, 0.6, 0.9] {
            // Ranks by counting sort: for each pair of a turn with and one without code, whether
            // the estimate was larger (1), equal (1/2) or smaller (0).
            let (mut with, mut without) = ([0f64; 101], [0f64; 101]);
            for (percent, truth) in said(quality, 0.4) {
                let counts = if truth { &mut with } else { &mut without };
                counts[usize::from(percent)] += 1.0;
            }
            let (mut below, mut area) = (0.0, 0.0);
            for percent in 0..=100 {
                area += with[percent] * (below + without[percent] / 2.0);
                below += without[percent];
            }
            area /= with.iter().sum::<f64>() * below;
            let found = 2.0 * area - 1.0;
            assert!((found - quality).abs() < 0.012, "seed {SEED}: {found}, expected {quality}");
        }
    }

    #[test]
    fn the_ends_know_nothing_and_everything() {
        assert!(said(0.0, 0.3).iter().all(|(percent, _)| *percent == 30));
        assert!(said(1.0, 0.3).iter().all(|(p, truth)| *p == if *truth { 100 } else { 0 }));
        assert_eq!(Hint::new(Some(0.5), 1.0), Hint::BaseRate { percent: 100 });
        assert_eq!(Hint::new(Some(0.5), 0.0), Hint::BaseRate { percent: 0 });
        assert_eq!(Hint::new(None, 0.5), Hint::Silent);
    }
}
