//! Distributions as a scenario names them.

/// A distribution of non-negative numbers, in whatever unit its key states (seconds, counts).
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Always this value.
    Constant(f64),
    /// Evenly between two values.
    Uniform {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// Memoryless.
    Exponential {
        /// Mean.
        mean: f64,
    },
    /// Logarithm is normal.
    LogNormal {
        /// Mean of the logarithm.
        mu: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Weibull.
    Weibull {
        /// Shape; below 1 the tail is heavier than exponential.
        shape: f64,
        /// Scale.
        scale: f64,
    },
    /// Gamma.
    Gamma {
        /// Shape.
        shape: f64,
        /// Scale; the mean is shape times scale.
        scale: f64,
    },
    /// Number of trials up to and including the first success: 1, 2, 3, ...
    Geometric {
        /// Mean, at least 1.
        mean: f64,
    },
    /// One of these values, each as likely as it occurs in the list.
    Values(Vec<f64>),
    /// One of several distributions.
    Mixture(Vec<(f64, Distribution)>),
}
