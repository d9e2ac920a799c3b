//! What must have happened by now: every bound on time that the settings name.

use super::{Checked, Naive, Phase, Progress, Standing, ensure, inputs::is_for_ever};
use sandpool_core::{Event, IdlePolicy, Reason, Recovery, SandboxState, Span};

impl Naive {
    /// Nothing that a setting bounds lasts longer.
    pub(crate) fn nothing_is_overdue(&self) -> Checked {
        self.no_turn_is_overdue()?;
        if self.phase == Phase::Serving {
            self.no_claim_is_overdue()?;
            self.no_sandbox_is_overdue()?;
        }
        if matches!(self.phase, Phase::Draining | Phase::Drained) {
            let waits = |it: &&super::Conversation| {
                it.execute.as_ref().is_some_and(|it| it.progress == Progress::Waiting)
            };
            let waiting = self.conversations.iter().find(waits);
            ensure!(
                waiting.is_none(),
                "{:?} has an execute that waits under a shutdown",
                waiting.map(|it| it.id)
            );
        }
        Ok(())
    }

    /// An admitted claim without a sandbox is bounded from its admission.
    fn no_claim_is_overdue(&self) -> Checked {
        for claim in self.claims.iter().filter(|claim| claim.standing == Standing::Admitted) {
            ensure!(
                self.now <= claim.start_by,
                "claim {} was admitted {} ago and has no sandbox",
                claim.id,
                self.now.since(claim.admitted_at)
            );
            let earlier = self.earlier_configs.iter().map(|it| it.max_start_attempts).max();
            let most = earlier.unwrap_or(0).max(self.config.max_start_attempts);
            ensure!(
                claim.failures < most,
                "{} starts failed on behalf of claim {}",
                claim.failures,
                claim.id
            );
        }
        Ok(())
    }

    /// A turn without a running command ends by itself.
    fn no_turn_is_overdue(&self) -> Checked {
        for it in self.conversations.iter().filter(|it| it.execute.is_none()) {
            let Some(turn) = &it.turn else { continue };
            // After a shutdown nothing needs to happen any more.
            ensure!(
                self.now <= turn.active_at.plus(self.longest(|it| it.turn_timeout))
                    || self.phase == Phase::Drained,
                "turn {} of {} has been without activity for {}",
                turn.id,
                it.id,
                self.now.since(turn.active_at)
            );
        }
        Ok(())
    }

    /// Idle sandboxes outside a turn end, warm ones are replaced.
    fn no_sandbox_is_overdue(&self) -> Checked {
        for sandbox in &self.sandboxes {
            let in_turn = sandbox
                .conversation
                .and_then(|id| self.conversation(id))
                .is_some_and(|it| it.turn.is_some());
            let age = self.now.since(sandbox.since);
            ensure!(
                sandbox.state != SandboxState::Warm || age <= self.longest(|it| it.warm_max_age),
                "sandbox {} has been warm for {age}",
                sandbox.id
            );
            let idle = self.now.since(sandbox.last_used_at.max(sandbox.turn_ended_at));
            let longest = self.longest(|it| it.idle);
            ensure!(
                sandbox.state != SandboxState::Idle
                    || in_turn
                    || is_for_ever(longest)
                    || idle <= longest,
                "sandbox {} has been idle for {idle}",
                sandbox.id
            );
        }
        Ok(())
    }

    /// An idle sandbox ends no sooner than the settings say.
    pub(crate) fn check_idle_end(&self, event: &Event) -> Checked {
        if event.reason != Reason::IdleTimeout {
            return Ok(());
        }
        let id = event.sandbox.ok_or("an idle end names no sandbox")?;
        let sandbox = self.sandbox(id).ok_or("the idle sandbox is gone")?;
        let owner = sandbox.conversation.and_then(|id| self.conversation(id));
        ensure!(
            owner.is_none_or(|it| it.turn.is_none()),
            "sandbox {id} ends as idle under an open turn"
        );
        let shortest = match self.config.idle_policy {
            IdlePolicy::Fixed => self.config.idle,
            IdlePolicy::Pressure => self.config.idle.min(self.config.idle_pressure),
        };
        let idle: Span = self.now.since(sandbox.last_used_at);
        ensure!(idle >= shortest, "sandbox {id} ends {idle} after its last use, not {shortest}");
        Ok(())
    }

    /// With recovery by destroying, nothing that an earlier instance left is taken over.
    pub(crate) fn check_adoption(&self, event: &Event) -> Checked {
        ensure!(
            event.reason != Reason::Recovery || self.config.recovery == Recovery::Adopt,
            "sandbox {:?} is adopted although recovery destroys",
            event.sandbox
        );
        Ok(())
    }
}
