//! Whether an admission, a binding or a refusal was right at the instant at which it was decided.

use super::{Checked, Claim, Naive, Phase, Standing, ensure, inputs::is_for_ever};
use sandpool_core::{Event, QueuePolicy, Reason, Span, Time};

impl Naive {
    /// Whether an execute was refused for a reason that holds.
    pub(super) fn check_refusal(
        &self,
        event: &Event,
        asked_at: Time,
        patience: Span,
        cancelled: bool,
    ) -> Checked {
        let now = self.now;
        let claim = event.claim.map(|id| self.claim(id)).transpose()?;
        let class = self.resources(event.class);
        match event.reason {
            Reason::Full => {
                // Whoever loses an admission to a provider that is full waits only if there is room.
                let no_room = self.said_full
                    && self.blocked_waiting().count() as i64 >= self.config.max_waiting;
                ensure!(
                    no_room || !is_for_ever(patience) && now >= asked_at.plus(patience),
                    "refused as full after {} of a patience of {patience}",
                    now.since(asked_at)
                );
                // When the provider says full, the admission is taken back on the way.
                ensure!(
                    self.said_full || claim.is_none_or(|it| it.standing == Standing::Waiting),
                    "refused as full although admitted"
                );
            }
            Reason::CouldNotStart => {
                let claim = claim.ok_or("could not start, but there is no claim")?;
                ensure!(
                    claim.failures > 0
                        || claim.standing == Standing::Admitted
                        || self.is_broken(claim.class),
                    "could not start, but was never admitted and nothing failed"
                );
            }
            Reason::NeverFits => {
                ensure!(
                    !class.fits_into(&self.config.max),
                    "refused as never fitting although {class} fits into {}",
                    self.config.max
                );
            }
            Reason::QueueTooLong => {
                let others = self.blocked_waiting().filter(|other| Some(other.id) != event.claim);
                // Whoever waited as the claim came counts, even if served in the same step.
                let waiting = (others.count() as i64).max(self.waiting_before);
                ensure!(
                    waiting >= self.config.max_waiting,
                    "refused because {waiting} of at most {} wait",
                    self.config.max_waiting
                );
            }
            Reason::ShuttingDown => ensure!(
                matches!(self.phase, Phase::Draining | Phase::Drained),
                "refused as shutting down while {:?}",
                self.phase
            ),
            Reason::Recovery => ensure!(
                claim.is_none() && now >= asked_at.plus(patience),
                "an execute is refused for the recovery after {} of a patience of {patience}",
                now.since(asked_at)
            ),
            Reason::Cancelled => ensure!(cancelled, "cancelled, but nobody asked for it"),
            other => return Err(format!("an execute is refused for {other:?}")),
        }
        Ok(())
    }

    /// Whether a claim may be admitted at this instant, and before all others.
    pub(super) fn check_admission(&self, event: &Event) -> Checked {
        let claim = self.claim(event.claim.ok_or("an admission names no claim")?)?;
        let id = claim.id;
        ensure!(self.phase == Phase::Serving, "claim {id} is admitted while {:?}", self.phase);
        ensure!(claim.standing == Standing::Waiting, "claim {id} is admitted twice");
        ensure!(
            self.is_admissible(claim),
            "claim {id} ({}) is admitted although it does not fit: free {}, used {}, limit {}, \
             account held {:?}, would borrow {}, reserve {}, supply {}, admitted {}",
            self.resources(claim.class),
            self.free(),
            self.used(),
            self.limit,
            self.held(claim.account),
            self.would_borrow(claim),
            self.reserve(),
            self.supply(claim.class),
            self.admitted(claim.class)
        );
        ensure!(
            event.span == self.now.since(claim.made_at),
            "claim {id} waited {} since it was made, the event says {}",
            self.now.since(claim.made_at),
            event.span
        );
        ensure!(
            !self.is_held_back(claim),
            "claim {id} is admitted although capacity is held for an older, overtaken one"
        );
        // A swap has the room of what its conversation gave up.
        if self.replaces(claim).is_some() {
            return Ok(());
        }
        for other in self.blocked_waiting() {
            let before = claim.blocked_at.is_none() || self.goes_before(other, claim);
            ensure!(
                other.id == id || !before || !self.is_admissible(other) || self.is_held_back(other),
                "claim {id} is admitted before claim {}, which fits and comes first",
                other.id
            );
        }
        Ok(())
    }

    /// Whether the queue policy puts `a` before `b`, both blocked.
    fn goes_before(&self, a: &Claim, b: &Claim) -> bool {
        match self.config.queue_policy {
            QueuePolicy::Fifo => a.blocked_order < b.blocked_order,
            QueuePolicy::FewestHeld => {
                let held = |claim: &Claim| self.held(claim.account).sandboxes;
                (held(a), a.blocked_order) < (held(b), b.blocked_order)
            }
        }
    }

    /// A ready sandbox goes to a claim: blocked before speculative, then in order of admission.
    pub(super) fn bind_claim(&mut self, event: &Event) -> Checked {
        let Some(id) = event.claim else { return Ok(()) };
        let now = self.now;
        let claim = self.claim(id)?;
        ensure!(
            claim.standing == Standing::Admitted,
            "claim {id} gets a sandbox while {:?}",
            claim.standing
        );
        ensure!(claim.class == event.class, "claim {id} gets a sandbox of another class");
        let rank = |claim: &Claim| (claim.blocked_at.is_none(), claim.admitted_order);
        for other in &self.claims {
            ensure!(
                other.class != claim.class
                    || other.standing != Standing::Admitted
                    || rank(other) >= rank(claim),
                "claim {id} gets a sandbox before claim {}",
                other.id
            );
        }
        let waited = claim.blocked_at.map_or(Span::ZERO, |since| now.since(since));
        ensure!(
            event.span == waited,
            "claim {id} was blocked for {waited}, the event says {}",
            event.span
        );
        self.claim_mut(id)?.standing = Standing::Bound;
        Ok(())
    }
}
