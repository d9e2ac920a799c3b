//! Sandboxes that vanish, alone or together, without anybody being told.

use super::luck::{Luck, Purpose, Seconds};
use super::profile::Profile;
use crate::random::Distribution;
use sandpool_core::Time;

/// Deaths as the profile wants them.
#[derive(Clone, Debug)]
pub(super) struct Deaths {
    /// Life of a started sandbox; `None`: they do not die alone.
    life: Option<Seconds>,
    /// Between two group deaths; `None`: there are none.
    gap: Option<Seconds>,
    share: f64,
    group: u64,
    group_at: Time,
}

impl Deaths {
    pub(super) fn new(profile: &Profile, luck: &Luck) -> Self {
        let mean_of = |per_hour: f64| {
            (per_hour > 0.0)
                .then(|| Seconds::Drawn(Distribution::Exponential { mean: 3600.0 / per_hour }))
        };
        let mut deaths = Self {
            life: mean_of(profile.deaths_per_hour),
            gap: mean_of(profile.group_deaths_per_hour),
            share: profile.group_death_share,
            group: 0,
            group_at: Time::ZERO,
        };
        deaths.plan_group(luck);
        deaths
    }

    /// When the sandbox that create call `number` made, and that starts now, dies by itself.
    #[inline]
    pub(super) fn of_one(&self, number: u64, started: Time, luck: &Luck) -> Time {
        match &self.life {
            None => Time::MAX,
            Some(life) => started.plus(luck.span(life, Purpose::Death, number, 0)),
        }
    }

    /// When the next machine fails; [`Time::MAX`] is never.
    #[inline]
    pub(super) fn next_group_at(&self) -> Time {
        self.group_at
    }

    /// Whether the machine that fails next is the one on which this sandbox runs.
    pub(super) fn takes(&self, number: u64, luck: &Luck) -> bool {
        luck.happens(self.share, Purpose::GroupVictim, number, self.group)
    }

    /// The group death is over; plans the next.
    pub(super) fn plan_group(&mut self, luck: &Luck) {
        self.group += 1;
        self.group_at = match &self.gap {
            None => Time::MAX,
            Some(gap) => self.group_at.plus(luck.span(gap, Purpose::GroupDeath, self.group, 0)),
        };
    }
}
