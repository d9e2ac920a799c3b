//! Distributions as a scenario names them, and how values are drawn from them.
//!
//! Where a closed form allows it a value is the inverse of the distribution function at one uniform
//! number, so one draw is one number and a larger parameter gives a larger value from the same
//! luck, which is what makes paired comparisons sharp. The normal variate behind the log-normal
//! and the gamma variate come from `rand_distr`.
//!
//! Logarithms are our own, exponentials and powers come from `libm`: both use ordinary arithmetic
//! and so give the same bits on every platform, while the functions of the standard library differ
//! in the last bit between platforms. What `rand_distr` computes itself (the tail of the
//! normal, powers in a gamma of shape below 1) uses `libm` too unless another crate of the build
//! switches `num-traits` to the standard library, so nothing may depend on the last bit of those.

use super::logarithm::ln;
use super::stream::Stream;
use rand_distr::{Distribution as _, StandardNormal};
use sandpool_core::Span;

/// A distribution of non-negative numbers, in whatever unit its key states (seconds, counts).
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Always this value.
    Constant(f64),
    /// Evenly between two values.
    Uniform {
        /// Smallest value, at least 0.
        min: f64,
        /// Largest value, at least `min`.
        max: f64,
    },
    /// Memoryless.
    Exponential {
        /// Mean, at least 0.
        mean: f64,
    },
    /// Logarithm is normal.
    LogNormal {
        /// Mean of the logarithm.
        mu: f64,
        /// Standard deviation of the logarithm, at least 0.
        sigma: f64,
    },
    /// Weibull.
    Weibull {
        /// Shape, above 0; below 1 the tail is heavier than exponential.
        shape: f64,
        /// Scale, at least 0.
        scale: f64,
    },
    /// Gamma.
    Gamma {
        /// Shape, above 0.
        shape: f64,
        /// Scale, at least 0; the mean is shape times scale.
        scale: f64,
    },
    /// Number of trials up to and including the first success: 1, 2, 3, ...
    Geometric {
        /// Mean, at least 1.
        mean: f64,
    },
    /// One of these values, each as likely as it occurs in the list.
    Values(Vec<f64>),
    /// One of several distributions, with relative weights.
    Mixture(Vec<(f64, Distribution)>),
}

/// What is wrong with a distribution's parameters.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DistributionError {
    /// A parameter is out of its range.
    #[error("{parameter} of {distribution} is {value}, not {range}")]
    OutOfRange {
        /// The distribution, as a scenario file writes it.
        distribution: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// Its value.
        value: f64,
        /// The range, in words.
        range: &'static str,
    },
    /// A list of values or of parts is empty.
    #[error("{0} is empty")]
    Empty(&'static str),
}

const AT_LEAST_ZERO: &str = "a finite number of at least 0";
const ABOVE_ZERO: &str = "a finite number above 0";

impl Distribution {
    /// The next value: finite and at least 0. A constant takes nothing from the stream. Parameters
    /// that [`Distribution::validate`] refuses give some value in that range, never a panic.
    #[inline]
    pub fn sample(&self, stream: &mut Stream) -> f64 {
        let value = match *self {
            Distribution::Constant(value) => value,
            Distribution::Exponential { mean } => mean * unit_exponential(stream),
            _ => self.sample_slow(stream),
        };
        // In this order, so that NaN becomes 0.
        if value > 0.0 { value.min(f64::MAX) } else { 0.0 }
    }

    /// The next value as a length of time, the distribution's unit being seconds, rounded to whole
    /// nanoseconds. Anything beyond 584 years is [`Span::MAX`], without bound.
    #[inline]
    pub fn sample_span(&self, stream: &mut Stream) -> Span {
        to_span(self.sample(stream))
    }

    /// The next value as a count: rounded to the nearest whole number, at least 1 and at most
    /// `u32::MAX`.
    #[inline]
    pub fn sample_count(&self, stream: &mut Stream) -> u32 {
        to_count(self.sample(stream))
    }

    // Kept out of the callers, so that the two cheap cases above can be inlined there.
    #[inline(never)]
    fn sample_slow(&self, stream: &mut Stream) -> f64 {
        match self {
            Distribution::Constant(_) | Distribution::Exponential { .. } => self.sample(stream),
            Distribution::Uniform { min, max } => min + (max - min) * stream.uniform(),
            Distribution::LogNormal { mu, sigma } => {
                let normal: f64 = StandardNormal.sample(stream);
                libm::exp(mu + sigma * normal)
            }
            Distribution::Weibull { shape, scale } => {
                scale * libm::pow(unit_exponential(stream).max(0.0), 1.0 / shape)
            }
            Distribution::Gamma { shape, scale } => {
                // Fails only for parameters that `validate` refuses, or for a scale of 0.
                rand_distr::Gamma::new(*shape, *scale).map_or(0.0, |gamma| gamma.sample(stream))
            }
            Distribution::Geometric { mean } => {
                if *mean <= 1.0 {
                    return 1.0;
                }
                // The number of whole mean lifetimes of a failure that an exponential lasts.
                let failure = -libm::log1p(-1.0 / mean);
                1.0 + (unit_exponential(stream) / failure).floor().max(0.0)
            }
            Distribution::Values(values) => {
                let index = stream.below(values.len() as u64);
                values.get(index as usize).copied().unwrap_or(0.0)
            }
            Distribution::Mixture(parts) => {
                let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
                let mut place = stream.uniform() * total;
                let mut chosen = None;
                for (weight, part) in parts {
                    // A part of weight zero is never the last resort of rounding.
                    if *weight > 0.0 {
                        chosen = Some(part);
                        if place < *weight {
                            break;
                        }
                        place -= weight;
                    }
                }
                chosen.map_or(0.0, |part| part.sample(stream))
            }
        }
    }

    /// The mean, in closed form; infinite where it is too large for a number, NaN where parameters
    /// or lists are unusable. It is the mean of [`Distribution::sample`], not of the rounded
    /// [`Distribution::sample_count`].
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self {
            Distribution::Constant(value) => *value,
            Distribution::Uniform { min, max } => min + (max - min) / 2.0,
            Distribution::Exponential { mean } => *mean,
            Distribution::LogNormal { mu, sigma } => libm::exp(mu + sigma * sigma / 2.0),
            Distribution::Weibull { shape, scale } => scale * libm::tgamma(1.0 + 1.0 / shape),
            Distribution::Gamma { shape, scale } => shape * scale,
            Distribution::Geometric { mean } => mean.max(1.0),
            Distribution::Values(values) => values.iter().sum::<f64>() / values.len() as f64,
            Distribution::Mixture(parts) => {
                let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
                parts
                    .iter()
                    .filter(|(weight, _)| *weight > 0.0)
                    .map(|(weight, part)| weight / total * part.mean())
                    .sum()
            }
        }
    }

    /// Whether every value is 0, so that nothing needs to be drawn or waited for.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        matches!(self, Distribution::Constant(value) if *value == 0.0)
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// The first parameter that is out of its range, or an empty list.
    pub fn validate(&self) -> Result<(), DistributionError> {
        let at_least_zero = |distribution, parameter, value: f64| {
            in_range(distribution, parameter, value, value >= 0.0, AT_LEAST_ZERO)
        };
        let above_zero = |distribution, parameter, value: f64| {
            in_range(distribution, parameter, value, value > 0.0, ABOVE_ZERO)
        };
        match self {
            Distribution::Constant(value) => at_least_zero("constant", "value", *value),
            Distribution::Uniform { min, max } => {
                at_least_zero("uniform", "min", *min)?;
                in_range("uniform", "max", *max, max >= min, "a finite number of at least min")
            }
            Distribution::Exponential { mean } => at_least_zero("exponential", "mean", *mean),
            Distribution::LogNormal { mu, sigma } => {
                in_range("lognormal", "mu", *mu, true, "a finite number")?;
                at_least_zero("lognormal", "sigma", *sigma)
            }
            Distribution::Weibull { shape, scale } => {
                above_zero("weibull", "shape", *shape)?;
                at_least_zero("weibull", "scale", *scale)
            }
            Distribution::Gamma { shape, scale } => {
                above_zero("gamma", "shape", *shape)?;
                at_least_zero("gamma", "scale", *scale)
            }
            Distribution::Geometric { mean } => {
                in_range("geometric", "mean", *mean, *mean >= 1.0, "a finite number of at least 1")
            }
            Distribution::Values(values) => {
                if values.is_empty() {
                    return Err(DistributionError::Empty("values"));
                }
                values.iter().try_for_each(|&value| at_least_zero("values", "value", value))
            }
            Distribution::Mixture(parts) => {
                if parts.is_empty() {
                    return Err(DistributionError::Empty("mixture"));
                }
                for (weight, part) in parts {
                    at_least_zero("mixture", "weight", *weight)?;
                    part.validate()?;
                }
                above_zero("mixture", "sum of weights", parts.iter().map(|(w, _)| w).sum())
            }
        }
    }
}

fn in_range(
    distribution: &'static str,
    parameter: &'static str,
    value: f64,
    holds: bool,
    range: &'static str,
) -> Result<(), DistributionError> {
    if value.is_finite() && holds {
        Ok(())
    } else {
        Err(DistributionError::OutOfRange { distribution, parameter, value, range })
    }
}

/// An exponential variate of mean 1, by inversion: up to 36.7, and not below 0 but for rounding.
#[inline]
pub(crate) fn unit_exponential(stream: &mut Stream) -> f64 {
    // 1 - u is a multiple of 2^-53 and above 0, so the logarithm is finite.
    -ln(1.0 - stream.uniform())
}

/// The nearest whole number that is at least 1 and at most `u32::MAX`; 1 for NaN.
#[inline]
pub(crate) fn to_count(value: f64) -> u32 {
    // `as` saturates and maps NaN to 0.
    ((value + 0.5) as u32).max(1)
}

/// Seconds to the nearest nanosecond; zero for negative numbers and NaN, [`Span::MAX`] for what is
/// too large.
#[inline]
pub(crate) fn to_span(seconds: f64) -> Span {
    to_nanos(seconds * 1e9)
}

/// As [`to_span`], of a number of nanoseconds.
#[inline]
pub(crate) fn to_nanos(nanos: f64) -> Span {
    // Adding a half and cutting off rounds as `Span::from_secs_f64` does for all but a few numbers
    // that are a half within the last bit, and spares a call of a rounding function. Below 2^62 the
    // conversion goes by signed numbers, which processors do in one step.
    const SIGNED: f64 = (1u64 << 62) as f64;
    let rounded = nanos + 0.5;
    Span::from_nanos(if rounded < SIGNED { (rounded as i64).max(0) as u64 } else { rounded as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;
    use Distribution::*;

    const DRAWS: u64 = 200_000;

    /// Draws from one stream for each entity, as the simulator does.
    fn draws(distribution: &Distribution, seed: u64) -> Vec<f64> {
        (0..DRAWS)
            .map(|entity| distribution.sample(&mut Stream::new(seed, 0, Purpose::Oracle, entity)))
            .collect()
    }

    /// Checks the mean against the closed form, at 4 standard errors.
    fn check_mean(distribution: &Distribution, variance: f64, seed: u64) {
        let values = draws(distribution, seed);
        let mean = values.iter().sum::<f64>() / DRAWS as f64;
        let error = (variance / DRAWS as f64).sqrt();
        let expected = distribution.mean();
        assert!(
            (mean - expected).abs() <= 4.0 * error + 1e-12,
            "{distribution:?}, seed {seed}: mean {mean}, expected {expected}, SE {error}"
        );
    }

    /// Checks that the share of draws at or below `x` is `p`, at 4 standard errors.
    fn check_quantile(distribution: &Distribution, p: f64, x: f64, seed: u64) {
        let share =
            draws(distribution, seed).iter().filter(|&&v| v <= x).count() as f64 / DRAWS as f64;
        let error = (p * (1.0 - p) / DRAWS as f64).sqrt();
        assert!(
            (share - p).abs() <= 4.0 * error,
            "{distribution:?}, seed {seed}: share {share} at or below {x}, expected {p}"
        );
    }

    #[test]
    fn means_match_their_closed_forms() {
        let gamma = |x: f64| libm::tgamma(x);
        check_mean(&Constant(2.5), 0.0, 1);
        check_mean(&Uniform { min: 2.0, max: 5.0 }, 9.0 / 12.0, 2);
        check_mean(&Exponential { mean: 10.0 }, 100.0, 3);
        let (mu, sigma) = (1.93f64, 0.677f64);
        let variance = ((sigma * sigma).exp() - 1.0) * (2.0 * mu + sigma * sigma).exp();
        check_mean(&LogNormal { mu, sigma }, variance, 4);
        let (shape, scale) = (0.62, 290.0);
        let variance =
            scale * scale * (gamma(1.0 + 2.0 / shape) - gamma(1.0 + 1.0 / shape).powi(2));
        check_mean(&Weibull { shape, scale }, variance, 5);
        check_mean(&Gamma { shape: 3.5, scale: 2.0 }, 3.5 * 4.0, 6);
        check_mean(&Gamma { shape: 0.2, scale: 2.0 }, 0.2 * 4.0, 7);
        check_mean(&Geometric { mean: 5.5 }, 5.5 * 4.5, 8);
        check_mean(&Values(vec![1.0, 2.0, 2.0, 7.0]), 5.5, 9);
        let mixture = Mixture(vec![(3.0, Constant(1.0)), (1.0, Exponential { mean: 5.0 })]);
        // E[X^2] = 3/4 + 50/4, E[X] = 2.
        check_mean(&mixture, 53.0 / 4.0 - 4.0, 10);
    }

    #[test]
    fn quantiles_match_their_closed_forms() {
        check_quantile(&Uniform { min: 2.0, max: 5.0 }, 0.9, 4.7, 11);
        let ln2 = std::f64::consts::LN_2;
        check_quantile(&Exponential { mean: 10.0 }, 0.5, 10.0 * ln2, 12);
        check_quantile(&Exponential { mean: 10.0 }, 0.99, 10.0 * 100f64.ln(), 13);
        let shell = LogNormal { mu: -0.586, sigma: 1.476 };
        check_quantile(&shell, 0.5, (-0.586f64).exp(), 14);
        // 2.3263 is the 99 % quantile of the standard normal.
        check_quantile(&shell, 0.99, (-0.586f64 + 1.476 * 2.326_347_9).exp(), 15);
        check_quantile(&shell, 0.01, (-0.586f64 - 1.476 * 2.326_347_9).exp(), 16);
        check_quantile(
            &Weibull { shape: 0.62, scale: 290.0 },
            0.5,
            290.0 * ln2.powf(1.0 / 0.62),
            17,
        );
        // The sum of two exponentials: 1 - (1 + x) e^-x.
        let x = 3.0f64;
        check_quantile(&Gamma { shape: 2.0, scale: 1.0 }, 1.0 - (1.0 + x) * (-x).exp(), x, 18);
        check_quantile(&Geometric { mean: 4.0 }, 0.25, 1.0, 19);
        check_quantile(&Geometric { mean: 4.0 }, 1.0 - 0.75f64.powi(3), 3.0, 20);
        check_quantile(&Values(vec![1.0, 2.0, 2.0, 7.0]), 0.75, 2.0, 21);
    }

    #[test]
    fn a_larger_parameter_gives_a_larger_value_from_the_same_luck() {
        let pairs = [
            (Exponential { mean: 1.0 }, Exponential { mean: 2.0 }),
            (LogNormal { mu: 0.0, sigma: 1.0 }, LogNormal { mu: 0.5, sigma: 1.0 }),
            (Weibull { shape: 0.6, scale: 1.0 }, Weibull { shape: 0.6, scale: 1.5 }),
            (Geometric { mean: 2.0 }, Geometric { mean: 4.0 }),
        ];
        for (small, large) in pairs {
            for (a, b) in draws(&small, 30).into_iter().zip(draws(&large, 30)) {
                assert!(a <= b, "{small:?} gave {a}, {large:?} gave {b}");
            }
        }
    }

    #[test]
    fn constants_take_nothing_from_the_stream() {
        let mut stream = Stream::new(1, 0, Purpose::Think, 1);
        let before = stream.clone();
        assert_eq!(Constant(3.0).sample(&mut stream), 3.0);
        assert_eq!(Constant(1.25).sample_span(&mut stream), Span::from_millis(1250));
        assert_eq!(Constant(0.0).sample_count(&mut stream), 1);
        assert_eq!(Constant(2.5).sample_count(&mut stream), 3);
        assert_eq!(stream, before);
    }

    #[test]
    fn extreme_and_invalid_parameters_stay_finite_and_not_negative() {
        let odd = [
            Constant(f64::NAN),
            Constant(f64::INFINITY),
            Constant(-1.0),
            Uniform { min: 0.0, max: f64::MAX },
            Exponential { mean: f64::MAX },
            Exponential { mean: -1.0 },
            LogNormal { mu: 700.0, sigma: 500.0 },
            LogNormal { mu: f64::NAN, sigma: 1.0 },
            Weibull { shape: 1e-3, scale: 1e300 },
            Weibull { shape: 0.0, scale: 1.0 },
            Gamma { shape: -1.0, scale: 1.0 },
            Gamma { shape: 1e-4, scale: 1.0 },
            Gamma { shape: 1.0, scale: 0.0 },
            Geometric { mean: 0.0 },
            Geometric { mean: 1e300 },
            Values(vec![]),
            Mixture(vec![]),
            Mixture(vec![(0.0, Constant(1.0))]),
        ];
        for distribution in odd {
            let mut stream = Stream::new(5, 0, Purpose::Oracle, 0);
            for _ in 0..200 {
                let value = distribution.sample(&mut stream);
                assert!(value.is_finite() && value >= 0.0, "{distribution:?} gave {value}");
                assert!(distribution.sample_count(&mut stream) >= 1);
            }
        }
        let mut stream = Stream::new(5, 0, Purpose::Oracle, 0);
        assert_eq!(Constant(f64::INFINITY).sample_span(&mut stream), Span::MAX);
        assert_eq!(to_span(-1.0), Span::ZERO);
        assert_eq!(to_span(f64::NAN), Span::ZERO);
        assert_eq!(to_span(1e-9), Span::from_nanos(1));
        // Beyond 2^62 ns too.
        assert_eq!(to_span(1e10), Span::from_secs(10_000_000_000));
    }

    #[test]
    fn unusable_parameters_are_named_with_their_range() {
        let text = |d: Distribution| d.validate().unwrap_err().to_string();
        assert_eq!(
            text(Exponential { mean: -3.0 }),
            "mean of exponential is -3, not a finite number of at least 0"
        );
        assert_eq!(
            text(Uniform { min: 3.0, max: 2.0 }),
            "max of uniform is 2, not a finite number of at least min"
        );
        assert_eq!(text(Values(vec![])), "values is empty");
        for bad in [
            Constant(f64::NAN),
            LogNormal { mu: f64::INFINITY, sigma: 1.0 },
            LogNormal { mu: 1.0, sigma: -1.0 },
            Weibull { shape: 0.0, scale: 1.0 },
            Gamma { shape: 0.0, scale: 1.0 },
            Geometric { mean: 0.5 },
            Mixture(vec![(0.0, Constant(1.0))]),
            Mixture(vec![(1.0, Constant(-1.0))]),
        ] {
            assert!(bad.validate().is_err(), "{bad:?}");
        }
        for good in [Constant(0.0), Gamma { shape: 0.1, scale: 0.0 }, Geometric { mean: 1.0 }] {
            assert_eq!(good.validate(), Ok(()), "{good:?}");
        }
    }

    #[test]
    fn infinite_means_are_said_to_be_infinite() {
        assert_eq!(LogNormal { mu: 700.0, sigma: 50.0 }.mean(), f64::INFINITY);
        assert_eq!(Weibull { shape: 1e-3, scale: 1.0 }.mean(), f64::INFINITY);
    }

    #[test]
    fn known_answers_to_nine_digits() {
        let first = |d: Distribution| d.sample(&mut Stream::new(42, 0, Purpose::Oracle, 1));
        for (distribution, known) in [
            (Uniform { min: 0.0, max: 1.0 }, 0.980236090501),
            (Exponential { mean: 1.0 }, 3.923897757084),
            (LogNormal { mu: 0.0, sigma: 1.0 }, 2.539805860918),
            (Weibull { shape: 0.5, scale: 1.0 }, 15.396973608045),
            (Gamma { shape: 2.0, scale: 1.0 }, 3.182814195686),
        ] {
            let value = first(distribution.clone());
            assert!((value - known).abs() < 1e-9 * known, "{distribution:?}: {value:.12}");
        }
    }
}
