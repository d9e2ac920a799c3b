//! Enough for a wanted hit rate: the smallest pool that a Poisson number of claims during one start
//! stays within with the wanted probability. The rate is the mean of the recent one and the one
//! seen at this time on earlier days.

use super::WarmView;

pub(super) fn target(view: &WarmView<'_>) -> i64 {
    let recent = view.history.recent_per_second(view.now);
    let per_second = match view.history.same_time_per_second(view.now) {
        Some(earlier) => (recent + earlier) / 2.0,
        None => recent,
    };
    let expected = per_second * view.start.as_secs_f64();
    poisson_quantile(expected, view.hit_percent as f64 / 100.0, view.max)
        .max(view.configured.min(view.max))
}

/// Smallest `k <= max` with P(Poisson(mean) <= k) >= `probability`. Only sums and quotients, so
/// that every platform gets the same answer: the terms `mean^k / k!` are added up relative to
/// their total instead of multiplied by `exp(-mean)`.
fn poisson_quantile(mean: f64, probability: f64, max: i64) -> i64 {
    if mean <= 0.0 {
        return 0;
    }
    let mean = mean.min(500.0);
    let mut total = 0.0;
    let mut term = 1.0;
    let mut k = 0.0;
    while term > total * 1e-12 || k < mean {
        total += term;
        k += 1.0;
        term *= mean / k;
    }
    let mut sum = 0.0;
    let mut term = 1.0;
    for k in 0..max {
        sum += term;
        if sum >= probability * total {
            return k;
        }
        term *= mean / (k + 1) as f64;
    }
    max
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poisson_quantiles_are_the_tabulated_ones() {
        // Values from the cumulative Poisson table: P(X <= 2; 1) = 0.9197, P(X <= 8; 5) = 0.9319.
        assert_eq!(poisson_quantile(1.0, 0.9, 100), 2);
        assert_eq!(poisson_quantile(1.0, 0.93, 100), 3);
        assert_eq!(poisson_quantile(5.0, 0.93, 100), 8);
        assert_eq!(poisson_quantile(5.0, 0.94, 100), 9);
        assert_eq!(poisson_quantile(0.0, 0.9, 100), 0);
        assert_eq!(poisson_quantile(400.0, 0.5, 1_000), 400);
        assert_eq!(poisson_quantile(5.0, 0.9, 3), 3);
    }
}
