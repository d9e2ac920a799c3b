//! Keyed luck: a draw depends on what it is for, never on how many draws came before it.
//!
//! A generator with a running state gives two policies different luck as soon as one of them makes
//! one call more. Here every number is a hash of (seed, replication, purpose, entity, counter), so
//! the n-th create takes as long, and fails as surely, under every policy that is compared.

use crate::random::Distribution;
use sandpool_core::Span;

/// What a draw is for. The numbers are part of the format: a changed one changes every result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum Purpose {
    CreateLatency = 1,
    PrepareLatency = 2,
    DeleteLatency = 3,
    CallLatency = 4,
    StuckCreating = 5,
    StuckOutcome = 6,
    StuckDestroying = 7,
    StuckFor = 8,
    Death = 9,
    GroupGap = 10,
    GroupVictim = 11,
    TenantLevel = 12,
    TenantStep = 13,
    ListLag = 14,
    ListPartial = 15,
    /// One for each verb: this and the verb's index.
    Fault = 32,
}

/// The luck of one replication.
#[derive(Clone, Copy, Debug)]
pub(super) struct Luck {
    key: u64,
}

impl Luck {
    pub(super) fn new(seed: u64, replication: u32) -> Self {
        Self { key: mix(mix(seed).wrapping_add(u64::from(replication)).wrapping_mul(GOLDEN)) }
    }

    /// The random numbers of one entity's `counter`-th need of the kind.
    #[inline]
    pub(super) fn stream(&self, purpose: u64, entity: u64, counter: u64) -> Stream {
        let key = mix(self.key ^ purpose.wrapping_mul(GOLDEN));
        let key = mix(key ^ entity.wrapping_mul(GOLDEN));
        Stream { key: mix(key ^ counter.wrapping_mul(GOLDEN)), position: 0 }
    }

    /// One number in [0, 1).
    #[inline]
    pub(super) fn unit(&self, purpose: Purpose, entity: u64, counter: u64) -> f64 {
        self.stream(purpose as u64, entity, counter).unit()
    }

    /// Whether something of this chance (0 to 1) happens. Impossible and certain things need no
    /// draw.
    #[inline]
    pub(super) fn happens(&self, chance: f64, purpose: Purpose, entity: u64, counter: u64) -> bool {
        chance > 0.0 && (chance >= 1.0 || self.unit(purpose, entity, counter) < chance)
    }

    /// A length of time.
    #[inline]
    pub(super) fn span(
        &self,
        seconds: &Seconds,
        purpose: Purpose,
        entity: u64,
        counter: u64,
    ) -> Span {
        match seconds {
            Seconds::Fixed(span) => *span,
            Seconds::Drawn(distribution) => {
                let mut stream = self.stream(purpose as u64, entity, counter);
                Span::from_secs_f64(sample(distribution, &mut stream))
            }
        }
    }
}

/// A distribution of lengths of time, with the constant one converted once and for all.
#[derive(Clone, Debug)]
pub(super) enum Seconds {
    Fixed(Span),
    Drawn(Distribution),
}

impl From<&Distribution> for Seconds {
    fn from(seconds: &Distribution) -> Self {
        match seconds {
            Distribution::Constant(value) => Seconds::Fixed(Span::from_secs_f64(*value)),
            drawn => Seconds::Drawn(drawn.clone()),
        }
    }
}

/// A short sequence of numbers under one key: SplitMix64 (Steele, Lea and Flood, 2014) with the
/// key as its state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    key: u64,
    position: u64,
}

impl Stream {
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        self.position = self.position.wrapping_add(1);
        mix(self.key.wrapping_add(self.position.wrapping_mul(GOLDEN)))
    }

    /// In [0, 1), with 53 random bits.
    #[inline]
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// In (0, 1]: safe to take the logarithm of.
    fn positive_unit(&mut self) -> f64 {
        1.0 - self.unit()
    }
}

/// 2^64 divided by the golden ratio, made odd: the increment of SplitMix64.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64: every input bit changes about half of the output bits.
#[inline]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// One value of the distribution.
pub(super) fn sample(distribution: &Distribution, stream: &mut Stream) -> f64 {
    match distribution {
        Distribution::Constant(value) => *value,
        Distribution::Uniform { min, max } => min + (max - min) * stream.unit(),
        Distribution::Exponential { mean } => -mean * stream.positive_unit().ln(),
        Distribution::LogNormal { mu, sigma } => (mu + sigma * normal(stream)).exp(),
        Distribution::Weibull { shape, scale } => {
            scale * (-stream.positive_unit().ln()).powf(1.0 / shape)
        }
        Distribution::Gamma { shape, scale } => scale * gamma(*shape, stream),
        Distribution::Geometric { mean } => {
            let failure = 1.0 - 1.0 / mean.max(1.0);
            if failure <= 0.0 {
                1.0
            } else {
                1.0 + (stream.positive_unit().ln() / failure.ln()).floor()
            }
        }
        Distribution::Values(values) => {
            let index = (stream.unit() * values.len() as f64) as usize;
            values.get(index).copied().unwrap_or(0.0)
        }
        Distribution::Mixture(parts) => {
            let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
            let mut left = stream.unit() * total;
            for (weight, part) in parts {
                left -= weight;
                if left < 0.0 {
                    return sample(part, stream);
                }
            }
            parts.last().map_or(0.0, |(_, part)| sample(part, stream))
        }
    }
}

/// Standard normal, by Box and Muller's transform.
fn normal(stream: &mut Stream) -> f64 {
    let radius = (-2.0 * stream.positive_unit().ln()).sqrt();
    radius * (std::f64::consts::TAU * stream.unit()).cos()
}

/// Gamma of scale 1, by Marsaglia and Tsang's method (2000); shapes below 1 by their boost.
fn gamma(shape: f64, stream: &mut Stream) -> f64 {
    if shape < 1.0 {
        let boost = stream.positive_unit().powf(1.0 / shape);
        return boost * gamma(shape + 1.0, stream);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(stream);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && stream.positive_unit().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_depends_on_its_key_alone() {
        let luck = Luck::new(7, 3);
        let first = luck.unit(Purpose::Death, 11, 0);
        let _ = luck.unit(Purpose::Death, 12, 0);
        assert_eq!(luck.unit(Purpose::Death, 11, 0), first);
        for other in [
            luck.unit(Purpose::GroupGap, 11, 0),
            luck.unit(Purpose::Death, 10, 0),
            luck.unit(Purpose::Death, 11, 1),
            Luck::new(7, 4).unit(Purpose::Death, 11, 0),
            Luck::new(8, 3).unit(Purpose::Death, 11, 0),
        ] {
            assert_ne!(other, first);
        }
    }

    #[test]
    fn the_bits_are_these_and_no_others() {
        // SplitMix64 from state 0, as published: the finaliser and the increment.
        let mut stream = Stream { key: 0, position: 0 };
        assert_eq!(stream.next(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(stream.next(), 0x6e78_9e6a_a1b9_65f4);
        assert_eq!(Luck::new(1, 2).stream(3, 4, 5).next(), 5_461_693_086_897_325_286);
    }

    #[test]
    fn every_distribution_has_the_mean_that_its_formula_gives() {
        let cases = [
            (Distribution::Constant(2.0), 2.0),
            (Distribution::Uniform { min: 1.0, max: 4.0 }, 2.5),
            (Distribution::Exponential { mean: 3.0 }, 3.0),
            (Distribution::LogNormal { mu: 0.5, sigma: 0.4 }, (0.5_f64 + 0.08).exp()),
            // Gamma(1 + 1/2) times the scale.
            (Distribution::Weibull { shape: 2.0, scale: 2.0 }, 2.0 * 0.886_226_925),
            (Distribution::Gamma { shape: 0.5, scale: 2.0 }, 1.0),
            (Distribution::Gamma { shape: 3.0, scale: 2.0 }, 6.0),
            (Distribution::Geometric { mean: 4.0 }, 4.0),
            (Distribution::Values(vec![1.0, 2.0, 6.0]), 3.0),
            (
                Distribution::Mixture(vec![
                    (3.0, Distribution::Constant(1.0)),
                    (1.0, Distribution::Constant(5.0)),
                ]),
                2.0,
            ),
        ];
        let luck = Luck::new(42, 0);
        for (distribution, mean) in &cases {
            let n = 40_000;
            let sum: f64 =
                (0..n).map(|entity| sample(distribution, &mut luck.stream(99, entity, 0))).sum();
            let found = sum / n as f64;
            assert!((found / mean - 1.0).abs() < 0.04, "{distribution:?}: {found} not {mean}");
        }
    }
}
