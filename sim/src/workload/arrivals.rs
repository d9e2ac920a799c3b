//! The times at which conversations start.

use super::model::Arrivals;
use crate::random::{Distribution, Purpose, Stream, to_nanos, to_span, unit_exponential};
use sandpool_core::{Span, Time};

const NANOS_PER_HOUR: f64 = 3.6e12;

/// Start times in ascending order, without end unless the process has one.
#[derive(Clone, Debug)]
pub(crate) struct ArrivalTimes {
    process: Process,
    stream: Stream,
    last: Time,
}

#[derive(Clone, Debug)]
enum Process {
    Never,
    Poisson { mean_gap_nanos: f64 },
    Renewal { gap: Distribution, first: Option<Distribution> },
    ByTimeOfDay { mean_gap_nanos: f64, chances: Vec<f64>, day_nanos: u64 },
    At { times: Vec<Time>, next: usize },
}

impl ArrivalTimes {
    /// The start times of one replication. A rate of 0, and one that is not a number, means that
    /// nobody ever comes.
    pub(crate) fn new(arrivals: &Arrivals, seed: u64, replication: u32) -> Self {
        let process = match arrivals {
            Arrivals::Poisson { per_hour } if *per_hour > 0.0 => {
                Process::Poisson { mean_gap_nanos: NANOS_PER_HOUR / per_hour }
            }
            Arrivals::Bursty { per_hour, cv } if *per_hour > 0.0 => bursty(*per_hour, *cv),
            Arrivals::ByTimeOfDay { per_hour, day_hours } => by_time_of_day(per_hour, *day_hours),
            Arrivals::At(seconds) => {
                let mut times: Vec<Time> =
                    seconds.iter().map(|&s| Time::ZERO.plus(Span::from_secs_f64(s))).collect();
                times.sort_unstable();
                Process::At { times, next: 0 }
            }
            Arrivals::Poisson { .. } | Arrivals::Bursty { .. } => Process::Never,
        };
        let stream = Stream::new(seed, replication, Purpose::Arrival, 0);
        Self { process, stream, last: Time::ZERO }
    }
}

/// Gamma gaps of this coefficient of variation, as a process that has been running for ever:
/// the gap in which the run begins is met in proportion to its length, so what is left of it is an
/// even share of a gap from the length-biased distribution, for a gamma the one with a shape larger
/// by 1. Beginning with a whole gap instead would start every run with a burst and bring
/// (cv^2 - 1) / 2 conversations too many (Cox, "Renewal theory", 1962), 84 at a CV of 13.
fn bursty(per_hour: f64, cv: f64) -> Process {
    let mean_seconds = 3600.0 / per_hour;
    let variance_ratio = cv * cv;
    let (gap, first) = if variance_ratio > 0.0 {
        let (shape, scale) = (1.0 / variance_ratio, mean_seconds * variance_ratio);
        (Distribution::Gamma { shape, scale }, Distribution::Gamma { shape: shape + 1.0, scale })
    } else {
        (Distribution::Constant(mean_seconds), Distribution::Constant(mean_seconds))
    };
    Process::Renewal { gap, first: Some(first) }
}

/// Poisson at the highest rate, of which each part of the day keeps its share (thinning; Lewis and
/// Shedler, 1979).
fn by_time_of_day(per_hour: &[f64], day_hours: f64) -> Process {
    let highest = per_hour.iter().copied().fold(0.0, f64::max);
    let day_nanos = (day_hours * NANOS_PER_HOUR) as u64;
    if highest > 0.0 && day_nanos > 0 {
        Process::ByTimeOfDay {
            mean_gap_nanos: NANOS_PER_HOUR / highest,
            chances: per_hour.iter().map(|rate| rate / highest).collect(),
            day_nanos,
        }
    } else {
        Process::Never
    }
}

impl Iterator for ArrivalTimes {
    type Item = Time;

    #[inline]
    fn next(&mut self) -> Option<Time> {
        let stream = &mut self.stream;
        match &mut self.process {
            Process::Poisson { mean_gap_nanos } => {
                self.last = self.last.plus(exponential_gap(*mean_gap_nanos, stream));
            }
            Process::Never => return None,
            Process::Renewal { gap, first } => {
                let gap = match first.take() {
                    Some(biased) => to_span(stream.uniform() * biased.sample(stream)),
                    None => gap.sample_span(stream),
                };
                self.last = self.last.plus(gap);
            }
            Process::ByTimeOfDay { mean_gap_nanos, chances, day_nanos } => loop {
                self.last = self.last.plus(exponential_gap(*mean_gap_nanos, stream));
                if self.last == Time::MAX {
                    return None;
                }
                let since_midnight = u128::from(self.last.as_nanos() % *day_nanos);
                let part = since_midnight * chances.len() as u128 / u128::from(*day_nanos);
                if stream.chance(chances[part as usize]) {
                    break;
                }
            },
            Process::At { times, next } => {
                self.last = *times.get(*next)?;
                *next += 1;
            }
        }
        Some(self.last)
    }
}

#[inline]
fn exponential_gap(mean_nanos: f64, stream: &mut Stream) -> Span {
    to_nanos(mean_nanos * unit_exponential(stream))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The arrivals of one replication within `hours`, in seconds.
    fn times(arrivals: &Arrivals, replication: u32, hours: u64) -> Vec<f64> {
        let end = Time::from_secs(hours * 3600);
        ArrivalTimes::new(arrivals, 77, replication)
            .take_while(|&at| at < end)
            .map(Time::as_secs_f64)
            .collect()
    }

    fn mean_and_cv(gaps: &[f64]) -> (f64, f64) {
        let n = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / n;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, variance.sqrt() / mean)
    }

    #[test]
    fn poisson_gaps_have_the_rate_and_a_cv_of_one() {
        let found = times(&Arrivals::Poisson { per_hour: 3960.0 }, 0, 25);
        let gaps: Vec<f64> = found.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let (mean, cv) = mean_and_cv(&gaps);
        let expected = 3600.0 / 3960.0;
        let error = expected / (gaps.len() as f64).sqrt();
        assert!((mean - expected).abs() < 4.0 * error, "seed 77: mean gap {mean}");
        assert!((cv - 1.0).abs() < 4.0 / (gaps.len() as f64).sqrt(), "seed 77: CV {cv}");
    }

    #[test]
    fn bursty_gaps_have_the_rate_and_the_cv() {
        for cv in [0.5, 3.0] {
            let found = times(&Arrivals::Bursty { per_hour: 3600.0, cv }, 0, 60);
            let gaps: Vec<f64> = found.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let (mean, found_cv) = mean_and_cv(&gaps);
            let error = cv / (gaps.len() as f64).sqrt();
            assert!((mean - 1.0).abs() < 4.0 * error, "seed 77, CV {cv}: mean gap {mean}");
            assert!((found_cv - cv).abs() < 0.05 * cv, "seed 77: CV {found_cv}, expected {cv}");
        }
    }

    #[test]
    fn a_bursty_run_does_not_begin_with_a_burst() {
        // Over 4,000 short runs the mean number of arrivals is rate times time; had the process
        // begun with a whole gap, it would be far larger at this CV.
        let runs = 4_000;
        let arrivals = Arrivals::Bursty { per_hour: 20.0, cv: 4.0 };
        let counts: Vec<f64> = (0..runs).map(|r| times(&arrivals, r, 1).len() as f64).collect();
        let (mean, cv) = mean_and_cv(&counts);
        let error = cv * mean / f64::from(runs).sqrt();
        assert!((mean - 20.0).abs() < 4.0 * error, "seed 77: mean {mean}, SE {error}");
        assert!(error < 1.0, "the check above must be able to see 7.5 too many: SE {error}");
    }

    #[test]
    fn a_cv_of_zero_means_equal_gaps() {
        let found = times(&Arrivals::Bursty { per_hour: 60.0, cv: 0.0 }, 0, 1);
        assert_eq!(found.len(), 60);
        assert!(found[0] < 60.0);
        assert!(found.windows(2).all(|pair| (pair[1] - pair[0] - 60.0).abs() < 1e-6));
    }

    #[test]
    fn each_part_of_the_day_has_its_rate() {
        let per_hour = vec![0.0, 300.0, 100.0, 20.0];
        let arrivals = Arrivals::ByTimeOfDay { per_hour: per_hour.clone(), day_hours: 8.0 };
        let days = 50;
        let mut counts = vec![0.0; per_hour.len()];
        for at in times(&arrivals, 0, days * 8) {
            counts[(at % (8.0 * 3600.0) / 7200.0) as usize] += 1.0;
        }
        for (part, rate) in per_hour.into_iter().enumerate() {
            let expected = rate * 2.0 * days as f64;
            let off: f64 = counts[part] - expected;
            assert!(off.abs() <= 4.0 * expected.sqrt(), "seed 77, part {part}: {off} off");
        }
    }

    #[test]
    fn given_times_are_kept() {
        let found = times(&Arrivals::At(vec![0.0, 1.5, 1.5, 7200.0]), 3, 1);
        assert_eq!(found, [0.0, 1.5, 1.5]);
    }

    #[test]
    fn without_a_rate_nobody_comes() {
        for arrivals in [
            Arrivals::Poisson { per_hour: 0.0 },
            Arrivals::Bursty { per_hour: 0.0, cv: 2.0 },
            Arrivals::ByTimeOfDay { per_hour: vec![], day_hours: 24.0 },
            Arrivals::ByTimeOfDay { per_hour: vec![0.0, 0.0], day_hours: 24.0 },
            Arrivals::At(vec![]),
        ] {
            assert_eq!(times(&arrivals, 0, 24), [] as [f64; 0], "{arrivals:?}");
        }
    }

    #[test]
    fn replications_differ_and_repeat() {
        let arrivals = Arrivals::Poisson { per_hour: 100.0 };
        assert_ne!(times(&arrivals, 0, 1), times(&arrivals, 1, 1));
        assert_eq!(times(&arrivals, 1, 1), times(&arrivals, 1, 1));
    }
}
