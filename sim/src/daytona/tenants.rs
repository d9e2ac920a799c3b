//! What other tenants of the same quota use: a step process.

use super::luck::{Luck, Purpose, Seconds};
use super::profile::OtherTenants;
use crate::random::Distribution;
use sandpool_core::{Resources, Span, Time};

/// A step of no length would never let time pass.
const SHORTEST_STEP: Span = Span::from_millis(1);

/// Other tenants' use, brought up to date when it is asked for: between questions it costs nothing.
#[derive(Clone, Debug)]
pub(super) struct Tenants {
    sandboxes_drawn: Option<Distribution>,
    step_length: Seconds,
    step: u64,
    step_ends: Time,
    sandboxes: i64,
}

impl Tenants {
    pub(super) fn new(profile: &OtherTenants) -> Self {
        Self {
            sandboxes_drawn: profile.sandboxes.clone(),
            step_length: Seconds::from(&profile.step),
            step: 0,
            step_ends: Time::ZERO,
            sandboxes: 0,
        }
    }

    /// They hold this many sandboxes from now on, whatever the profile says.
    pub(super) fn hold(&mut self, sandboxes: u32) {
        self.sandboxes_drawn = Some(Distribution::Constant(f64::from(sandboxes)));
        self.sandboxes = i64::from(sandboxes);
    }

    /// What they use at `now`, each sandbox being of the size `each`. Time may not go back.
    pub(super) fn used(&mut self, now: Time, each: Resources, luck: &Luck) -> Resources {
        let Some(sandboxes) = &self.sandboxes_drawn else { return Resources::ZERO };
        while self.step_ends <= now {
            let mut stream = luck.stream(Purpose::Tenants, self.step, 0);
            self.sandboxes = sandboxes.sample(&mut stream).round().max(0.0) as i64;
            let length = luck.span(&self.step_length, Purpose::TenantStep, self.step, 0);
            self.step_ends = self.step_ends.plus(length.max(SHORTEST_STEP));
            self.step += 1;
        }
        each.times(self.sandboxes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_follow_time_whoever_asks_how_often() {
        let profile = OtherTenants {
            sandboxes: Some(Distribution::Uniform { min: 0.0, max: 50.0 }),
            step: Distribution::Constant(10.0),
        };
        let luck = Luck::new(3, 0);
        let each = Resources::of_sandbox(1.0, 1.0, 3.0);
        let mut eager = Tenants::new(&profile);
        let levels: Vec<i64> =
            (0..100).map(|second| eager.used(Time::from_secs(second), each, &luck).slots).collect();
        assert!(levels.chunks(10).all(|step| step.iter().all(|&level| level == step[0])));
        assert!(levels.iter().max() > levels.iter().min());
        let mut lazy = Tenants::new(&profile);
        assert_eq!(lazy.used(Time::from_secs(95), each, &luck).slots, levels[95]);
    }
}
