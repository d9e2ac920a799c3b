//! Joins bins of time until there are no more of them than a chart can show.

use crate::data::{OverTime, StateCounts, TimeBin};

/// A bin with its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slice {
    pub(crate) end_hours: f64,
    pub(crate) bin: TimeBin,
}

impl Slice {
    pub(crate) fn middle_hours(&self) -> f64 {
        (self.bin.start_hours + self.end_hours) / 2.0
    }
}

/// At most `most` slices, each the mean of as many neighbouring bins as that takes.
pub(crate) fn slices(over_time: &OverTime, most: usize) -> Vec<Slice> {
    let together = over_time.bins.len().div_ceil(most.max(1)).max(1);
    over_time
        .bins
        .chunks(together)
        .map(|bins| {
            // The last slice may have fewer bins than the others; it is a mean all the same.
            let part = 1.0 / bins.len() as f64;
            let mut bin = TimeBin { start_hours: bins[0].start_hours, ..TimeBin::default() };
            for one in bins {
                bin.waiting += part * one.waiting.max(0.0);
                bin.refusals_per_hour += part * one.refusals_per_hour.max(0.0);
                add(&mut bin.sandboxes, &one.sandboxes, part);
            }
            let end_hours = bins[bins.len() - 1].start_hours + over_time.bin_hours;
            Slice { end_hours, bin }
        })
        .collect()
}

fn add(sum: &mut StateCounts, more: &StateCounts, part: f64) {
    sum.starting += part * more.starting.max(0.0);
    sum.warm += part * more.warm.max(0.0);
    sum.in_use += part * more.in_use.max(0.0);
    sum.idle += part * more.idle.max(0.0);
    sum.lost += part * more.lost.max(0.0);
    sum.destroying += part * more.destroying.max(0.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining_bins_keeps_the_mean_and_the_ends() {
        let bins = (0..1440)
            .map(|i| TimeBin {
                start_hours: f64::from(i) / 60.0,
                waiting: f64::from(i % 7),
                sandboxes: StateCounts { warm: 2.0, ..StateCounts::default() },
                ..TimeBin::default()
            })
            .collect();
        let over_time = OverTime { bin_hours: 1.0 / 60.0, bins };
        let slices = slices(&over_time, 200);
        assert_eq!(slices.len(), 180);
        assert_eq!(slices[0].bin.start_hours, 0.0);
        assert!((slices[179].end_hours - 24.0).abs() < 1e-9);
        let mean = slices.iter().map(|slice| slice.bin.waiting).sum::<f64>() / 180.0;
        let whole = over_time.bins.iter().map(|bin| bin.waiting).sum::<f64>() / 1440.0;
        assert!((mean - whole).abs() < 1e-9);
        assert!(slices.iter().all(|slice| (slice.bin.sandboxes.total() - 2.0).abs() < 1e-9));
    }

    #[test]
    fn no_bins_give_no_slices() {
        assert_eq!(slices(&OverTime::default(), 100), []);
    }
}
