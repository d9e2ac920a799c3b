//! What must hold after each step: the scheduler's own view agrees with the model, and nothing
//! that should have been done is missing.

use super::{Checked, Naive, Phase, Progress, Sandbox, Standing, ensure, inputs::is_for_ever};
use sandpool_core::{ClassId, Resources, SandboxState, Scheduler};

impl Naive {
    /// Prepares for the outputs of a step: a warm target may have been that of before or of after
    /// while they were decided.
    pub(crate) fn before_outputs(&mut self, real: &Scheduler) {
        self.limit_after = real.capacity().limit;
        for class in self.classes() {
            let target = real.class_view(class).map_or(0, |view| view.warm_target);
            let known = &mut self.warm_targets[usize::from(class.0)];
            *known = target.max(*known);
        }
    }

    /// Starts of the class that are neither spare nor counted on by an admitted claim.
    fn doomed_starts(&self, class: ClassId, real: &Scheduler) -> i64 {
        let Some(view) = real.class_view(class) else { return 0 };
        let starting = real
            .sandboxes()
            .filter(|sandbox| sandbox.class == class && sandbox.state.is_starting())
            // A restored sandbox is no start.
            .filter(|sandbox| sandbox.state != SandboxState::New)
            .count();
        (starting + view.unstarted) as i64 - (view.spare_starts + view.admitted) as i64
    }

    /// The events tell of every start that serves nobody.
    fn doomed_agree(&mut self, real: &Scheduler) -> Checked {
        for class in self.classes() {
            let doomed = self
                .sandboxes
                .iter()
                .filter(|it| it.class == class && it.doomed && it.state.is_starting());
            let (told, counted) = (doomed.count() as i64, self.doomed_starts(class, real));
            ensure!(
                told == counted,
                "events tell of {told} doomed starts of class {class}, the view of {counted}"
            );
        }
        let had_blocked = self.blocked_waiting().next().is_some();
        self.had_blocked = had_blocked;
        Ok(())
    }

    /// Checks everything that can be seen at rest.
    pub(crate) fn rest(&mut self, real: &Scheduler) -> Checked {
        self.limit_agrees(real)?;
        self.take_restored(real);
        self.sandboxes_agree(real)?;
        self.doomed_agree(real)?;
        self.conversations_agree(real)?;
        self.ledgers_agree(real)?;
        // What is due at this very instant may still be to come.
        if real.next_deadline().is_none_or(|deadline| deadline.at > self.now) {
            real.invariants().map_err(|text| format!("invariants(): {text}"))?;
            self.everyone_is_answered()?;
            self.nothing_that_fits_waits(real)?;
            self.nothing_is_overdue()?;
        }
        self.warm_targets = self
            .classes()
            .map(|class| real.class_view(class).map_or(0, |view| view.warm_target))
            .collect();
        Ok(())
    }

    fn limit_agrees(&mut self, real: &Scheduler) -> Checked {
        let capacity = real.capacity();
        let within = |part: Resources, whole: Resources| {
            part.slots <= whole.slots
                && part.memory_mb <= whole.memory_mb
                && part.cpu_milli <= whole.cpu_milli
                && part.disk_mb <= whole.disk_mb
        };
        ensure!(
            within(capacity.limit, self.config.max),
            "the limit in force is {}, configured {}",
            capacity.limit,
            self.config.max
        );
        ensure!(
            capacity.is_lowered || capacity.limit == self.config.max,
            "the limit is {} and not called lowered; configured is {}",
            capacity.limit,
            self.config.max
        );
        self.limit = capacity.limit;
        self.is_lowered = capacity.is_lowered;
        Ok(())
    }

    /// A restored sandbox holds capacity at once; events tell of it only when it is looked at.
    fn take_restored(&mut self, real: &Scheduler) {
        for view in real.sandboxes() {
            let is_restored = self.restored.iter().any(|&(_, name)| name == view.name);
            if view.state == SandboxState::New && is_restored && self.sandbox(view.id).is_none() {
                let mut sandbox = Sandbox::new(view.id, view.class, self.now);
                sandbox.discovered = true;
                self.sandboxes.push(sandbox);
            }
        }
    }

    fn sandboxes_agree(&self, real: &Scheduler) -> Checked {
        let mut count = 0;
        for view in real.sandboxes() {
            count += 1;
            let known = self.sandbox(view.id);
            let known = known.ok_or(format!("no event told of sandbox {} {view:?}", view.id))?;
            ensure!(
                known.state == view.state && known.conversation == view.conversation,
                "sandbox {}: events say {:?} of {:?}, the view {:?} of {:?}",
                view.id,
                known.state,
                known.conversation,
                view.state,
                view.conversation
            );
            ensure!(
                view.state != SandboxState::Busy || view.conversation.is_some(),
                "sandbox {} is busy for nobody",
                view.id
            );
        }
        ensure!(
            count == self.sandboxes.len(),
            "{count} sandboxes exist, events say {}",
            self.sandboxes.len()
        );
        Ok(())
    }

    fn conversations_agree(&self, real: &Scheduler) -> Checked {
        for it in &self.conversations {
            let view = real.conversation(it.id).ok_or(format!("{} is not open", it.id))?;
            let turn = it.turn.as_ref().map(|turn| turn.id);
            ensure!(view.turn == turn, "{}: turn {turn:?}, view {:?}", it.id, view.turn);
            ensure!(view.account == it.account, "{} changed its account", it.id);
            let sandbox = self.sandbox_of(it.id).map(|sandbox| sandbox.id);
            ensure!(
                view.sandbox == sandbox,
                "{}: sandbox {sandbox:?}, view {:?}",
                it.id,
                view.sandbox
            );
            let claim = self.claim_of(it.id);
            let claim = claim.map(|claim| (claim.id, claim.blocked_at.is_some()));
            ensure!(view.claim == claim, "{}: claim {claim:?}, view {:?}", it.id, view.claim);
            let mut own = self.sandboxes.iter().filter(|s| s.conversation == Some(it.id));
            let busy =
                own.any(|sandbox| sandbox.state == SandboxState::Busy && !sandbox.discovered);
            let runs =
                it.execute.as_ref().is_some_and(|execute| execute.progress != Progress::Waiting);
            ensure!(!busy || runs, "{} is busy without a running execute", it.id);
        }
        for claim in &self.claims {
            ensure!(
                self.conversation(claim.conversation).is_some(),
                "claim {} outlives its conversation",
                claim.id
            );
        }
        Ok(())
    }

    fn ledgers_agree(&self, real: &Scheduler) -> Checked {
        let capacity = real.capacity();
        ensure!(capacity.used == self.used(), "used {}, sum {}", capacity.used, self.used());
        ensure!(
            capacity.unstarted == self.unstarted(),
            "unstarted {}, sum {}",
            capacity.unstarted,
            self.unstarted()
        );
        ensure!(capacity.free == self.free(), "free {}, sum {}", capacity.free, self.free());
        for it in &self.conversations {
            let view = real.account_view(it.account).ok_or("an account is unknown")?;
            let held = self.held(it.account);
            ensure!(
                (view.held, view.held_memory_mb) == (held.sandboxes, held.memory_mb),
                "account {} holds {} ({} MB), sum {held:?}",
                it.account,
                view.held,
                view.held_memory_mb
            );
            ensure!(
                view.is_borrowing != self.is_within_share(held),
                "account {} borrowing: {}, holds {held:?}",
                it.account,
                view.is_borrowing
            );
        }
        Ok(())
    }

    /// An execute waits only on a claim, and no longer than it may.
    fn everyone_is_answered(&self) -> Checked {
        for it in &self.conversations {
            let Some(execute) = &it.execute else { continue };
            ensure!(it.turn.is_some(), "execute {} outlives its turn", execute.id);
            if execute.progress != Progress::Waiting {
                continue;
            }
            // After a restart: until it is known what became of the command that ran before.
            if self
                .sandbox_of(it.id)
                .is_some_and(|own| own.state == SandboxState::Busy && own.discovered)
            {
                ensure!(
                    self.claim_of(it.id).is_some()
                        || self.phase == Phase::Drained
                        || is_for_ever(execute.patience)
                        || self.now <= execute.asked_at.plus(execute.patience),
                    "execute {} still waits for a probe {} after it was asked, patience {}",
                    execute.id,
                    self.now.since(execute.asked_at),
                    execute.patience
                );
                continue;
            }
            let claim = self
                .claim_of(it.id)
                .ok_or(format!("execute {} of {} waits without a claim", execute.id, it.id))?;
            ensure!(
                claim.blocked_at.is_some(),
                "execute {} waits on claim {}, which is not blocked",
                execute.id,
                claim.id
            );
            if claim.standing == Standing::Waiting && self.phase != Phase::Draining {
                ensure!(
                    is_for_ever(execute.patience)
                        || self.now < execute.asked_at.plus(execute.patience),
                    "execute {} still waits {} after it was asked, patience {}",
                    execute.id,
                    self.now.since(execute.asked_at),
                    execute.patience
                );
            }
            ensure!(
                claim.standing != Standing::Bound,
                "execute {} waits although its conversation has a sandbox",
                execute.id
            );
        }
        Ok(())
    }

    fn nothing_that_fits_waits(&self, real: &Scheduler) -> Checked {
        if self.phase != Phase::Serving {
            return Ok(());
        }
        let mut blocked = 0;
        for claim in self.blocked_waiting() {
            blocked += 1;
            ensure!(
                self.resources(claim.class).fits_into(&self.config.max),
                "claim {} waits although it can never fit",
                claim.id
            );
            ensure!(
                !self.is_admissible(claim) || self.is_held_back(claim),
                "blocked claim {} fits and waits ({:?}); free {}, supply {}, admitted {}",
                claim.id,
                real.explain(claim.id),
                self.free(),
                self.supply(claim.class),
                self.admitted(claim.class)
            );
        }
        for claim in self.claims.iter().filter(|claim| claim.standing == Standing::Waiting) {
            ensure!(
                blocked > 0 || !self.is_admissible(claim),
                "speculative claim {} fits and waits, nobody is blocked ({:?})",
                claim.id,
                real.explain(claim.id)
            );
        }
        for class in self.classes() {
            let view = real.class_view(class).ok_or("a class is unknown")?;
            let starting: i64 =
                self.classes().map(|class| self.in_state(class, SandboxState::is_starting)).sum();
            let may_start = starting < self.config.max_starting
                && !view.is_breaker_open
                && view.not_before <= self.now
                && self.may_pause_until <= self.now
                && self.resources(class).fits_into(&self.limit.minus(self.used()));
            ensure!(
                !may_start || self.unstarted_of(class) == 0,
                "{} admitted claims of class {class} wait for a start that nothing hinders; {view:?}, \
                 next {:?}",
                self.unstarted_of(class),
                real.next_deadline()
            );
            ensure!(
                self.in_state(class, |state| state == SandboxState::Warm) == 0
                    || self.admitted(class) == 0,
                "a warm sandbox of class {class} and a claim admitted for one are not matched"
            );
        }
        Ok(())
    }
}
