//! What must hold after every step, recomputed from scratch. Design section 7, numbered as there.

use super::queue::Tier;
use super::state::{ClaimState, ExecuteState};
use super::{Phase, Scheduler};
use crate::id::{AccountId, Id};
use crate::lifecycle::SandboxState;
use crate::resources::Resources;
use std::collections::BTreeMap;

macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+));
        }
    };
}

impl Scheduler {
    /// Checks every invariant. Costs time in proportion to everything that lives: for tests, fault
    /// search, and now and then in production.
    ///
    /// # Errors
    /// A sentence that names the first violation found. Any violation is a bug of the scheduler.
    pub fn invariants(&self) -> Result<(), String> {
        self.provider_ledger()?;
        self.account_ledger()?;
        self.bindings()?;
        self.supply_and_demand()?;
        self.answers()?;
        self.nothing_that_fits_waits()?;
        self.indexes()
    }

    /// 1. What the provider ledger counts is the sum over sandboxes that may exist.
    fn provider_ledger(&self) -> Result<(), String> {
        let mut used = Resources::ZERO;
        let mut incoming = Resources::ZERO;
        let mut starting = 0;
        for (id, sandbox) in self.sandboxes.iter() {
            ensure!(
                sandbox.state != SandboxState::Deleted,
                "sandbox {id} is gone but on the books"
            );
            let resources = self.class(sandbox.class).resources;
            used = used.plus(resources);
            if (sandbox.state == SandboxState::Destroying && !sandbox.stuck) || sandbox.doomed {
                incoming = incoming.plus(resources);
            }
            if sandbox.state.is_starting() && sandbox.state != SandboxState::New {
                starting += 1;
            }
        }
        ensure!(
            used == self.ledger.used,
            "provider ledger: {} counted, {used} exist",
            self.ledger.used
        );
        ensure!(
            incoming == self.ledger.incoming,
            "{} counted as on their way back, {incoming} are",
            self.ledger.incoming
        );
        let leased = self.sandboxes.iter().filter(|(_, s)| s.state.is_leased()).count();
        let busy = self.sandboxes.iter().filter(|(_, s)| s.state == SandboxState::Busy).count();
        ensure!(
            (leased, busy) == (self.leases, self.busy),
            "{} leases and {} busy counted, {leased} and {busy} are",
            self.leases,
            self.busy
        );
        ensure!(
            starting == self.starting,
            "{} start permits counted, {starting} used",
            self.starting
        );
        let mut unstarted = Resources::ZERO;
        for class in &self.classes {
            unstarted = unstarted.plus(class.resources.times(class.unstarted.len() as i64));
        }
        ensure!(
            unstarted == self.ledger.unstarted,
            "{} counted as promised, {unstarted} are",
            self.ledger.unstarted
        );
        Ok(())
    }

    /// 2. What an account holds is the sum over its admitted claims and leases.
    fn account_ledger(&self) -> Result<(), String> {
        let mut held: BTreeMap<AccountId, (i64, i64)> = BTreeMap::new();
        for (_, claim) in self.claims.iter() {
            if claim.state == ClaimState::Admitted {
                let entry = held.entry(claim.account).or_default();
                entry.0 += 1;
                entry.1 += self.class(claim.class).resources.memory_mb;
            }
        }
        for (id, sandbox) in self.sandboxes.iter() {
            if let Some(conversation) = sandbox.conversation {
                let conversation = self
                    .conversation_ref(conversation)
                    .ok_or_else(|| format!("sandbox {id} is bound to a closed conversation"))?;
                let entry = held.entry(conversation.account).or_default();
                entry.0 += 1;
                entry.1 += self.class(sandbox.class).resources.memory_mb;
            }
        }
        let mut borrowers = 0;
        for (index, account) in self.accounts.iter().enumerate() {
            let id = AccountId(index as u32);
            let sum = held.get(&id).copied().unwrap_or_default();
            ensure!(
                self.holding_of(id) == sum,
                "account ledger: {:?} counted for account {id}, {sum:?} held",
                self.holding_of(id)
            );
            ensure!(
                account.borrowing == self.is_borrowing(account),
                "account {id} is wrongly taken as borrowing: {}",
                account.borrowing
            );
            borrowers += usize::from(account.borrowing);
        }
        ensure!(
            borrowers == self.borrowers,
            "{} borrowers counted, {borrowers} are",
            self.borrowers
        );
        Ok(())
    }

    /// 3 and 4. At most one sandbox a conversation and one conversation a sandbox; busy only under
    /// an execute of an open turn, or unresolved.
    fn bindings(&self) -> Result<(), String> {
        for (id, sandbox) in self.sandboxes.iter() {
            ensure!(
                sandbox.state.is_leased() == sandbox.conversation.is_some(),
                "sandbox {id} is {:?} and bound to {:?}",
                sandbox.state,
                sandbox.conversation
            );
            ensure!(
                !(sandbox.used && sandbox.state == SandboxState::Warm),
                "used sandbox {id} is in the warm pool"
            );
            if let Some(conversation) = sandbox.conversation {
                let bound = self.conversation_ref(conversation).and_then(|c| c.sandbox);
                ensure!(bound == Some(id), "sandbox {id} and conversation {conversation} disagree");
            }
        }
        for conversation in self.conversations.iter().flatten() {
            let id = conversation.id;
            if let Some(sandbox) = conversation.sandbox {
                let entry = self.sandboxes.get(sandbox);
                ensure!(
                    entry.is_some_and(|entry| entry.conversation == Some(id)),
                    "conversation {id} holds sandbox {sandbox}, which does not know"
                );
                let entry = &self.sandboxes[sandbox];
                let execute = conversation.turn.and_then(|turn| turn.execute);
                let runs = execute.is_some_and(|execute| {
                    matches!(execute.state, ExecuteState::Running | ExecuteState::Unresolved)
                });
                ensure!(
                    (entry.state == SandboxState::Busy) == (runs || entry.unresolved),
                    "sandbox {sandbox} of conversation {id} is {:?} under execute {execute:?}",
                    entry.state
                );
                ensure!(
                    entry.used == (entry.state != SandboxState::Assigned),
                    "sandbox {sandbox} is {:?} and used: {}",
                    entry.state,
                    entry.used
                );
            }
            if let Some(claim) = conversation.claim {
                let entry = self.claims.get(claim);
                ensure!(
                    entry.is_some_and(|entry| entry.conversation == id),
                    "conversation {id} has claim {claim}, which does not know"
                );
                ensure!(
                    conversation.turn.is_some(),
                    "conversation {id} has a claim without a turn"
                );
            }
        }
        Ok(())
    }

    /// The two facts of late matching, and that every start counts once.
    fn supply_and_demand(&self) -> Result<(), String> {
        for (index, class) in self.classes.iter().enumerate() {
            ensure!(
                class.warm.is_empty() || class.admitted.is_empty(),
                "class {index}: warm sandboxes beside unserved claims"
            );
            ensure!(
                class.spare_starts.is_empty() || class.unstarted.is_empty(),
                "class {index}: spare starts beside unstarted claims"
            );
            for &(_, _, id) in class.admitted.iter() {
                let claim = self.claims.get(id).ok_or_else(|| format!("claim {id} is gone"))?;
                ensure!(claim.state == ClaimState::Admitted, "claim {id} is not admitted");
                ensure!(
                    claim.start.is_none() == class.unstarted.contains(&claim.service(id)),
                    "claim {id} is wrongly filed as unstarted or started"
                );
                if let Some(start) = claim.start {
                    let sandbox = self.sandboxes.get(start);
                    ensure!(
                        sandbox.is_some_and(|s| s.state.is_starting() && s.cause == Some(id)),
                        "claim {id} counts on sandbox {start}, which does not start for it"
                    );
                }
            }
            for &id in class.warm.iter() {
                let state = self.sandboxes.get(id).map(|sandbox| sandbox.state);
                ensure!(state == Some(SandboxState::Warm), "sandbox {id} in the pool is {state:?}");
            }
            for &id in class.spare_starts.iter() {
                let fine = self
                    .sandboxes
                    .get(id)
                    .is_some_and(|s| s.state.is_starting() && s.cause.is_none() && !s.doomed);
                ensure!(fine, "sandbox {id} is no spare start");
            }
        }
        for (id, sandbox) in self.sandboxes.iter() {
            let class = self.class(sandbox.class);
            ensure!(
                (sandbox.state == SandboxState::Warm) == class.warm.contains(&id),
                "sandbox {id} is {:?} and wrongly in or out of the pool",
                sandbox.state
            );
            if sandbox.state.is_starting() && sandbox.state != SandboxState::New {
                let owned = usize::from(sandbox.cause.is_some())
                    + usize::from(class.spare_starts.contains(&id))
                    + usize::from(sandbox.doomed);
                ensure!(owned == 1, "starting sandbox {id} counts {owned} times");
            }
            if let Some(cause) = sandbox.cause {
                let claim = self.claims.get(cause).ok_or_else(|| {
                    format!("sandbox {id} starts for claim {cause}, which has ended")
                })?;
                ensure!(
                    claim.start == Some(id) || claim.limbo == Some(id),
                    "sandbox {id} starts for claim {cause}, which does not know"
                );
            }
        }
        Ok(())
    }

    /// 5. Every blocked claim has an execute behind it and is bounded, by patience or by its start.
    fn answers(&self) -> Result<(), String> {
        ensure!(self.draining_claims() == 0, "claims survive a shutdown");
        for (id, claim) in self.claims.iter() {
            let conversation = self
                .conversation_ref(claim.conversation)
                .ok_or_else(|| format!("claim {id} belongs to a closed conversation"))?;
            ensure!(conversation.claim == Some(id), "claim {id} is unknown to its conversation");
            let waits = conversation
                .turn
                .and_then(|turn| turn.execute)
                .is_some_and(|execute| execute.state == ExecuteState::Waiting);
            ensure!(
                waits == claim.blocked,
                "claim {id}: blocked {}, waited for {waits}",
                claim.blocked
            );
            ensure!(
                !(claim.blocked && claim.state == ClaimState::Bound),
                "claim {id} is bound and still unanswered"
            );
            if claim.state == ClaimState::Waiting && claim.blocked {
                ensure!(
                    claim.patience_at >= self.now,
                    "claim {id} waits beyond its patience ({} < {})",
                    claim.patience_at,
                    self.now
                );
            }
            if claim.state == ClaimState::Admitted {
                ensure!(
                    claim.start_deadline >= self.now,
                    "claim {id} waits for its start beyond the bound"
                );
            }
            if let Some(limbo) = claim.limbo {
                let state = self.sandboxes.get(limbo).map(|sandbox| sandbox.state);
                ensure!(
                    state == Some(SandboxState::Limbo),
                    "claim {id} counts sandbox {limbo} as limbo, which is {state:?}"
                );
            }
        }
        for conversation in self.conversations.iter().flatten() {
            let waits = conversation
                .turn
                .and_then(|turn| turn.execute)
                .is_some_and(|execute| execute.state == ExecuteState::Waiting);
            ensure!(
                !waits || conversation.claim.is_some(),
                "conversation {}: an execute waits behind no claim",
                conversation.id
            );
        }
        Ok(())
    }

    /// 6. Nothing that fits waits; nobody is overtaken beyond the bound.
    fn nothing_that_fits_waits(&self) -> Result<(), String> {
        for (id, claim) in self.claims.iter() {
            ensure!(
                claim.overtakes <= self.config.max_overtakes || claim.state != ClaimState::Waiting,
                "claim {id} was overtaken {} times",
                claim.overtakes
            );
        }
        // What is due at this very instant has not happened yet.
        let due = self.next_deadline().is_some_and(|deadline| deadline.at <= self.now);
        if self.phase != Phase::Running || due {
            return Ok(());
        }
        if let Some(id) = self.admissible_waiter() {
            let claim = &self.claims[id];
            return Err(format!(
                "claim {id} (blocked: {}, class {}, {:?}) fits and waits; {:?}, pledged {}, surplus {}",
                claim.blocked,
                claim.class,
                self.tier(claim.account, claim.class),
                self.capacity(),
                self.ledger.pledged,
                self.class(claim.class).surplus(),
            ));
        }
        for &id in &self.swaps {
            let claim = &self.claims[id];
            let tier = self.tier_of_claim(id, 0, 0);
            ensure!(
                !self.is_admissible(claim.class, tier, self.is_exempt(id), &self.room(claim.class)),
                "swap {id} fits and waits"
            );
        }
        for class in self.class_ids() {
            ensure!(
                self.class(class).unstarted.is_empty()
                    || !self.is_start_allowed(class)
                    || !self.ledger.may_create(self.class(class).resources),
                "a start of class {class} is allowed and wanted, and not made"
            );
        }
        Ok(())
    }

    /// Sets that are kept beside the objects say the same as the objects.
    fn indexes(&self) -> Result<(), String> {
        self.queue.check(&self.claims, |account, class| self.standing(account, class))?;
        let mut waiting = 0;
        let mut revocable = 0;
        for (id, claim) in self.claims.iter() {
            waiting += usize::from(claim.state == ClaimState::Waiting && claim.swap.is_none());
            if claim.state == ClaimState::Waiting {
                ensure!(claim.admission == 0, "claim {id} waits with an admission");
                continue;
            }
            let account = self.account(claim.account);
            let listed = account.revocable.contains(&(claim.admission, id));
            ensure!(listed != claim.blocked, "claim {id} is wrongly revocable or not");
            let key = (!account.borrowing, std::cmp::Reverse(claim.admission), id);
            ensure!(self.revocable.contains(&key) == listed, "claim {id} is filed wrongly");
            revocable += usize::from(listed);
        }
        ensure!(waiting == self.queue.len(), "{} claims queue, {waiting} wait", self.queue.len());
        ensure!(revocable == self.revocable.len(), "stale revocable claims");
        let resources = self
            .revocable
            .iter()
            .map(|&(_, _, id)| self.class(self.claims[id].class).resources)
            .fold(Resources::ZERO, Resources::plus);
        ensure!(
            resources == self.revocable_resources,
            "{} counted as revocable, {resources} are",
            self.revocable_resources
        );
        let by_account: u32 = self.accounts.iter().map(|account| account.waiting).sum();
        ensure!(
            by_account as usize == waiting,
            "accounts count {by_account} waiting, {waiting} are"
        );
        for (id, sandbox) in self.sandboxes.iter() {
            let idling = sandbox.idle_since != crate::time::Time::MAX;
            if let Some(conversation) = sandbox.conversation {
                let conversation = self.conversation_ref(conversation).expect("checked before");
                let listed =
                    self.account(conversation.account).idle.contains(&(sandbox.idle_since, id));
                ensure!(listed == idling, "sandbox {id} is wrongly listed as idle");
                ensure!(
                    !idling || (sandbox.state == SandboxState::Idle && conversation.turn.is_none()),
                    "sandbox {id} idles inside a turn or while {:?}",
                    sandbox.state
                );
            } else {
                ensure!(!idling, "unbound sandbox {id} idles");
            }
        }
        let idling =
            self.sandboxes.iter().filter(|(_, s)| s.idle_since != crate::time::Time::MAX).count();
        ensure!(
            idling == self.idle_sandboxes(),
            "{} sandboxes listed as idling, {idling} do",
            self.idle_sandboxes()
        );
        let filed = self.sandboxes.iter().filter(|(_, s)| s.reclaim_key.is_some()).count();
        ensure!(
            filed == self.reclaimable_sandboxes(),
            "{} sandboxes filed as reclaimable, {filed} are",
            self.reclaimable_sandboxes()
        );
        for tier in Tier::BOTH {
            for class in self.class_ids() {
                for (_, id) in self.queue.heads(class, tier, true) {
                    let claim = &self.claims[id];
                    ensure!(
                        self.tier(claim.account, claim.class) == tier,
                        "claim {id} waits under the wrong rule"
                    );
                }
            }
        }
        for (index, slot) in self.conversations.iter().enumerate() {
            if let Some(conversation) = slot {
                ensure!(
                    conversation.id.index() == index,
                    "conversation {} is misplaced",
                    conversation.id
                );
            }
        }
        Ok(())
    }
}
