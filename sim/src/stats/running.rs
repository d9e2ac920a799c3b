//! Mean and variance in one pass.

/// Count, mean, variance and extremes of numbers seen one at a time.
///
/// The update is Welford's (1962, "Note on a method for calculating corrected sums of squares and
/// products", Technometrics 4), the merge is that of Chan, Golub and LeVeque (1983, "Algorithms
/// for computing the sample variance", The American Statistician 37). Neither loses digits when
/// the mean is large against the spread. A merge in a fixed order gives the same bits each time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Running {
    count: u64,
    mean: f64,
    squares: f64,
    min: f64,
    max: f64,
}

impl Running {
    /// Nothing seen yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { count: 0, mean: 0.0, squares: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY }
    }

    /// Takes in one number.
    pub fn push(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Takes in everything that `other` has seen.
    pub fn merge(&mut self, other: &Running) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        let (ours, theirs) = (self.count as f64, other.count as f64);
        let both = ours + theirs;
        let gap = other.mean - self.mean;
        self.mean += gap * theirs / both;
        self.squares += other.squares + gap * gap * ours * theirs / both;
        self.count += other.count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// How many numbers were seen.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; `None` before the first.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// Their sample variance (divisor: count less one); `None` before the second.
    #[must_use]
    pub fn variance(&self) -> Option<f64> {
        (self.count > 1).then(|| self.squares / (self.count - 1) as f64)
    }

    /// Square root of [`Running::variance`].
    #[must_use]
    pub fn standard_deviation(&self) -> Option<f64> {
        self.variance().map(f64::sqrt)
    }

    /// Standard error of the mean of independent numbers; `None` before the second.
    #[must_use]
    pub fn standard_error(&self) -> Option<f64> {
        self.variance().map(|variance| (variance / self.count as f64).sqrt())
    }

    /// The smallest number; `None` before the first.
    #[must_use]
    pub fn min(&self) -> Option<f64> {
        (self.count > 0).then_some(self.min)
    }

    /// The largest number; `None` before the first.
    #[must_use]
    pub fn max(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max)
    }
}

impl Default for Running {
    fn default() -> Self {
        Self::new()
    }
}

impl FromIterator<f64> for Running {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut running = Self::new();
        for value in values {
            running.push(value);
        }
        running
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_mean_and_variance() {
        let seen: Running = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].into_iter().collect();
        assert_eq!(seen.mean(), Some(5.0));
        assert!((seen.variance().unwrap() - 32.0 / 7.0).abs() < 1e-12);
        assert_eq!((seen.min(), seen.max(), seen.count()), (Some(2.0), Some(9.0), 8));
    }

    #[test]
    fn too_few_numbers_have_no_variance() {
        let mut seen = Running::new();
        assert_eq!((seen.mean(), seen.variance(), seen.min()), (None, None, None));
        seen.push(3.0);
        assert_eq!((seen.mean(), seen.variance()), (Some(3.0), None));
    }

    #[test]
    fn merging_parts_is_the_whole() {
        let values: Vec<f64> = (0..101).map(|i| f64::from(i * i % 37)).collect();
        let whole: Running = values.iter().copied().collect();
        for cut in [0, 1, 50, 101] {
            let mut left: Running = values[..cut].iter().copied().collect();
            left.merge(&values[cut..].iter().copied().collect());
            assert_eq!(left.count(), whole.count());
            assert!((left.mean().unwrap() - whole.mean().unwrap()).abs() < 1e-12);
            assert!((left.variance().unwrap() - whole.variance().unwrap()).abs() < 1e-10);
        }
    }

    #[test]
    fn a_large_offset_does_not_eat_the_variance() {
        let seen: Running = [1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0].into_iter().collect();
        assert!((seen.variance().unwrap() - 30.0).abs() < 1e-9);
    }
}
