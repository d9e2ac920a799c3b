//! Folds events into the model; each decision is judged at the instant at which it was taken,
//! against what was known just before it.

use super::{Checked, Claim, Naive, Phase, Progress, Sandbox, Standing, Turn, ensure};
use sandpool_core::{
    ClaimId, Event, EventKind, Operation, Reason, SandboxId, SandboxState, Span, Verb, is_legal,
};

impl Naive {
    /// An operation was asked of the provider.
    pub(crate) fn operation(&mut self, operation: &Operation) -> Checked {
        ensure!(
            self.told_recovered,
            "{:?} asked of the provider before the store was read",
            operation.verb
        );
        if operation.verb != Verb::Create {
            return Ok(());
        }
        ensure!(
            matches!(self.phase, Phase::Serving | Phase::Draining),
            "a create while {:?}",
            self.phase
        );
        let id = operation.sandbox.ok_or("a create names no sandbox")?;
        let (used, limit) = (self.used(), self.limit);
        let (now, paused_until) = (self.now, self.paused_until);
        let sandbox = self.sandbox_mut(id).ok_or(format!("create of unknown sandbox {id}"))?;
        sandbox.creates += 1;
        ensure!(sandbox.creates == 1, "sandbox {id} is created {} times", sandbox.creates);
        ensure!(
            sandbox.state == SandboxState::Creating,
            "create of sandbox {id}, which is {:?}",
            sandbox.state
        );
        ensure!(
            now >= paused_until,
            "a create although the provider asked for a pause until {paused_until}"
        );
        let class = sandbox.class;
        let before = used.minus(self.resources(class));
        ensure!(
            self.resources(class).fits_into(&limit.minus(before)),
            "a create raises use to {used}, above the limit of {limit}"
        );
        Ok(())
    }

    /// Something happened.
    pub(crate) fn event(&mut self, event: &Event) -> Checked {
        ensure!(
            event.sequence == self.next_sequence,
            "event {} follows {}",
            event.sequence,
            self.next_sequence - 1
        );
        self.next_sequence += 1;
        ensure!(event.at == self.now, "an event of {} is told at {}", event.at, self.now);
        ensure!(event.kind != EventKind::IllegalTransition, "illegal transition: {event:?}");
        self.caller_event(event)?;
        self.claim_event(event)?;
        let moved = self.move_sandbox(event)?;
        self.sandbox_event(event, moved)?;
        self.pool_event(event)
    }

    /// Conversations, turns and executes.
    fn caller_event(&mut self, event: &Event) -> Checked {
        let now = self.now;
        let Some(id) = event.conversation else { return Ok(()) };
        let cancelled = self.cancelled.contains(&id);
        let turn_timeout = self.config.turn_timeout;
        let missing = format!("{:?} of conversation {id}, which is not open", event.kind);
        match event.kind {
            EventKind::ConversationClosed => {
                let it = self.conversation(id).ok_or(missing)?;
                ensure!(it.turn.is_none(), "conversation {id} closed with an open turn");
                ensure!(it.execute.is_none(), "conversation {id} closed with an open execute");
                self.conversations.retain(|it| it.id != id);
                self.claims
                    .retain(|claim| claim.conversation != id || claim.standing != Standing::Bound);
            }
            EventKind::TurnBegan => {
                let it = self.conversation_mut(id).ok_or(missing)?;
                ensure!(it.turn.is_none(), "a second open turn in conversation {id}");
                ensure!(event.turn.0 > it.last_turn, "turn number {} again", event.turn);
                it.last_turn = event.turn.0;
                it.turn = Some(Turn { id: event.turn, class: it.wants, active_at: now });
            }
            EventKind::TurnEnded => {
                let it = self.conversation_mut(id).ok_or(missing)?;
                let turn = it.turn.take().ok_or(format!("no turn to end in conversation {id}"))?;
                ensure!(turn.id == event.turn, "turn {} ended, {} was open", event.turn, turn.id);
                ensure!(it.execute.is_none(), "turn {} ended under an execute", turn.id);
                if event.reason == Reason::TurnTimeout {
                    ensure!(
                        now >= turn.active_at.plus(turn_timeout),
                        "turn {} timed out {} after its last activity",
                        turn.id,
                        now.since(turn.active_at)
                    );
                }
                // The turn in which it was used counts as use.
                let used = self.sandboxes.iter_mut().filter(|it| it.conversation == Some(id));
                for sandbox in used {
                    sandbox.turn_ended_at = now;
                    if sandbox.used_in == Some(turn.id) {
                        sandbox.last_used_at = now;
                    }
                }
            }
            EventKind::SandboxBusy => {
                let it = self.conversation_mut(id).ok_or(missing)?;
                let turn = it.turn.as_ref().map(|turn| turn.id);
                // A sandbox restored with a command whose end is unknown is busy for no execute.
                if event.execute.0 == 0 {
                    return Ok(());
                }
                ensure!(turn == Some(event.turn), "busy in turn {}, open is {turn:?}", event.turn);
                let execute = it.execute.as_mut().ok_or("busy without an execute")?;
                ensure!(execute.id == event.execute, "the wrong execute is told to go ahead");
                ensure!(
                    execute.progress == Progress::Waiting,
                    "execute {} is answered twice",
                    execute.id
                );
                ensure!(
                    event.span == now.since(execute.asked_at),
                    "execute {} waited {}, the event says {}",
                    execute.id,
                    now.since(execute.asked_at),
                    event.span
                );
                execute.progress = Progress::Running;
                execute.busy_at = now;
                self.answered.push((id, event.execute));
            }
            EventKind::SandboxUnavailable => {
                let it = self.conversation_mut(id).ok_or(missing)?;
                let execute = it.execute.take().ok_or("a refusal without an execute")?;
                ensure!(execute.id == event.execute, "the wrong execute is refused");
                ensure!(
                    execute.progress == Progress::Waiting,
                    "execute {} is answered twice",
                    execute.id
                );
                if let Some(turn) = &mut it.turn {
                    turn.active_at = now;
                }
                self.answered.push((id, event.execute));
                self.check_refusal(event, execute.asked_at, execute.patience, cancelled)?;
            }
            EventKind::ExecuteEnded => {
                let it = self.conversation_mut(id).ok_or(missing)?;
                if event.execute.0 == 0 {
                    return Ok(());
                }
                let execute = it.execute.take().ok_or("an end without an execute")?;
                ensure!(execute.id == event.execute, "the wrong execute ended");
                ensure!(
                    execute.progress != Progress::Waiting,
                    "execute {} ended before it was told to go ahead",
                    execute.id
                );
                ensure!(
                    event.span == now.since(execute.busy_at),
                    "execute {} ran {}, the event says {}",
                    execute.id,
                    now.since(execute.busy_at),
                    event.span
                );
                if let Some(turn) = &mut it.turn {
                    turn.active_at = now;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Blocked claims that wait.
    pub(crate) fn blocked_waiting(&self) -> impl Iterator<Item = &Claim> {
        self.claims
            .iter()
            .filter(|claim| claim.standing == Standing::Waiting && claim.blocked_at.is_some())
    }

    /// Claims: made, blocked, admitted, revoked, bound, ended.
    fn claim_event(&mut self, event: &Event) -> Checked {
        let now = self.now;
        self.orders += 1;
        let order = self.orders;
        let named = || event.claim.ok_or(format!("{:?} names no claim", event.kind));
        match event.kind {
            EventKind::SandboxRequested => self.make_claim(event, named()?)?,
            EventKind::ClaimBlocked => {
                let conversation = self.claim(named()?)?.conversation;
                let waits = self.conversation(conversation).and_then(|it| it.execute.as_ref());
                ensure!(
                    waits.is_some_and(|execute| execute.progress == Progress::Waiting),
                    "a claim is blocked although no execute waits"
                );
                let claim = self.claim_mut(named()?)?;
                ensure!(claim.blocked_at.is_none(), "claim {} is blocked twice", claim.id);
                claim.blocked_at = Some(now);
                claim.blocked_order = order;
                self.had_blocked = true;
            }
            EventKind::ClaimAdmitted => {
                self.check_admission(event)?;
                let id = named()?;
                let claim = self.claim(id)?;
                let overtaken = self.claims.iter().filter(|it| self.is_overtaken_by(it, claim));
                let overtaken: Vec<ClaimId> = overtaken.map(|older| older.id).collect();
                for older in overtaken {
                    let most = self.config.max_overtakes;
                    let older = self.claim_mut(older)?;
                    older.overtaken += 1;
                    ensure!(
                        older.overtaken <= most,
                        "claim {} is overtaken {} times, {most} allowed",
                        older.id,
                        older.overtaken
                    );
                }
                let start_timeout = self.config.start_timeout;
                let claim = self.claim_mut(id)?;
                claim.standing = Standing::Admitted;
                claim.admitted_at = now;
                claim.start_by = now.plus(start_timeout);
                claim.admitted_order = order;
            }
            EventKind::ClaimRevoked => {
                let claim = self.claim_mut(named()?)?;
                ensure!(
                    claim.standing != Standing::Waiting,
                    "claim {} is revoked, but was not admitted",
                    claim.id
                );
                claim.standing = Standing::Waiting;
                self.had_blocked |= self.claim(named()?)?.blocked_at.is_some();
            }
            EventKind::ClaimWithdrawn => {
                let id = named()?;
                self.claim(id)?;
                self.claims.retain(|claim| claim.id != id);
            }
            EventKind::SandboxUnavailable => {
                if let Some(id) = event.claim {
                    self.claims.retain(|claim| claim.id != id);
                }
            }
            EventKind::SandboxAssigned => self.bind_claim(event)?,
            // The first use ends the claim.
            EventKind::SandboxBusy => self.claims.retain(|claim| {
                Some(claim.conversation) != event.conversation || claim.standing != Standing::Bound
            }),
            _ => {}
        }
        Ok(())
    }

    fn make_claim(&mut self, event: &Event, id: ClaimId) -> Checked {
        let conversation = event.conversation.ok_or("a claim of no conversation")?;
        self.claims.retain(|claim| {
            claim.conversation != conversation || claim.standing != Standing::Bound
        });
        ensure!(
            self.claim_of(conversation).is_none(),
            "a second claim of conversation {conversation}"
        );
        let it = self.conversation(conversation).ok_or("a claim of a closed conversation")?;
        ensure!(
            it.turn.as_ref().is_some_and(|turn| turn.class == event.class),
            "claim {id} is of class {}, the turn is {:?}",
            event.class,
            it.turn
        );
        let account = it.account;
        // One that first waited for a probe has waited since it was asked for.
        let asked_at = it.execute.as_ref().map_or(self.now, |execute| execute.asked_at);
        self.had_blocked |= event.reason == Reason::Blocked;
        self.claims.push(Claim {
            id,
            conversation,
            account,
            class: event.class,
            made_at: self.now,
            standing: Standing::Waiting,
            blocked_at: (event.reason == Reason::Blocked).then_some(asked_at),
            blocked_order: self.orders,
            admitted_at: self.now,
            start_by: self.now,
            admitted_order: 0,
            overtaken: 0,
            failures: 0,
            gave_up: None,
        });
        Ok(())
    }

    /// Follows a sandbox from state to state; returns the state before, if it changed.
    fn move_sandbox(&mut self, event: &Event) -> Result<Option<SandboxState>, String> {
        let Some(id) = event.sandbox else { return Ok(None) };
        let now = self.now;
        if self.sandbox(id).is_none() {
            ensure!(
                event.state != SandboxState::Deleted || event.kind == EventKind::OrphanRemoved,
                "{:?} of sandbox {id}, which does not exist",
                event.kind
            );
            self.sandboxes.push(Sandbox::new(id, event.class, now));
        }
        let sandbox = self.sandbox_mut(id).ok_or("just made")?;
        if event.kind == EventKind::SandboxAdopted {
            // Found again: whether it is wanted is decided anew.
            sandbox.doomed = false;
        }
        ensure!(
            sandbox.class == event.class,
            "sandbox {id} changes class from {} to {}",
            sandbox.class,
            event.class
        );
        let from = sandbox.state;
        if from == event.state {
            return Ok(None);
        }
        ensure!(is_legal(from, event.state), "sandbox {id}: {from:?} -> {:?}", event.state);
        let spent = &mut sandbox.spent[from as usize];
        *spent = spent.plus(now.since(sandbox.since));
        sandbox.since = now;
        sandbox.state = event.state;
        if event.state == SandboxState::Destroying {
            sandbox.destroying_at = Some(now);
        }
        if from == SandboxState::Busy {
            sandbox.last_used_at = now;
        }
        Ok(Some(from))
    }

    /// What a sandbox's event means beyond its state.
    fn sandbox_event(&mut self, event: &Event, moved: Option<SandboxState>) -> Checked {
        let Some(id) = event.sandbox else { return Ok(()) };
        let now = self.now;
        match event.kind {
            EventKind::SandboxStarting => {
                self.check_start(event, id)?;
                let is_trial = self.broken.iter().any(|(class, _)| *class == event.class);
                let sandbox = self.sandbox_mut(id).ok_or("starting sandbox is gone")?;
                sandbox.is_trial = is_trial;
            }
            // A trial whose outcome is not known is over, whatever it turns into.
            EventKind::SandboxLimbo => {
                let sandbox = self.sandbox_mut(id).ok_or("the sandbox in limbo is gone")?;
                sandbox.is_trial = false;
            }
            EventKind::SandboxAdopted => {
                self.check_adoption(event)?;
                self.lease(event, id)?;
            }
            EventKind::SandboxDestroying => self.check_idle_end(event)?,
            EventKind::SandboxAssigned => self.lease(event, id)?,
            EventKind::SandboxBusy => {
                let sandbox = self.sandbox_mut(id).ok_or("busy sandbox is gone")?;
                ensure!(
                    event.execute.0 == 0 || sandbox.conversation == event.conversation,
                    "sandbox {id} of {:?} is busy for {:?}",
                    sandbox.conversation,
                    event.conversation
                );
                sandbox.user = sandbox.conversation;
                sandbox.used_in = Some(event.turn);
            }
            EventKind::SandboxDoomed => {
                ensure!(
                    self.had_blocked || self.phase != Phase::Serving,
                    "the start of sandbox {id} is given up and nobody is blocked"
                );
                let sandbox = self.sandbox_mut(id).ok_or("doomed sandbox is gone")?;
                ensure!(
                    sandbox.state.is_starting() && !sandbox.doomed,
                    "sandbox {id} is doomed while {:?}",
                    sandbox.state
                );
                sandbox.doomed = true;
            }
            EventKind::SandboxReclaimed => self.check_reclaim(event, id, moved)?,
            EventKind::SandboxReady => {
                let sandbox = self.sandbox(id).ok_or("ready sandbox is gone")?;
                ensure!(
                    event.span == now.since(sandbox.born_at),
                    "sandbox {id} started in {}, the event says {}",
                    now.since(sandbox.born_at),
                    event.span
                );
            }
            EventKind::SandboxFailed => {
                self.said_full |= event.reason == Reason::ProviderFull;
                // Neither counts against a claim: nothing was tried.
                let counts = !matches!(event.reason, Reason::ProviderFull | Reason::RateLimited);
                for claim in self.claims.iter_mut().filter(|_| counts) {
                    if Some(claim.id) == event.claim {
                        claim.failures += 1;
                    }
                }
            }
            EventKind::SandboxDeleted => self.bury(event, id)?,
            EventKind::OrphanRemoved => {}
            _ => {}
        }
        let start_timeout = self.config.start_timeout;
        let Some(sandbox) = self.sandbox_mut(id) else { return Ok(()) };
        if sandbox.conversation.is_some() && !sandbox.state.is_leased() {
            let (owner, class) = (sandbox.conversation.take(), sandbox.class);
            // Given up for the conversation's own claim of another class.
            for claim in &mut self.claims {
                if Some(claim.conversation) == owner
                    && claim.class != class
                    && claim.standing == Standing::Waiting
                    && matches!(event.reason, Reason::Swapped | Reason::Reclaimed)
                {
                    claim.gave_up = Some(class);
                }
            }
            // A claim whose sandbox died before its first use keeps its admission.
            if event.kind == EventKind::SandboxDied {
                for claim in &mut self.claims {
                    if Some(claim.conversation) == owner && claim.standing == Standing::Bound {
                        claim.standing = Standing::Admitted;
                        claim.admitted_at = now;
                        claim.start_by = now.plus(start_timeout);
                    }
                }
            }
        }
        Ok(())
    }

    /// Starts: within the limit, within the permits, and no more than demand and target need.
    fn check_start(&self, event: &Event, id: SandboxId) -> Checked {
        let class = event.class;
        ensure!(matches!(self.phase, Phase::Serving), "sandbox {id} starts while {:?}", self.phase);
        let amount = self.resources(class);
        let broken = self.broken.iter().find(|(broken, _)| *broken == class);
        let is_tried = |it: &&Sandbox| it.class == class && it.is_trial && it.state.is_starting();
        ensure!(
            broken.is_none_or(|&(_, until)| self.now >= until
                && self.sandboxes.iter().filter(is_tried).count() == 0),
            "sandbox {id} starts although the breaker of class {class} lets none through"
        );
        let room = self.limit.minus(self.used().minus(amount));
        ensure!(
            amount.fits_into(&room),
            "starting sandbox {id} ({amount}) raises use to {}, above {}",
            self.used(),
            self.limit
        );
        let starting: i64 =
            self.classes().map(|class| self.in_state(class, SandboxState::is_starting)).sum();
        ensure!(
            starting <= self.config.max_starting,
            "{starting} starts under way, {} allowed",
            self.config.max_starting
        );
        let target = self.warm_targets.get(usize::from(class.0)).copied().unwrap_or(0);
        let wanted = self.admitted(class) + target;
        ensure!(
            self.supply(class) <= wanted,
            "start {id} makes {} warm and starting of class {class}; admitted {}, target {target}",
            self.supply(class),
            self.admitted(class)
        );
        let for_the_pool = self.supply(class) > self.admitted(class);
        if for_the_pool && self.anyone_borrows() {
            ensure!(
                self.reserve().fits_into(&self.free()),
                "replenishing leaves {} free although somebody borrows and the reserve is {}",
                self.free(),
                self.reserve()
            );
        }
        if for_the_pool {
            // What this start does not need may be overdrawn by a lowered limit.
            let before = self.free().plus(amount);
            ensure!(
                amount.fits_into(&before),
                "replenishing takes what is promised to admitted claims: free {before}"
            );
        }
        Ok(())
    }

    /// A sandbox is bound to a conversation.
    fn lease(&mut self, event: &Event, id: SandboxId) -> Checked {
        let Some(conversation) = event.conversation else { return Ok(()) };
        let other = self.sandbox_of(conversation).map(|other| other.id);
        ensure!(
            other.is_none() || other == Some(id),
            "conversation {conversation} has sandbox {other:?} and gets {id}"
        );
        let sandbox = self.sandbox_mut(id).ok_or("leased sandbox is gone")?;
        if !sandbox.state.is_leased() {
            return Ok(());
        }
        ensure!(
            sandbox.conversation.is_none() || sandbox.conversation == Some(conversation),
            "sandbox {id} of {:?} is given to {conversation}",
            sandbox.conversation
        );
        ensure!(
            sandbox.user.is_none() || sandbox.user == Some(conversation),
            "sandbox {id}, used by {:?}, goes to {conversation}",
            sandbox.user
        );
        sandbox.conversation = Some(conversation);
        if event.kind == EventKind::SandboxAdopted {
            sandbox.discovered = true;
            sandbox.user = Some(conversation);
        }
        Ok(())
    }

    /// A sandbox is reclaimed: idle for long enough, outside a turn, and somebody needs it.
    fn check_reclaim(&self, event: &Event, id: SandboxId, moved: Option<SandboxState>) -> Checked {
        let sandbox = self.sandbox(id).ok_or("reclaimed sandbox is gone")?;
        let from = moved.unwrap_or(sandbox.state);
        ensure!(from == SandboxState::Idle, "sandbox {id} is reclaimed while {from:?}");
        let owner = sandbox.conversation.or(event.conversation).ok_or("reclaimed from nobody")?;
        let idle = self.now.since(sandbox.last_used_at);
        ensure!(
            idle >= self.config.reclaim_idle,
            "sandbox {id} is reclaimed {idle} after its last use, protected for {}",
            self.config.reclaim_idle
        );
        let owner = self.conversation(owner).ok_or("reclaimed from a closed conversation")?;
        ensure!(owner.turn.is_none(), "sandbox {id} is reclaimed under an open turn");
        // Somebody needs it: a blocked claim that is not admissible, within its share or of the
        // same account.
        let served = self
            .blocked_waiting()
            .any(|claim| !self.would_borrow(claim) || claim.account == owner.account);
        ensure!(
            served,
            "sandbox {id} is reclaimed although nobody waits who might: waiting {:?}",
            self.blocked_waiting().map(|claim| (claim.id, claim.account)).collect::<Vec<_>>()
        );
        Ok(())
    }

    /// A sandbox is gone: its times sum to its life.
    fn bury(&mut self, event: &Event, id: SandboxId) -> Checked {
        let now = self.now;
        let sandbox = self.sandbox(id).ok_or(format!("sandbox {id} is deleted twice"))?;
        ensure!(sandbox.state == SandboxState::Deleted, "deleted, but {:?}", sandbox.state);
        let life = sandbox.spent.iter().fold(Span::ZERO, |sum, &spent| sum.plus(spent));
        ensure!(
            life == now.since(sandbox.born_at),
            "sandbox {id} lived {}, its states sum to {life}",
            now.since(sandbox.born_at)
        );
        if let Some(since) = sandbox.destroying_at {
            ensure!(
                event.span == now.since(since),
                "sandbox {id} was being deleted for {}, the event says {}",
                now.since(since),
                event.span
            );
        }
        self.sandboxes.retain(|sandbox| sandbox.id != id);
        Ok(())
    }

    /// The pool as a whole.
    fn pool_event(&mut self, event: &Event) -> Checked {
        match event.kind {
            EventKind::LimitLowered | EventKind::LimitRestored | EventKind::Reconfigured => {
                self.limit = self.limit_after;
            }
            EventKind::BreakerOpened => {
                self.broken.retain(|(class, _)| *class != event.class);
                self.broken.push((event.class, self.now.plus(event.span)));
            }
            EventKind::BreakerClosed => {
                ensure!(
                    self.broken.iter().any(|(class, _)| *class == event.class),
                    "the breaker of class {} closes and was not open",
                    event.class
                );
                self.broken.retain(|(class, _)| *class != event.class);
                for sandbox in self.sandboxes.iter_mut().filter(|it| it.class == event.class) {
                    sandbox.is_trial = false;
                }
            }
            EventKind::RecoveryEnded => {
                ensure!(self.told_recovered, "recovery ended before the store was read");
                if self.phase == Phase::Recovering {
                    self.phase = Phase::Serving;
                }
            }
            EventKind::Drained => {
                ensure!(self.phase == Phase::Draining, "drained while {:?}", self.phase);
                self.phase = Phase::Drained;
                ensure!(
                    self.claims.iter().all(|claim| claim.standing == Standing::Bound),
                    "drained with claims: {:?}",
                    self.claims
                );
                ensure!(
                    self.leaves_sandboxes || self.sandboxes.is_empty(),
                    "drained with {} sandboxes",
                    self.sandboxes.len()
                );
            }
            _ => {}
        }
        Ok(())
    }
}
