//! How many replications are enough.

use super::interval::Interval;

/// Fewest replications before a precision may end a run: with fewer the half-width itself is too
/// uncertain (Law, "Simulation Modeling and Analysis", 5th ed., section 9.4.1).
pub const MIN_REPLICATIONS: u32 = 10;

/// Why a rule cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum StoppingError {
    /// The precision is out of range.
    #[error(
        "a precision of {0} is out of range; hint: give a relative half-width above 0 and below 1, such as 0.05"
    )]
    Precision(f64),
    /// The limits contradict each other.
    #[error(
        "at most {most} replications are fewer than the least number, {least}; hint: raise max_replications"
    )]
    Limits {
        /// Fewest replications.
        least: u32,
        /// Most replications.
        most: u32,
    },
}

/// What to do after a replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopping {
    /// Simulate another replication.
    Continue,
    /// The precision is reached.
    Reached,
    /// The most replications are made and the precision is not reached; the table must say so.
    GivenUp,
}

/// The sequential rule: replicate until the interval of the mean is narrow enough.
///
/// The half-width over the mean must be at most `gamma / (1 + gamma)`, which makes the error
/// relative to the *true* mean at most gamma (Law, section 9.4.1; Chow and Robbins 1965). The rule
/// looks at one policy's precision and never at whether a difference is significant: stopping at
/// the first significant look finds differences that are not there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoppingRule {
    gamma: f64,
    least: u32,
    most: u32,
}

impl StoppingRule {
    /// A relative half-width `gamma`, strictly between 0 and 1, after `least` to `most`
    /// replications; `least` is raised to [`MIN_REPLICATIONS`].
    ///
    /// # Errors
    /// [`StoppingError`] when `gamma` is out of range or `most` is below the least number.
    pub fn new(gamma: f64, least: u32, most: u32) -> Result<Self, StoppingError> {
        if !(gamma > 0.0 && gamma < 1.0) {
            return Err(StoppingError::Precision(gamma));
        }
        let least = least.max(MIN_REPLICATIONS);
        if most < least {
            return Err(StoppingError::Limits { least, most });
        }
        Ok(Self { gamma, least, most })
    }

    /// What to do after `replications`, with the interval that they gave (`None`: no replication
    /// had a value, as when nothing was served).
    #[must_use]
    pub fn after(&self, replications: u32, interval: Option<&Interval>) -> Stopping {
        let wanted = self.gamma / (1.0 + self.gamma);
        let narrow = interval
            .and_then(Interval::relative_half_width)
            .is_some_and(|relative| relative <= wanted);
        match replications {
            n if n >= self.least && narrow => Stopping::Reached,
            n if n >= self.most => Stopping::GivenUp,
            _ => Stopping::Continue,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::CONFIDENCE;
    use crate::stats::test_random::SplitMix64;

    fn interval(mean: f64, half_width: f64) -> Interval {
        Interval { n: 10, mean, half_width: Some(half_width) }
    }

    #[test]
    fn narrow_enough_is_relative_to_the_true_mean() {
        let rule = StoppingRule::new(0.1, 10, 40).unwrap();
        // 0.1 / 1.1 = 0.0909...
        assert_eq!(rule.after(10, Some(&interval(10.0, 0.909))), Stopping::Reached);
        assert_eq!(rule.after(10, Some(&interval(10.0, 0.910))), Stopping::Continue);
        assert_eq!(rule.after(10, Some(&interval(-10.0, 0.909))), Stopping::Reached);
        assert_eq!(rule.after(40, Some(&interval(10.0, 0.95))), Stopping::GivenUp);
    }

    #[test]
    fn never_before_ten_replications() {
        let rule = StoppingRule::new(0.1, 2, 40).unwrap();
        assert_eq!(rule.after(9, Some(&interval(10.0, 0.0))), Stopping::Continue);
        assert_eq!(rule.after(10, Some(&interval(0.0, 0.0))), Stopping::Reached);
        assert_eq!(rule.after(10, Some(&interval(0.0, 0.1))), Stopping::Continue);
        assert_eq!(rule.after(12, None), Stopping::Continue);
        assert_eq!(rule.after(40, None), Stopping::GivenUp);
    }

    #[test]
    fn bad_rules_are_refused() {
        assert_eq!(StoppingRule::new(0.0, 10, 20), Err(StoppingError::Precision(0.0)));
        assert_eq!(StoppingRule::new(1.0, 10, 20), Err(StoppingError::Precision(1.0)));
        assert!(StoppingRule::new(f64::NAN, 10, 20).is_err());
        assert_eq!(StoppingRule::new(0.1, 5, 9), Err(StoppingError::Limits { least: 10, most: 9 }));
    }

    #[test]
    fn the_wanted_precision_is_mostly_reached() {
        let seed = 31;
        println!("seed {seed}");
        let mut random = SplitMix64(seed);
        let rule = StoppingRule::new(0.1, 10, 5000).unwrap();
        let (runs, mut close) = (300, 0);
        for _ in 0..runs {
            let mut values = Vec::new();
            loop {
                values.push((0..4).map(|_| random.exponential()).sum::<f64>() / 4.0);
                let found = Interval::of(&values, CONFIDENCE).unwrap();
                if rule.after(values.len() as u32, Some(&found)) != Stopping::Continue {
                    close += u32::from((found.mean - 1.0).abs() <= 0.1);
                    break;
                }
            }
        }
        let share = f64::from(close) / f64::from(runs);
        assert!(share >= 0.90, "{share}");
    }
}
