//! How many claims came when: the last quarter of an hour by minute, and the day by quarter hour.

use crate::time::Time;

const MINUTE_NANOS: u64 = 60 * 1_000_000_000;
const RECENT_MINUTES: usize = 15;
const QUARTERS_A_DAY: usize = 96;

/// Claims of one class over time, in constant memory.
#[derive(Clone, Debug)]
pub(crate) struct DemandHistory {
    /// Claims by minute, a ring.
    minutes: [u32; RECENT_MINUTES],
    /// The minute that was written last, counted from the origin.
    minute: u64,
    /// Claims by quarter hour of the day: exponential average over days; `None` before the first.
    quarters: Box<[Option<f64>; QUARTERS_A_DAY]>,
    /// Claims in the quarter hour under way.
    quarter_count: u32,
}

impl Default for DemandHistory {
    fn default() -> Self {
        Self {
            minutes: [0; RECENT_MINUTES],
            minute: 0,
            quarters: Box::new([None; QUARTERS_A_DAY]),
            quarter_count: 0,
        }
    }
}

impl DemandHistory {
    /// A claim came.
    pub(crate) fn record(&mut self, now: Time) {
        self.turn_to(now);
        self.minutes[(self.minute % RECENT_MINUTES as u64) as usize] += 1;
        self.quarter_count += 1;
    }

    /// Claims a second over the last quarter of an hour (over the time since the origin, if that
    /// is shorter).
    pub(crate) fn recent_per_second(&self, now: Time) -> f64 {
        let minute = now.as_nanos() / MINUTE_NANOS;
        let passed = minute - self.minute.min(minute);
        if passed >= RECENT_MINUTES as u64 {
            return 0.0;
        }
        // The slots that the ring would have cleared by now do not count.
        let count: u32 = (passed..RECENT_MINUTES as u64)
            .map(|age| {
                let of = minute.wrapping_sub(age);
                if of > minute { 0 } else { self.minutes[(of % RECENT_MINUTES as u64) as usize] }
            })
            .sum();
        let seconds = now.as_secs_f64().clamp(60.0, 60.0 * RECENT_MINUTES as f64);
        f64::from(count) / seconds
    }

    /// Claims a second at this time of earlier days; `None` before a day was seen.
    pub(crate) fn same_time_per_second(&self, now: Time) -> Option<f64> {
        let quarter = (now.as_nanos() / (15 * MINUTE_NANOS)) as usize % QUARTERS_A_DAY;
        self.quarters[quarter].map(|count| count / (15.0 * 60.0))
    }

    fn turn_to(&mut self, now: Time) {
        let minute = now.as_nanos() / MINUTE_NANOS;
        if minute == self.minute {
            return;
        }
        let (before, after) = (self.minute / 15, minute / 15);
        if after != before {
            self.close_quarter(before);
            for skipped in (before + 1..after).take(QUARTERS_A_DAY) {
                self.close_quarter(skipped);
            }
        }
        for passed in (self.minute + 1..=minute).take(RECENT_MINUTES) {
            self.minutes[(passed % RECENT_MINUTES as u64) as usize] = 0;
        }
        if minute - self.minute > RECENT_MINUTES as u64 {
            self.minutes = [0; RECENT_MINUTES];
        }
        self.minute = minute;
    }

    fn close_quarter(&mut self, quarter: u64) {
        let slot = &mut self.quarters[quarter as usize % QUARTERS_A_DAY];
        let count = f64::from(std::mem::take(&mut self.quarter_count));
        // Yesterday counts as much as all days before it together.
        *slot = Some(slot.map_or(count, |average| (average + count) / 2.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recent_rate_forgets_after_a_quarter_of_an_hour() {
        let mut history = DemandHistory::default();
        for second in (0..900).step_by(2) {
            history.record(Time::from_secs(second));
        }
        assert!((history.recent_per_second(Time::from_secs(899)) - 0.5).abs() < 0.01);
        let half = history.recent_per_second(Time::from_secs(899 + 450));
        assert!((0.2..0.3).contains(&half), "{half}");
        assert_eq!(history.recent_per_second(Time::from_secs(3_600)), 0.0);
        history.record(Time::from_secs(3_600));
        assert!((history.recent_per_second(Time::from_secs(3_600)) - 1.0 / 900.0).abs() < 1e-9);
    }

    #[test]
    fn the_same_time_of_yesterday_is_remembered() {
        let mut history = DemandHistory::default();
        let noon = 12 * 3_600;
        for second in noon..noon + 900 {
            history.record(Time::from_secs(second));
        }
        let tomorrow = Time::from_secs(noon + 86_400 + 60);
        assert_eq!(history.same_time_per_second(tomorrow), None, "the quarter is still open");
        history.record(tomorrow);
        let yesterday = history.same_time_per_second(tomorrow).unwrap();
        assert!((yesterday - 1.0).abs() < 1e-9, "{yesterday}");
    }
}
