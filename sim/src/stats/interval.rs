//! Intervals over replications.

use super::running::Running;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The confidence of every interval in tables and charts.
pub const CONFIDENCE: f64 = 0.95;

/// An estimate from independent replications, with its two-sided confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Replications that the estimate rests on.
    pub n: u64,
    /// The point estimate, the middle of the interval.
    pub mean: f64,
    /// Half the interval's width; `None` with fewer than two replications, where nothing can be
    /// said about the spread.
    pub half_width: Option<f64>,
}

impl Interval {
    /// The t interval of the mean of independent numbers: mean plus or minus
    /// `t(n-1, (1+confidence)/2) * s / sqrt(n)` (Law, "Simulation Modeling and Analysis", 5th ed.,
    /// section 4.5). `None` without numbers, or when one of them is not finite.
    #[must_use]
    pub fn of(values: &[f64], confidence: f64) -> Option<Interval> {
        Self::of_running(&values.iter().copied().collect(), confidence)
    }

    /// As [`Interval::of`], from a summary.
    #[must_use]
    pub fn of_running(values: &Running, confidence: f64) -> Option<Interval> {
        let mean = values.mean().filter(|mean| mean.is_finite())?;
        let half_width = values
            .standard_error()
            .map(|error| t_quantile(f64::midpoint(1.0, confidence), values.count() - 1) * error);
        Some(Interval { n: values.count(), mean, half_width })
    }

    /// As [`Interval::of`], but around an estimate `centre` that was not made by averaging the
    /// values: the spread is taken about that centre. This is the sectioning interval (Asmussen
    /// and Glynn, "Stochastic Simulation", 2007, section III.5a; Nakayama 2014, "Confidence
    /// intervals for quantiles using sectioning when applying variance-reduction techniques",
    /// ACM TOMACS 24).
    #[must_use]
    pub fn around(centre: f64, values: &[f64], confidence: f64) -> Option<Interval> {
        if values.is_empty() || !centre.is_finite() || values.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let n = values.len() as u64;
        let half_width = (n > 1).then(|| {
            let squares: f64 = values.iter().map(|v| (v - centre) * (v - centre)).sum();
            let error = (squares / (n - 1) as f64 / n as f64).sqrt();
            t_quantile(f64::midpoint(1.0, confidence), n - 1) * error
        });
        Some(Interval { n, mean: centre, half_width })
    }

    /// Lower end; `None` without a half-width.
    #[must_use]
    pub fn low(&self) -> Option<f64> {
        self.half_width.map(|half| self.mean - half)
    }

    /// Upper end; `None` without a half-width.
    #[must_use]
    pub fn high(&self) -> Option<f64> {
        self.half_width.map(|half| self.mean + half)
    }

    /// Half-width over the size of the mean: 0 when both are zero, infinite when only the mean is;
    /// `None` without a half-width.
    #[must_use]
    pub fn relative_half_width(&self) -> Option<f64> {
        self.half_width.map(|half| if half == 0.0 { 0.0 } else { half / self.mean.abs() })
    }

    /// Whether zero lies outside the interval; `false` without a half-width.
    #[must_use]
    pub fn excludes_zero(&self) -> bool {
        self.half_width.is_some_and(|half| self.mean.abs() > half)
    }
}

/// The quantile of Student's t distribution: the number that a t variable with `freedom` degrees
/// of freedom stays below with this `probability`.
///
/// # Panics
/// When `probability` is not strictly between 0 and 1, or `freedom` is 0.
#[must_use]
pub fn t_quantile(probability: f64, freedom: u64) -> f64 {
    assert!(probability > 0.0 && probability < 1.0, "a probability between 0 and 1");
    assert!(freedom > 0, "at least one degree of freedom");
    StudentsT::new(0.0, 1.0, freedom as f64)
        .expect("a positive number of degrees of freedom makes a distribution")
        .inverse_cdf(probability)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::test_random::SplitMix64;

    #[test]
    fn t_quantiles_are_those_of_the_printed_tables() {
        // Two-sided 95 % and 99 %, as in any textbook's table.
        for (freedom, probability, table) in [
            (1, 0.975, 12.706),
            (2, 0.975, 4.303),
            (4, 0.975, 2.776),
            (9, 0.975, 2.262),
            (19, 0.975, 2.093),
            (29, 0.975, 2.045),
            (120, 0.975, 1.980),
            (9, 0.995, 3.250),
            (9, 0.5, 0.0),
        ] {
            let found = t_quantile(probability, freedom);
            assert!((found - table).abs() < 6e-4, "{freedom} {probability}: {found}");
        }
        assert!((t_quantile(0.975, 100_000) - 1.96).abs() < 1e-3);
        assert!((t_quantile(0.025, 9) + t_quantile(0.975, 9)).abs() < 1e-9);
    }

    #[test]
    fn a_known_interval() {
        let interval =
            Interval::of(&[1.20, 1.50, 1.68, 1.89, 0.95, 1.49, 1.58, 1.55, 0.50, 1.09], 0.90)
                .unwrap();
        assert!((interval.mean - 1.343).abs() < 1e-12);
        // s^2 = 0.17 and t(9, 0.95) = 1.833 give 0.24.
        assert!((interval.half_width.unwrap() - 0.24).abs() < 0.005);
        assert!((interval.high().unwrap() - interval.low().unwrap() - 0.48).abs() < 0.01);
        assert!(interval.excludes_zero());
    }

    #[test]
    fn one_number_has_no_width_and_none_has_no_interval() {
        let one = Interval::of(&[3.0], CONFIDENCE).unwrap();
        assert_eq!((one.mean, one.half_width, one.low()), (3.0, None, None));
        assert!(!one.excludes_zero());
        assert_eq!(Interval::of(&[], CONFIDENCE), None);
        assert_eq!(Interval::of(&[1.0, f64::NAN], CONFIDENCE), None);
        assert_eq!(Interval::of(&[1.0, f64::INFINITY], CONFIDENCE), None);
    }

    #[test]
    fn around_the_mean_is_the_t_interval() {
        let values = [2.0, 3.0, 5.0, 8.0];
        let plain = Interval::of(&values, CONFIDENCE).unwrap();
        let around = Interval::around(4.5, &values, CONFIDENCE).unwrap();
        assert!((plain.half_width.unwrap() - around.half_width.unwrap()).abs() < 1e-12);
        let off = Interval::around(5.0, &values, CONFIDENCE).unwrap();
        assert!(off.half_width > plain.half_width);
        assert_eq!(Interval::around(f64::NAN, &values, CONFIDENCE), None);
    }

    #[test]
    fn equal_numbers_have_zero_width() {
        let flat = Interval::of(&[0.0; 5], CONFIDENCE).unwrap();
        assert_eq!(flat.relative_half_width(), Some(0.0));
        assert!(!flat.excludes_zero());
        assert!(Interval::of(&[2.0; 5], CONFIDENCE).unwrap().excludes_zero());
    }

    #[test]
    fn intervals_cover_the_truth_as_often_as_they_say() {
        let seed = 20_261_130;
        println!("seed {seed}");
        let mut random = SplitMix64(seed);
        let (runs, replications) = (2000, 10);
        let mut covered = 0;
        for _ in 0..runs {
            // A replication's output is a mean of many waits, so it is nearly normal.
            let values: Vec<f64> = (0..replications)
                .map(|_| (0..50).map(|_| random.exponential()).sum::<f64>() / 50.0)
                .collect();
            let interval = Interval::of(&values, CONFIDENCE).unwrap();
            if interval.low().unwrap() <= 1.0 && 1.0 <= interval.high().unwrap() {
                covered += 1;
            }
        }
        let share = f64::from(covered) / f64::from(runs);
        assert!((0.93..=0.97).contains(&share), "{share}");
    }
}
