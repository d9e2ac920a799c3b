//! Choice by weight in constant time, however many choices there are.

use super::stream::Stream;

/// Why weights cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WeightError {
    /// There is nothing to choose from.
    #[error("no weights")]
    Empty,
    /// A weight is negative or not a number, or infinite.
    #[error("weight {number} is {weight}, not a finite number of at least 0")]
    Unusable {
        /// Which weight, counting from 1.
        number: usize,
        /// Its value.
        weight: f64,
    },
    /// Every weight is zero, or their sum is too large to be a number.
    #[error("the weights add up to {0}, not to a finite number above 0")]
    Sum(f64),
    /// There are more weights than can be numbered.
    #[error("more than {} weights", u32::MAX)]
    TooMany,
}

/// Chooses an index with a probability proportional to its weight: Walker's alias method (1977)
/// with tables built as Vose (1991) does. A choice takes one random number and one table look-up.
#[derive(Clone, Debug, PartialEq)]
pub struct Weighted {
    columns: Vec<Column>,
}

/// One column of the alias table: its own index below the threshold, another one above.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Column {
    // Share of the column that keeps its own index, as a fraction of 2^64.
    threshold: u64,
    alias: u32,
}

impl Weighted {
    /// A table of these relative weights.
    ///
    /// # Errors
    /// When there are no weights, a weight is negative, NaN or infinite, or all are zero.
    pub fn new(weights: &[f64]) -> Result<Self, WeightError> {
        if weights.is_empty() {
            return Err(WeightError::Empty);
        }
        let count = u32::try_from(weights.len()).map_err(|_| WeightError::TooMany)?;
        for (index, &weight) in weights.iter().enumerate() {
            if !(weight.is_finite() && weight >= 0.0) {
                return Err(WeightError::Unusable { number: index + 1, weight });
            }
        }
        let sum: f64 = weights.iter().sum();
        if !(sum.is_finite() && sum > 0.0) {
            return Err(WeightError::Sum(sum));
        }

        // Weights in units of the average one: columns below 1 are filled up from those above 1.
        // Divided first, so that neither huge nor tiny weights leave the range of numbers.
        let mut levels: Vec<f64> =
            weights.iter().map(|weight| weight / sum * f64::from(count)).collect();
        let (mut below, mut above): (Vec<u32>, Vec<u32>) =
            (0..count).partition(|&index| levels[index as usize] < 1.0);
        let mut columns: Vec<Column> =
            (0..count).map(|index| Column { threshold: u64::MAX, alias: index }).collect();
        while let (Some(&small), Some(&large)) = (below.last(), above.last()) {
            below.pop();
            let level = levels[small as usize];
            columns[small as usize] =
                Column { threshold: (level * 2f64.powi(64)) as u64, alias: large };
            levels[large as usize] -= 1.0 - level;
            if levels[large as usize] < 1.0 {
                above.pop();
                below.push(large);
            }
        }
        // What is left over in either list is full but for rounding and keeps its own index.
        // An index of weight zero was always paired, unless rounding emptied the other list first.
        let heaviest = (0..count)
            .max_by(|&a, &b| weights[a as usize].total_cmp(&weights[b as usize]))
            .unwrap_or(0);
        for index in below {
            if weights[index as usize] == 0.0 {
                columns[index as usize] = Column { threshold: 0, alias: heaviest };
            }
        }
        Ok(Self { columns })
    }

    /// The next index, 0 to [`Weighted::len`] - 1. A table of one choice takes no random number.
    #[inline]
    pub fn sample(&self, stream: &mut Stream) -> usize {
        if self.columns.len() == 1 {
            return 0;
        }
        // The high part of the product is a column, the low part a place within it.
        let product = u128::from(stream.bits()) * self.columns.len() as u128;
        let index = (product >> 64) as usize;
        let column = self.columns[index];
        if (product as u64) < column.threshold || column.threshold == u64::MAX {
            index
        } else {
            column.alias as usize
        }
    }

    /// Number of choices, at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always something to choose from")]
    pub fn len(&self) -> usize {
        self.columns.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    fn counts(weights: &[f64], draws: u64, seed: u64) -> Vec<u64> {
        let table = Weighted::new(weights).unwrap();
        let mut counts = vec![0; weights.len()];
        for entity in 0..draws {
            counts[table.sample(&mut Stream::new(seed, 0, Purpose::Account, entity))] += 1;
        }
        counts
    }

    #[test]
    fn indexes_come_as_often_as_they_weigh() {
        let skewed: Vec<f64> = (1..=73).map(|rank| f64::from(rank).powf(-1.1)).collect();
        let draws = 400_000;
        for (seed, weights) in [
            (1, vec![1.0; 7]),
            (2, vec![0.0, 3.0, 1.0, 0.0]),
            (3, skewed),
            (4, vec![1e-300, 2e-300]),
        ] {
            let sum: f64 = weights.iter().sum();
            for (index, count) in counts(&weights, draws, seed).into_iter().enumerate() {
                let p = weights[index] / sum;
                let sd = (draws as f64 * p * (1.0 - p)).sqrt();
                let off = count as f64 - draws as f64 * p;
                assert!(off.abs() <= 4.5 * sd, "seed {seed}, index {index}: {off} off, SD {sd}");
            }
        }
    }

    #[test]
    fn a_weight_of_zero_is_never_chosen_and_a_single_one_always() {
        for weights in [vec![0.1, 0.2, 0.0, 0.7], vec![0.0, 0.1, 0.1, 0.1, 0.0], vec![0.0, 1e308]] {
            let found = counts(&weights, 50_000, 9);
            for (index, weight) in weights.iter().enumerate() {
                assert_eq!(found[index] == 0, *weight == 0.0, "{weights:?} gave {found:?}");
            }
        }
        let mut stream = Stream::new(1, 0, Purpose::Account, 0);
        let before = stream.clone();
        assert_eq!(Weighted::new(&[5.0]).unwrap().sample(&mut stream), 0);
        assert_eq!(stream, before);
    }

    #[test]
    fn unusable_weights_are_named() {
        assert_eq!(Weighted::new(&[]), Err(WeightError::Empty));
        assert_eq!(Weighted::new(&[0.0, 0.0]), Err(WeightError::Sum(0.0)));
        assert_eq!(Weighted::new(&[1e308, 1e308]), Err(WeightError::Sum(f64::INFINITY)));
        let error = Weighted::new(&[1.0, -2.0]).unwrap_err();
        assert_eq!(error.to_string(), "weight 2 is -2, not a finite number of at least 0");
        assert!(Weighted::new(&[f64::NAN]).is_err() && Weighted::new(&[f64::INFINITY]).is_err());
    }
}
