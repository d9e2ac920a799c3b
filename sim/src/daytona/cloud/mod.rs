//! The provider as it is in itself: its sandboxes, and what a request does to them at once.
//!
//! Nothing here waits for anybody. A request takes effect at the instant of the call and is
//! answered by value; what happens later (a start ends, a sandbox dies) happens in
//! [`Cloud::step`] and is told as a [`Change`]. Whoever speaks for the provider adds what lies
//! between: the simulator its operations and delays, an HTTP server its requests and texts.

mod api;
mod errands;
mod life;
mod requests;
mod workshop;

pub use api::{ApiCreate, Arrival, Deny, Failure, Lifetimes, Recipe, Seen};
pub(super) use errands::Errands;
pub use errands::{Desired, Work};
pub use requests::{Answered, CreateRequest, Key, Preparation, Refusal};
pub use workshop::{RunnerState, WorkLatencies};

use super::deaths::Deaths;
use super::faults::Faults;
use super::listing::Index;
use super::luck::{Luck, Purpose, Seconds};
use super::names::Names;
use super::outage::{Manner, Outages};
use super::profile::Profile;
use super::quota::Quota;
use super::rate_limit::RateLimiters;
use super::record::{Finished, Record, Sandbox, State};
use super::tenants::Tenants;
use crate::agenda::Agenda;
use sandpool_core::{Class, ProviderId, Resources, SandboxName, Span, Time};
use std::collections::VecDeque;
use workshop::Workshop;

/// The simulated provider.
#[derive(Clone, Debug)]
pub struct Cloud {
    luck: Luck,
    takes: Takes,
    stuck_creating: f64,
    stuck_destroying: f64,
    /// What one sandbox of each class takes.
    sizes: Vec<Resources>,
    records: Vec<Option<Record>>,
    vacant: Vec<u32>,
    names: Names,
    agenda: Agenda,
    quota: Quota,
    limiters: RateLimiters,
    tenants: Tenants,
    faults: Faults,
    outages: Outages,
    deaths: Deaths,
    index: Index,
    /// Creates under way.
    starting: u32,
    tally: Tally,
    /// Calls about a name that no sandbox holds: part of the key of their luck.
    calls_in_vain: u64,
    changes: VecDeque<Change>,
    finished: Vec<Finished>,
    /// The machine that works for sandboxes made over the API.
    workshop: Box<Workshop>,
}

/// How long things take.
#[derive(Clone, Debug)]
struct Takes {
    create: Seconds,
    create_slowdown: f64,
    prepare: Seconds,
    /// The prepare steps of single classes, by the class's index.
    prepare_by_class: Vec<(u16, Seconds)>,
    delete: Seconds,
    call: Seconds,
    stuck: Seconds,
}

impl Takes {
    fn new(profile: &Profile) -> Self {
        let latencies = &profile.latencies;
        Self {
            create: Seconds::from(&latencies.create),
            create_slowdown: latencies.create_slowdown,
            prepare: Seconds::from(&latencies.prepare),
            prepare_by_class: latencies
                .prepare_by_class
                .iter()
                .map(|(class, seconds)| (*class, Seconds::from(seconds)))
                .collect(),
            delete: Seconds::from(&latencies.delete),
            call: Seconds::from(&latencies.call),
            stuck: Seconds::from(&profile.stuck_for),
        }
    }
}

/// How often what happened since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Create calls, refused and lost ones included.
    pub create_calls: u64,
    /// Sandboxes ever created, errored ones included.
    pub created: u64,
    /// Sandboxes that are gone, however they went.
    pub gone: u64,
    /// Of those, the ones that died.
    pub died: u64,
    /// Of those, the ones that the provider stopped for want of activity.
    pub auto_stopped: u64,
}

/// Something that happened to a sandbox without a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// When.
    pub at: Time,
    /// To which sandbox.
    pub provider: ProviderId,
    /// The state that it is in from now on: started, stopped, errored, or gone.
    pub state: State,
}

impl Cloud {
    /// An empty provider. `classes` are the templates that it knows, the first one being what
    /// other tenants use. (seed, replication) fix every bit of its luck.
    #[must_use]
    pub fn new(profile: &Profile, classes: &[Class], seed: u64, replication: u32) -> Self {
        let luck = Luck::new(seed, replication);
        Self {
            takes: Takes::new(profile),
            stuck_creating: profile.stuck_creating,
            stuck_destroying: profile.stuck_destroying,
            sizes: classes.iter().map(|class| class.resources).collect(),
            records: Vec::new(),
            vacant: Vec::new(),
            names: Names::default(),
            agenda: Agenda::default(),
            quota: Quota::new(profile.quota, profile.stopped_holds_disk),
            limiters: RateLimiters::new(profile.rate_limits),
            tenants: Tenants::new(&profile.other_tenants),
            faults: Faults::new(&profile.faults),
            outages: Outages::new(&profile.outages),
            deaths: Deaths::new(profile, &luck),
            index: Index::new(profile.list_lag, profile.list_partial),
            starting: 0,
            tally: Tally::default(),
            calls_in_vain: 0,
            changes: VecDeque::new(),
            finished: Vec::new(),
            workshop: Box::default(),
            luck,
        }
    }

    /// New templates; those that exist keep their place, and sandboxes keep what they took.
    pub fn add_classes(&mut self, classes: &[Class]) {
        self.sizes.extend(classes.iter().skip(self.sizes.len()).map(|class| class.resources));
    }

    /// When something happens next without a request; `None` if nothing ever will.
    #[must_use]
    #[inline]
    pub fn next_at(&self) -> Option<Time> {
        let group = self.deaths.next_group_at();
        match self.agenda.next_at() {
            Some(at) => Some(at.min(group)),
            None if group < Time::MAX && self.living() > 0 => Some(group),
            None => None,
        }
    }

    /// Lets the next thing happen that is due by `limit`; returns whether there was one.
    pub fn step(&mut self, limit: Time) -> bool {
        let group = self.deaths.next_group_at();
        if group <= limit && self.agenda.next_at().is_none_or(|at| group < at) {
            self.group_death(group);
            return true;
        }
        match self.agenda.pop_due(limit) {
            Some((at, slot)) => {
                let record = self.records[slot as usize].as_ref();
                self.due(record.expect("only records are on the agenda").id, at);
                true
            }
            None => false,
        }
    }

    /// The next thing that happened and was not told yet. Drain it after every call and step.
    #[inline]
    pub fn poll_change(&mut self) -> Option<Change> {
        self.changes.pop_front()
    }

    /// Whether calls at `now` are carried out at all.
    #[must_use]
    #[inline]
    pub fn is_reachable(&self, now: Time) -> bool {
        self.outages.at(now).is_none()
    }

    /// When calls work again, if they do not work at `now`; else `now`.
    #[must_use]
    #[inline]
    pub fn reachable_at(&self, now: Time) -> Time {
        self.outages.over_by(now)
    }

    /// Whether a call at `now` gets no answer at all.
    #[must_use]
    pub fn is_mute(&self, now: Time) -> bool {
        self.outages.at(now) == Some(Manner::Silent)
    }

    /// How long a short call takes, and the refusal of any call. `entity` and `counter` key its
    /// luck.
    #[must_use]
    #[inline]
    pub fn call_latency(&self, entity: u64, counter: u64) -> Span {
        self.luck.span(&self.takes.call, Purpose::CallLatency, entity, counter)
    }

    /// The sandbox, if the provider has it.
    #[must_use]
    pub fn sandbox(&self, id: ProviderId) -> Option<Sandbox> {
        self.living_by_id(id).map(|record| record.view(record.state))
    }

    /// The sandbox that holds the name.
    #[must_use]
    pub fn find(&self, name: SandboxName) -> Option<ProviderId> {
        let records = &self.records;
        let slot = self.names.get(name, |slot| life::name_in(records, slot))?;
        records[slot as usize].as_ref().map(|record| record.id)
    }

    /// Every sandbox that the provider has, in no meaningful order.
    pub fn sandboxes(&self) -> impl Iterator<Item = Sandbox> {
        self.records.iter().flatten().map(|record| record.view(record.state))
    }

    /// How many sandboxes the provider has, in any state.
    #[must_use]
    #[inline]
    pub fn living(&self) -> usize {
        self.records.len() - self.vacant.len()
    }

    /// What the quota counts for this pool's sandboxes now.
    #[must_use]
    pub fn counted(&self) -> Resources {
        self.quota.used()
    }

    /// Counts since the beginning.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.tally
    }

    #[cfg(test)]
    pub(super) fn footprint(&self) -> usize {
        self.records.len().max(self.changes.len()).max(self.finished.len()).max(self.index.fading())
    }

    /// Takes the bills of the sandboxes that went since the last call, in the order in which they
    /// went. Until they are taken they are kept: a run without this call grows.
    pub fn take_finished(&mut self) -> std::vec::Drain<'_, Finished> {
        self.finished.drain(..)
    }
}
