//! Shutdown: stop admitting, answer everybody, end what runs within a grace, leave nothing behind
//! (or leave what conversations hold to be adopted).

use super::state::ClaimState;
use super::timers::Timer;
use super::{Phase, Scheduler};
use crate::event::{Actor, EventKind, Reason};
use crate::id::{ClaimId, SandboxId};
use crate::input::Used;
use crate::lifecycle::SandboxState;
use crate::time::Span;

impl Scheduler {
    pub(super) fn drain(&mut self, leave_sandboxes: bool) {
        match &mut self.phase {
            // Whoever asks again may still decide that nothing is to be left.
            Phase::Draining { leave_sandboxes: leave, .. } => {
                *leave &= leave_sandboxes;
                return self.let_go_of_all();
            }
            Phase::Drained => return,
            Phase::Restoring | Phase::Recovering | Phase::Running => {}
        }
        let grace = self.config.drain_grace;
        let until = self.now.plus(grace);
        self.phase = Phase::Draining { leave_sandboxes, until };
        self.timers.set(until, Timer::DrainGrace);
        self.tell(EventKind::DrainBegan, Reason::Requested, Actor::Operator, grace);
        // Whoever waits is answered first: what a speculative claim gives back must not be handed
        // to a claim that is about to be refused.
        let claims: Vec<ClaimId> = self.claims.iter().map(|(id, _)| id).collect();
        let (blocked, speculative): (Vec<_>, Vec<_>) =
            claims.into_iter().partition(|&id| self.claims[id].blocked);
        for id in blocked {
            self.refuse(id, Reason::ShuttingDown, Actor::Operator);
        }
        for id in speculative {
            self.withdraw(id, Reason::ShuttingDown, Actor::Operator);
        }
        self.refuse_probed(Reason::ShuttingDown);
        self.let_go_of_all();
    }

    /// Executes that wait for a probe are answered too.
    fn refuse_probed(&mut self, reason: Reason) {
        let waiting: Vec<_> = self
            .conversations
            .iter()
            .flatten()
            .filter(|conversation| {
                conversation.turn.and_then(|turn| turn.execute).is_some_and(|execute| {
                    execute.state == super::state::ExecuteState::AwaitingProbe
                })
            })
            .map(|conversation| conversation.id)
            .collect();
        for id in waiting {
            self.refuse_without_claim(id, reason, Actor::Operator);
        }
    }

    /// The end of a shutdown is told once, when nothing is left but what is to be left.
    pub(super) fn go_on_draining(&mut self) {
        let Phase::Draining { leave_sandboxes, until } = self.phase else { return };
        let stays = if leave_sandboxes { self.leases } else { 0 };
        let may_still_run = leave_sandboxes && self.now < until && self.busy > 0;
        if self.sandboxes.len() == stays && !may_still_run {
            self.phase = Phase::Drained;
            self.tell(EventKind::Drained, Reason::None, Actor::Scheduler, Span::ZERO);
        }
    }

    /// Lets go of everything that can go now: as the shutdown begins, and as its grace ends. What
    /// becomes ready or comes to rest in between is destroyed as it does.
    fn let_go_of_all(&mut self) {
        let Phase::Draining { leave_sandboxes, until } = self.phase else { return };
        let over = self.now >= until;
        let ids: Vec<SandboxId> = self.sandboxes.iter().map(|(id, _)| id).collect();
        for id in ids {
            let Some(sandbox) = self.sandboxes.get(id) else { continue };
            match sandbox.state {
                SandboxState::New | SandboxState::Warm => {
                    self.destroy(id, Reason::ShuttingDown, Actor::Operator);
                }
                SandboxState::Assigned | SandboxState::Idle if !leave_sandboxes => {
                    self.destroy(id, Reason::ShuttingDown, Actor::Operator);
                }
                SandboxState::Busy if over && !leave_sandboxes => self.cut_off(id),
                SandboxState::Creating | SandboxState::Preparing if !sandbox.doomed => {
                    self.doom(id)
                }
                _ => {}
            }
        }
        self.dirty = true;
    }

    pub(super) fn drain_grace_ended(&mut self) {
        self.let_go_of_all();
    }

    /// The grace is over: the command is answered, its sandbox goes.
    fn cut_off(&mut self, id: SandboxId) {
        if let Some(conversation) = self.sandboxes[id].conversation
            && self.known_conversation(conversation).turn.and_then(|turn| turn.execute).is_some()
        {
            self.end_execute(conversation, Reason::ShuttingDown, Actor::Operator, Used::default());
        }
        self.destroy(id, Reason::ShuttingDown, Actor::Operator);
    }

    /// Whether the shutdown is complete.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.phase == Phase::Drained
    }

    /// For invariant checks: a shutdown leaves no claim.
    pub(super) fn draining_claims(&self) -> usize {
        match self.phase {
            Phase::Draining { .. } | Phase::Drained => {
                self.claims.iter().filter(|(_, claim)| claim.state != ClaimState::Bound).count()
            }
            _ => 0,
        }
    }
}
