//! Where the warm-up ends, read off the output itself.

/// Numbers in one mean.
const BATCH: usize = 5;

/// Means that must stay after the cut, and one in this many of all means: with fewer the statistic
/// falls to zero by chance. Five are those of Hoad, Robinson and Davies (2010, "Automating warm-up
/// length estimation", JORS 61); the tenth is for output that is mostly zero, such as waits in a
/// lightly loaded system, which often ends in a long run of zeros.
const MEANS_KEPT: usize = 5;
const SHARE_KEPT: usize = 10;

/// Why no warm-up could be read off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mser5Error {
    /// There are too few numbers.
    #[error("{found} observations are too few to find a warm-up in; {} are needed", 2 * MEANS_KEPT * BATCH)]
    TooShort {
        /// How many there are.
        found: usize,
    },
    /// One of them is not finite.
    #[error("an observation is not a finite number")]
    NotFinite,
    /// The best cut falls into the second half, so the run has not settled.
    #[error(
        "the output has not settled: the best cut is at {cut} of {found} observations; hint: simulate longer or state the warm-up"
    )]
    NotSettled {
        /// Where it falls.
        cut: usize,
        /// How many observations there are.
        found: usize,
    },
}

/// How many of the first `observations` to leave out, a multiple of five.
///
/// MSER-5 (White 1997, "An effective truncation heuristic for bias reduction in simulation
/// output"; White, Cobb and Spratt 2000): on the means of five successive observations, the cut
/// `d` that makes the squared standard error of what stays,
/// `sum over i > d of (y_i - mean)^2 / (k - d)^2`, smallest. The first of several equal ones is
/// taken. Numbers after the last whole five are not looked at.
///
/// # Errors
/// [`Mser5Error`] when there are fewer than 50 numbers, when one is not finite, or when the cut
/// falls into the second half: such a cut is not to be trusted.
pub fn mser5(observations: &[f64]) -> Result<usize, Mser5Error> {
    let found = observations.len();
    if found < 2 * MEANS_KEPT * BATCH {
        return Err(Mser5Error::TooShort { found });
    }
    if observations.iter().any(|value| !value.is_finite()) {
        return Err(Mser5Error::NotFinite);
    }
    let means: Vec<f64> = observations
        .chunks_exact(BATCH)
        .map(|batch| batch.iter().sum::<f64>() / BATCH as f64)
        .collect();
    // From the end, so that each cut adds one mean to a running variance.
    let least_kept = MEANS_KEPT.max(means.len() / SHARE_KEPT) as u64;
    let mut kept = super::Running::new();
    let mut best = (f64::INFINITY, 0);
    for cut in (0..means.len()).rev() {
        kept.push(means[cut]);
        let (Some(variance), count) = (kept.variance(), kept.count() as f64) else { continue };
        let statistic = variance * (count - 1.0) / (count * count);
        if kept.count() >= least_kept && statistic <= best.0 {
            best = (statistic, cut);
        }
    }
    let cut = best.1 * BATCH;
    if best.1 > means.len() / 2 { Err(Mser5Error::NotSettled { cut, found }) } else { Ok(cut) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::test_random::SplitMix64;

    #[test]
    fn a_start_far_from_the_rest_is_cut() {
        let seed = 5;
        println!("seed {seed}");
        let mut random = SplitMix64(seed);
        let output: Vec<f64> = (0..500)
            .map(|i| if i < 100 { 100.0 - f64::from(i) } else { 0.0 } + random.uniform())
            .collect();
        let cut = mser5(&output).unwrap();
        assert!((90..=110).contains(&cut), "{cut}");
    }

    #[test]
    fn a_settled_output_loses_little() {
        let mut random = SplitMix64(6);
        let output: Vec<f64> = (0..2000).map(|_| random.uniform()).collect();
        assert!(mser5(&output).unwrap() <= 400);
        assert_eq!(mser5(&[2.5; 60]), Ok(0));
    }

    #[test]
    fn a_cut_in_the_second_half_is_rejected() {
        let output: Vec<f64> =
            (0..400).map(|i| if i < 350 { f64::from(i) } else { 350.0 }).collect();
        assert_eq!(mser5(&output), Err(Mser5Error::NotSettled { cut: 350, found: 400 }));
    }

    #[test]
    fn rare_waits_with_a_quiet_end_are_settled() {
        let seed = 12;
        println!("seed {seed}");
        let mut random = SplitMix64(seed);
        let mut output: Vec<f64> = (0..5000)
            .map(|_| if random.uniform() < 0.05 { random.exponential() } else { 0.0 })
            .collect();
        output[4900..].fill(0.0);
        assert!(mser5(&output).unwrap() <= 2500);
    }

    #[test]
    fn short_or_broken_output_is_refused() {
        assert_eq!(mser5(&[1.0; 49]), Err(Mser5Error::TooShort { found: 49 }));
        let mut broken = vec![1.0; 60];
        broken[7] = f64::NAN;
        assert_eq!(mser5(&broken), Err(Mser5Error::NotFinite));
    }

    #[test]
    fn the_statistic_is_that_of_its_definition() {
        let mut random = SplitMix64(8);
        let output: Vec<f64> =
            (0..120).map(|i| random.exponential() + 3.0 * (-f64::from(i) / 10.0).exp()).collect();
        let means: Vec<f64> = output.chunks_exact(5).map(|b| b.iter().sum::<f64>() / 5.0).collect();
        let statistic = |cut: usize| {
            let kept = &means[cut..];
            let mean = kept.iter().sum::<f64>() / kept.len() as f64;
            kept.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / (kept.len() as f64).powi(2)
        };
        let best =
            (0..=means.len() - 5).min_by(|&a, &b| statistic(a).total_cmp(&statistic(b))).unwrap();
        assert_eq!(mser5(&output).ok(), (best <= means.len() / 2).then_some(best * 5));
    }
}
