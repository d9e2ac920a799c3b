//! Time averages of step functions: queue lengths, sandboxes by state.

use sandpool_core::{Span, Time};

/// The time average of a number that changes in steps.
///
/// The area under the steps is kept as an integer of value times nanoseconds, so an average does
/// not depend on how often the number was set, and a year of a million fits many times over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeWeighted {
    from: Time,
    since: Time,
    value: u64,
    area: u128,
}

impl TimeWeighted {
    /// The number is `value` from `at` on.
    #[must_use]
    pub const fn new(at: Time, value: u64) -> Self {
        Self { from: at, since: at, value, area: 0 }
    }

    /// The number is `value` from `at` on. `at` before an earlier call's counts as that one's.
    pub fn set(&mut self, at: Time, value: u64) {
        self.advance(at);
        self.value = value;
    }

    /// Adds to the number, which stays at least zero.
    pub fn add(&mut self, at: Time, change: i64) {
        self.set(at, self.value.saturating_add_signed(change));
    }

    /// Forgets what was before `at`, the end of a warm-up; the number itself stays.
    pub fn restart(&mut self, at: Time) {
        self.advance(at);
        self.from = self.since;
        self.area = 0;
    }

    /// The number as it is now.
    #[must_use]
    pub const fn value(&self) -> u64 {
        self.value
    }

    /// The area under the steps up to `at`, in nanoseconds.
    #[must_use]
    pub fn area_nanos(&self, at: Time) -> u128 {
        self.area + u128::from(self.value) * u128::from(at.since(self.since).as_nanos())
    }

    /// The area under the steps up to `at`, in seconds: sandbox-seconds, waiter-seconds.
    #[must_use]
    pub fn area_seconds(&self, at: Time) -> f64 {
        self.area_nanos(at) as f64 / 1e9
    }

    /// The average up to `at`; `None` when no time has passed.
    #[must_use]
    pub fn mean(&self, at: Time) -> Option<f64> {
        let nanos = at.max(self.since).since(self.from).as_nanos();
        (nanos > 0).then(|| self.area_nanos(at) as f64 / nanos as f64)
    }

    fn advance(&mut self, at: Time) {
        self.area = self.area_nanos(at);
        self.since = self.since.max(at);
    }
}

/// Time averages of a step function in successive bins of equal width, for charts over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinnedTimeWeighted {
    from: Time,
    width_nanos: u64,
    since: Time,
    value: u64,
    areas: Vec<u128>,
}

impl BinnedTimeWeighted {
    /// The number is `value` from `from` on; bins of `width` begin there. A width of zero counts as
    /// one nanosecond.
    #[must_use]
    pub fn new(from: Time, width: Span, value: u64) -> Self {
        let width_nanos = width.as_nanos().max(1);
        Self { from, width_nanos, since: from, value, areas: Vec::new() }
    }

    /// The number is `value` from `at` on. `at` before an earlier call's counts as that one's.
    pub fn set(&mut self, at: Time, value: u64) {
        self.advance(at);
        self.value = value;
    }

    /// Adds to the number, which stays at least zero.
    pub fn add(&mut self, at: Time, change: i64) {
        self.set(at, self.value.saturating_add_signed(change));
    }

    /// The average in each bin up to `end`; the last may be cut short by it and is averaged over
    /// the part that it has.
    #[must_use]
    pub fn means(mut self, end: Time) -> Vec<f64> {
        self.advance(end);
        let total = self.since.since(self.from).as_nanos();
        let width = self.width_nanos;
        (0..total.div_ceil(width))
            .map(|bin| {
                let nanos = width.min(total - bin * width);
                self.areas.get(bin as usize).map_or(0.0, |area| *area as f64 / nanos as f64)
            })
            .collect()
    }

    fn advance(&mut self, at: Time) {
        let end = at.max(self.since).since(self.from).as_nanos();
        let mut now = self.since.since(self.from).as_nanos();
        if self.value == 0 {
            // Nothing to spread; absent areas read as zero.
            now = end;
        }
        while now < end {
            let bin = now / self.width_nanos;
            let until = end.min((bin + 1).saturating_mul(self.width_nanos));
            if self.areas.len() <= bin as usize {
                self.areas.resize(bin as usize + 1, 0);
            }
            self.areas[bin as usize] += u128::from(self.value) * u128::from(until - now);
            now = until;
        }
        self.since = self.since.max(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::test_random::SplitMix64;

    fn at(seconds: u64) -> Time {
        Time::from_secs(seconds)
    }

    #[test]
    fn a_known_average() {
        let mut queue = TimeWeighted::new(at(10), 0);
        queue.set(at(12), 3);
        queue.add(at(16), -1);
        assert_eq!(queue.mean(at(20)), Some(2.0));
        assert_eq!(queue.area_seconds(at(20)), 20.0);
        assert_eq!(queue.value(), 2);
        queue.add(at(20), -5);
        assert_eq!(queue.value(), 0, "never below zero");
    }

    #[test]
    fn a_warm_up_is_forgotten() {
        let mut queue = TimeWeighted::new(at(0), 100);
        queue.set(at(10), 4);
        queue.restart(at(12));
        assert_eq!(queue.mean(at(12)), None);
        assert_eq!(queue.mean(at(20)), Some(4.0));
    }

    #[test]
    fn many_settings_of_the_same_number_change_nothing() {
        let mut often = TimeWeighted::new(Time::ZERO, 7);
        for nanos in (0..1_000_003).step_by(101) {
            often.set(Time::from_nanos(nanos), 7);
        }
        let once = TimeWeighted::new(Time::ZERO, 7);
        let end = Time::from_nanos(1_000_003);
        assert_eq!(often.area_nanos(end), once.area_nanos(end));
    }

    #[test]
    fn a_century_of_a_million_fits() {
        let century = Time::from_secs(3_155_760_000);
        let queue = TimeWeighted::new(Time::ZERO, 1_000_000);
        assert_eq!(queue.mean(century), Some(1e6));
    }

    #[test]
    fn time_does_not_run_backwards() {
        let mut queue = TimeWeighted::new(at(5), 1);
        queue.set(at(3), 2);
        assert_eq!(queue.mean(at(7)), Some(2.0));
    }

    #[test]
    fn bins_share_the_steps_that_cross_them() {
        let mut states = BinnedTimeWeighted::new(at(0), Span::from_secs(10), 0);
        states.set(at(5), 4);
        states.set(at(25), 1);
        assert_eq!(states.clone().means(at(30)), vec![2.0, 4.0, 2.5]);
        assert_eq!(states.clone().means(at(26)), vec![2.0, 4.0, 3.5]);
        states.set(at(40), 0);
        assert_eq!(states.means(at(60)), vec![2.0, 4.0, 2.5, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn the_bins_add_up_to_the_whole() {
        let seed = 17;
        println!("seed {seed}");
        let mut random = SplitMix64(seed);
        let mut whole = TimeWeighted::new(Time::ZERO, 0);
        let mut bins = BinnedTimeWeighted::new(Time::ZERO, Span::from_nanos(1000), 0);
        let mut now = 0;
        for _ in 0..500 {
            now += random.next() % 700;
            let value = random.next() % 9;
            whole.set(Time::from_nanos(now), value);
            bins.set(Time::from_nanos(now), value);
        }
        let end = Time::from_nanos(now.next_multiple_of(1000));
        let sum: f64 = bins.means(end).iter().sum::<f64>() * 1000.0;
        assert!((sum - whole.area_nanos(end) as f64).abs() < 1e-3);
    }
}
