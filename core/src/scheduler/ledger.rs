//! The two ledgers: what the provider has lent us, and what each account holds.

use super::Scheduler;
use super::queue::{Standing, Tier};
use super::small_set::SmallSet;
use super::state::{Account, ClassState};
use super::timers::Timer;
use crate::config::Class;
use crate::event::{Actor, EventKind, Reason};
use crate::id::{AccountId, ClassId};
use crate::policy::warm::DemandHistory;
use crate::resources::{Dimension, Resources};
use crate::time::{Span, Time};

/// The provider's side: a sandbox takes its resources at the decision to create it and gives them
/// back when it is confirmed gone.
#[derive(Clone, Debug)]
pub(super) struct ProviderLedger {
    /// The configured limit.
    configured: Resources,
    /// The limit in force: lower for a while after the provider said full.
    limit: Resources,
    lowered_until: Time,
    /// Held by sandboxes that may exist.
    pub(super) used: Resources,
    /// Promised to admitted claims that no start under way will serve.
    pub(super) unstarted: Resources,
    /// That part of `used` that is on its way back.
    pub(super) incoming: Resources,
    /// Of what is free or on its way back: what blocked waiters will take. Nothing speculative and
    /// nothing warm is started out of it.
    pub(super) pledged: Resources,
}

impl ProviderLedger {
    pub(super) fn new(configured: Resources) -> Self {
        Self {
            configured,
            limit: configured,
            lowered_until: Time::MAX,
            used: Resources::ZERO,
            unstarted: Resources::ZERO,
            incoming: Resources::ZERO,
            pledged: Resources::ZERO,
        }
    }

    pub(super) fn limit(&self) -> Resources {
        self.limit
    }

    pub(super) fn lowered_until(&self) -> Time {
        self.lowered_until
    }

    pub(super) fn is_lowered(&self) -> bool {
        self.lowered_until != Time::MAX
    }

    /// What an admission may count on.
    #[inline]
    pub(super) fn free(&self) -> Resources {
        self.limit.minus(self.used).minus(self.unstarted)
    }

    /// What may be started for nobody in particular, or for a claim that nobody waits for.
    pub(super) fn free_of_pledges(&self) -> Resources {
        let free = self.free();
        let rest = free.plus(self.incoming).minus(self.pledged);
        Resources {
            slots: free.slots.min(rest.slots),
            memory_mb: free.memory_mb.min(rest.memory_mb),
            cpu_milli: free.cpu_milli.min(rest.cpu_milli),
            disk_mb: free.disk_mb.min(rest.disk_mb),
        }
    }

    /// Whether one more sandbox may be created now without raising use above the limit.
    pub(super) fn may_create(&self, resources: Resources) -> bool {
        resources.fits_into(&self.limit.minus(self.used))
    }

    pub(super) fn configure(&mut self, configured: Resources) {
        self.configured = configured;
        self.limit = configured;
        self.lowered_until = Time::MAX;
    }
}

impl ClassState {
    pub(super) fn new(class: &Class) -> Self {
        Self {
            resources: class.resources,
            prepares: class.prepares,
            warm: SmallSet::default(),
            spare_starts: SmallSet::default(),
            admitted: SmallSet::default(),
            unstarted: SmallSet::default(),
            pledged_surplus: 0,
            surplus_since: Time::MAX,
            failures: 0,
            not_before: Time::ZERO,
            breaker_trips: 0,
            trial: None,
            // Until a start has been seen: the first user's cold start.
            start_average: Span::from_secs(11),
            history: DemandHistory::default(),
        }
    }

    /// Sandboxes, ready or starting, that no admitted claim counts on.
    pub(super) fn surplus(&self) -> i64 {
        (self.warm.len() + self.spare_starts.len()) as i64
    }
}

impl Scheduler {
    /// What one default-class sandbox takes, as often as the reserve says.
    pub(super) fn reserve(&self) -> Resources {
        self.classes[0].resources.times(self.config.borrow_keep_free)
    }

    /// Whether an account's next sandbox of a class is within its share, as if it already held
    /// `more` and `more_memory_mb` more than it does.
    pub(super) fn tier_with(
        &self,
        account: AccountId,
        class: ClassId,
        more: i64,
        more_memory_mb: i64,
    ) -> Tier {
        let account = self.account(account);
        let held = account.held + more;
        let memory =
            account.held_memory_mb + more_memory_mb + self.class(class).resources.memory_mb;
        // Whoever holds nothing is within its share for one sandbox of any class.
        if held == 0
            || (held < self.config.max_sandboxes_per_account
                && memory <= self.config.max_memory_mb_per_account)
        {
            Tier::Within
        } else {
            Tier::Borrowing
        }
    }

    pub(super) fn tier(&self, account: AccountId, class: ClassId) -> Tier {
        self.tier_with(account, class, 0, 0)
    }

    pub(super) fn standing(&self, account: AccountId, class: ClassId) -> Standing {
        Standing { held: self.account(account).held, tier: self.tier(account, class) }
    }

    pub(super) fn is_borrowing(&self, account: &Account) -> bool {
        account.held > self.config.max_sandboxes_per_account
            || (account.held > 1 && account.held_memory_mb > self.config.max_memory_mb_per_account)
    }

    /// The account holds one sandbox of the class more.
    pub(super) fn hold(&mut self, account: AccountId, class: ClassId) {
        let memory = self.class(class).resources.memory_mb;
        let entry = self.account_mut(account);
        entry.held += 1;
        entry.held_memory_mb += memory;
        self.holding_changed(account);
    }

    /// The account holds one sandbox of the class less.
    pub(super) fn release(&mut self, account: AccountId, class: ClassId) {
        let memory = self.class(class).resources.memory_mb;
        let entry = self.account_mut(account);
        entry.held -= 1;
        entry.held_memory_mb -= memory;
        self.holding_changed(account);
        self.dirty = true;
    }

    /// Files everything anew that depends on what the account holds.
    fn holding_changed(&mut self, account: AccountId) {
        let borrowing = self.is_borrowing(self.account(account));
        if self.account(account).waiting > 0 {
            for class in self.class_ids() {
                self.refile(account, class);
            }
        }
        if borrowing != self.account(account).borrowing {
            self.borrowing_changed(account, borrowing);
        }
    }

    /// The account began or ceased to hold more than its share: what can be taken from it stands
    /// elsewhere in the order.
    pub(super) fn borrowing_changed(&mut self, account: AccountId, borrowing: bool) {
        self.account_mut(account).borrowing = borrowing;
        if borrowing {
            self.borrowers += 1;
        } else {
            self.borrowers -= 1;
        }
        // An account crosses its share with about as many sandboxes as the share: few.
        let revocable: Vec<_> = self.account(account).revocable.iter().copied().collect();
        for (admission, claim) in revocable {
            self.revocable.remove(&(borrowing, std::cmp::Reverse(admission), claim));
            self.revocable.insert((!borrowing, std::cmp::Reverse(admission), claim));
        }
        self.refile_idle(account);
    }

    /// Files both lines of an account and class where they belong now.
    pub(super) fn refile(&mut self, account: AccountId, class: ClassId) {
        let standing = self.standing(account, class);
        for blocked in [true, false] {
            self.queue.refile(&self.claims, account, class, blocked, standing);
        }
    }

    /// Files the line of one level where it belongs now.
    pub(super) fn refile_line(&mut self, account: AccountId, class: ClassId, blocked: bool) {
        let standing = self.standing(account, class);
        self.queue.refile(&self.claims, account, class, blocked, standing);
    }

    /// The provider says full while the ledger says free: for a while the limit is what is in use.
    pub(super) fn lower_limit(&mut self, dimension: Option<Dimension>) {
        self.tell(EventKind::DriftDetected, Reason::ProviderFull, Actor::Provider, Span::ZERO);
        if self.config.full_hold == Span::ZERO {
            return;
        }
        let dimension = dimension.unwrap_or(Dimension::Slots);
        let used = self.ledger.used.get(dimension);
        let lowered = self.ledger.limit.get(dimension).min(used.max(0));
        self.ledger.limit.set(dimension, lowered);
        self.ledger.lowered_until = self.now.plus(self.config.full_hold);
        self.timers.set(self.ledger.lowered_until, Timer::LimitRestore);
        let hold = self.config.full_hold;
        self.tell(EventKind::LimitLowered, Reason::ProviderFull, Actor::Scheduler, hold);
        self.dirty = true;
    }

    pub(super) fn restore_limit(&mut self) {
        self.ledger.limit = self.ledger.configured;
        self.ledger.lowered_until = Time::MAX;
        self.tell(EventKind::LimitRestored, Reason::None, Actor::Timer, Span::ZERO);
        self.dirty = true;
    }
}
