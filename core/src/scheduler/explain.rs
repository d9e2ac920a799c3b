//! Why a claim waits, where it stands, and how long it may take.

use super::Scheduler;
use super::queue::Tier;
use super::state::ClaimState;
use crate::id::ClaimId;
use crate::resources::Dimension;
use crate::time::Span;
use serde::{Deserialize, Serialize};

/// Why a claim is not served yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    /// It is served: a sandbox is bound.
    Served,
    /// Its sandbox is starting.
    Starting,
    /// It has capacity; all start permits are in use.
    StartPermits,
    /// Starts of its class pause after failures or by the provider's wish.
    StartPaused,
    /// It has capacity on the books; the limit in force was lowered below what is in use.
    LimitLowered,
    /// Not enough of this dimension is free.
    Capacity(Dimension),
    /// Its account is beyond its share, and this admission would eat into the reserve.
    Reserve,
    /// Capacity is held for an older claim that has been overtaken often enough.
    HeldForOlder,
    /// What is free is on its way to blocked claims (speculative claims only).
    Pledged,
    /// The server has just started and does not know yet what exists.
    Recovering,
}

/// The answer to "why does this claim wait?".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// Why it is not served yet.
    pub reason: WaitReason,
    /// Waiting claims of its level that are admitted before it if all fit (0: it is next). `None`
    /// once it is admitted.
    pub position: Option<usize>,
    /// Estimated time until it has a sandbox; `None` where nothing is known to go on.
    pub estimate: Option<Span>,
    /// How long it has waited: since it blocked, or, if it has not, since it was made.
    pub waited: Span,
    /// What is left of its patience; `None` if it is not blocked or has capacity.
    pub patience_left: Option<Span>,
}

impl Scheduler {
    /// Explains a claim's wait; `None` if the claim has ended.
    #[must_use]
    pub fn explain(&self, id: ClaimId) -> Option<Explanation> {
        let claim = self.claims.get(id)?;
        let class = self.class(claim.class);
        let reason = match claim.state {
            ClaimState::Bound => WaitReason::Served,
            ClaimState::Admitted => self.why_not_started(id),
            ClaimState::Waiting => self.why_waiting(id),
        };
        let position = (claim.state == ClaimState::Waiting).then(|| self.position(id));
        let start = class.start_average;
        let estimate = match claim.state {
            ClaimState::Bound => Some(Span::ZERO),
            ClaimState::Admitted => {
                let age = claim
                    .start
                    .map_or(Span::ZERO, |start| self.now.since(self.sandboxes[start].started_at));
                Some(start.minus(age))
            }
            ClaimState::Waiting => self
                .estimate_wait(position.unwrap_or(0))
                .map(|wait| if class.surplus() > 0 { wait } else { wait.plus(start) }),
        };
        let since = if claim.blocked { claim.blocked_at } else { claim.requested_at };
        Some(Explanation {
            reason,
            position,
            estimate,
            waited: self.now.since(since),
            patience_left: (claim.state == ClaimState::Waiting
                && claim.blocked
                && claim.patience_at != crate::time::Time::MAX)
                .then(|| claim.patience_at.since(self.now)),
        })
    }

    fn why_not_started(&self, id: ClaimId) -> WaitReason {
        let claim = &self.claims[id];
        if claim.start.is_some() {
            WaitReason::Starting
        } else if self.is_recovering() {
            WaitReason::Recovering
        } else if self.starting >= self.config.max_starting {
            WaitReason::StartPermits
        } else if self.is_start_allowed(claim.class) {
            WaitReason::LimitLowered
        } else {
            WaitReason::StartPaused
        }
    }

    fn why_waiting(&self, id: ClaimId) -> WaitReason {
        let claim = &self.claims[id];
        if self.recovery_blocks().is_some() {
            return WaitReason::Recovering;
        }
        if self.class(claim.class).surplus() <= 0 && self.is_broken(claim.class) {
            return WaitReason::StartPaused;
        }
        let tier = self.tier_of_claim(id, 0, 0);
        let exempt = self.is_exempt(id);
        let order = if claim.blocked { claim.order } else { u64::MAX };
        let room = self.room(claim.class);
        let resources = self.class(claim.class).resources;
        if let Some(dimension) = resources.short_of(&room.free)
            && room.surplus <= 0
        {
            WaitReason::Capacity(dimension)
        } else if tier == Tier::Borrowing && !self.is_admissible(claim.class, tier, exempt, &room) {
            WaitReason::Reserve
        } else if self.is_held_for_older(order, tier) {
            WaitReason::HeldForOlder
        } else {
            WaitReason::Pledged
        }
    }

    /// Waiting claims of the same level before this one.
    fn position(&self, id: ClaimId) -> usize {
        let claim = &self.claims[id];
        let key = |other: ClaimId| {
            let other_claim = &self.claims[other];
            let held = self.account(other_claim.account).held;
            let view = crate::policy::queue::WaiterView { held, order: other_claim.order };
            crate::policy::queue::key(self.config.queue_policy, &view)
        };
        let own = key(id);
        self.queue
            .iter(&self.claims)
            .chain(self.swaps.iter().copied())
            .filter(|&other| self.claims[other].blocked == claim.blocked && key(other) < own)
            .count()
    }

    /// From the pace at which leases ended of late.
    fn estimate_wait(&self, position: usize) -> Option<Span> {
        let per_lease = self.lease_ends.average()?;
        Some(per_lease.times(position as u64 + 1))
    }
}

/// How far apart lease ends are: an exponential average.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    last: Option<crate::time::Time>,
    average: Option<Span>,
}

impl Pace {
    pub(super) fn record(&mut self, now: crate::time::Time) {
        if let Some(last) = self.last {
            let gap = now.since(last).as_nanos();
            self.average = Some(Span::from_nanos(match self.average {
                None => gap,
                Some(average) => average.as_nanos() - average.as_nanos() / 8 + gap / 8,
            }));
        }
        self.last = Some(now);
    }

    fn average(&self) -> Option<Span> {
        self.average
    }
}
