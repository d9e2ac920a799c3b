//! Fairness between accounts.

/// Jain's index of the shares that accounts got: `(sum x)^2 / (n sum x^2)`, 1 when all got the
/// same, `1/n` when one got everything (Jain, Chiu and Hawe 1984, "A quantitative measure of
/// fairness and discrimination for resource allocation in shared computer systems", DEC-TR-301).
///
/// 1 when all got nothing, for then nobody was put behind. `None` without accounts, or when a
/// share is negative or not finite.
#[must_use]
pub fn jain_index(shares: &[f64]) -> Option<f64> {
    if shares.is_empty() || shares.iter().any(|share| !share.is_finite() || *share < 0.0) {
        return None;
    }
    let largest = shares.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return Some(1.0);
    }
    // Scaled by the largest, so that squares of huge or tiny shares stay in range.
    let sum: f64 = shares.iter().map(|share| share / largest).sum();
    let squares: f64 = shares.iter().map(|share| (share / largest) * (share / largest)).sum();
    Some(sum * sum / (shares.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert_eq!(jain_index(&[3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain_index(&[1.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert!((jain_index(&[1.0, 2.0, 3.0]).unwrap() - 36.0 / 42.0).abs() < 1e-12);
    }

    #[test]
    fn scale_does_not_matter_even_at_the_ends_of_the_range() {
        assert!((jain_index(&[1e-200, 3e-200]).unwrap() - 0.8).abs() < 1e-12);
        assert!((jain_index(&[1e200, 3e200]).unwrap() - 0.8).abs() < 1e-12);
    }

    #[test]
    fn nothing_for_nobody() {
        assert_eq!(jain_index(&[0.0, 0.0]), Some(1.0));
        assert_eq!(jain_index(&[]), None);
        assert_eq!(jain_index(&[1.0, -1.0]), None);
        assert_eq!(jain_index(&[1.0, f64::NAN]), None);
    }
}
