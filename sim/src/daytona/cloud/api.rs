//! What a front over the network asks of the provider: the same machine, with what Daytona's API
//! knows beyond the simulator's verbs.
//!
//! Two steps make one request. First it *arrives*: outages and faults strike, with the same luck
//! that strikes the simulator's operations. Then, after whatever the front checks by itself
//! (credentials, rate limits, form), it is carried out here and judged by the sandbox's states.

use super::errands::{Desired, Errands, Phase, Work};
use super::{Cloud, CreateRequest, WorkLatencies};
use crate::daytona::faults::Fault;
use crate::daytona::luck::Purpose;
use crate::daytona::outage::Manner;
use crate::daytona::record::{Labels, State};
use sandpool_core::{ClassId, Dimension, ProviderId, Resources, Span, Time, Verb};

/// What becomes of a request on its way in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It is carried out.
    Served {
        /// Whether the answer arrives.
        heard: bool,
        /// Whether the provider fails at it.
        fails: bool,
    },
    /// It is refused for good, whatever it asks.
    Rejected,
    /// The service cannot be reached: something in front of it answers.
    Unavailable,
    /// Nobody answers, and nothing is done.
    Unheard,
}

/// What a sandbox is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// A snapshot, or an image that has been built before.
    Ready,
    /// An image that has to be built.
    ToBuild,
}

/// When the provider acts on a sandbox by itself; [`Span::MAX`] is never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetimes {
    /// Without activity this long it is stopped.
    pub auto_stop: Span,
    /// Stopped this long it is archived.
    pub auto_archive: Span,
    /// Stopped this long it is deleted; zero: stopping deletes it.
    pub auto_delete: Span,
    /// This long after its creation it is deleted.
    pub ttl: Span,
}

/// A create that the front has found in order.
#[derive(Clone, Copy, Debug)]
pub struct ApiCreate {
    /// Which create call it is, as [`Cloud::arrive_create`] said.
    pub number: u64,
    /// The size.
    pub size: Resources,
    /// What it is made from.
    pub recipe: Recipe,
    /// When the provider acts on it.
    pub lifetimes: Lifetimes,
    /// Whether its start fails.
    pub fails: bool,
}

/// Why the work for a sandbox failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The machine's own words.
    pub reason: String,
    /// Whether it can be recovered from.
    pub recoverable: bool,
}

impl Failure {
    /// Reads the machine's text: it may be a JSON object that says that recovery is possible.
    pub(super) fn of_text(text: String) -> Self {
        let object: Option<serde_json::Value> = serde_json::from_str(&text).ok();
        let said = object.as_ref().and_then(|object| {
            let recoverable = object.get("recoverable")?.as_bool()?;
            let reason = object.get("errorReason").and_then(|reason| reason.as_str());
            Some((recoverable, reason.unwrap_or_default().to_owned()))
        });
        match said {
            Some((recoverable, reason)) => Self { reason, recoverable },
            None => Self { reason: text, recoverable: false },
        }
    }
}

/// Why a request about a sandbox was refused because of the state that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deny {
    /// It is changing its state.
    InProgress,
    /// Its work failed.
    Errored,
    /// Only what is started can be stopped.
    NotStoppable,
    /// Only what is stopped can be archived.
    NotStopped,
    /// Stopping deletes it: it cannot be archived.
    Ephemeral,
    /// Neither started nor stopped.
    NotValid,
    /// Nothing failed, or not so that it can be recovered from.
    NotRecoverable,
    /// The resize changes nothing.
    NothingChanged,
    /// Disks only grow.
    DiskDecreased,
    /// Cpu and memory of what runs only grow.
    ShrunkWhileRunning(Dimension),
    /// A disk grows only while the sandbox is stopped.
    DiskWhileRunning,
    /// The quota has no room.
    Full(Dimension),
}

/// A sandbox made over the API, as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The provider's own id.
    pub provider: ProviderId,
    /// The state that is stored, by Daytona's word for it.
    pub stored: &'static str,
    /// The state that answers show, by Daytona's word for it: derived from the stored and the
    /// desired one.
    pub state: &'static str,
    /// The state that is wished for.
    pub desired: Desired,
    /// Whether another change has to wait until the one under way is over.
    pub pending: bool,
    /// Its size.
    pub size: Resources,
    /// Why its work failed, if it did.
    pub failure: Option<Failure>,
    /// When somebody last used it or changed its state.
    pub last_activity: Time,
    /// When its record last changed.
    pub updated_at: Time,
    /// When it will be deleted whatever it does, if that was asked for.
    pub ends_at: Option<Time>,
    /// Whether a command could be run in it.
    pub is_started: bool,
    /// How often what ran in it has come to its end.
    pub stops: u32,
}

impl Seen {
    /// Whether it failed and was deleted: hidden from then on.
    #[must_use]
    pub fn is_hidden(&self) -> bool {
        self.desired == Desired::Destroyed && matches!(self.stored, "error" | "build_failed")
    }
}

impl Cloud {
    /// How long the work takes that only sandboxes made over the API need.
    pub fn set_work_latencies(&mut self, latencies: &WorkLatencies) {
        self.workshop.set_latencies(latencies);
    }

    /// A create arrives; its number keys its luck.
    pub fn arrive_create(&mut self, now: Time) -> (u64, Arrival) {
        self.tally.create_calls += 1;
        let number = self.tally.create_calls;
        (number, self.arrive(now, Verb::Create, number, 0))
    }

    /// A request about one sandbox arrives, or about one that is not there.
    pub fn arrive_about(&mut self, now: Time, verb: Verb, id: Option<ProviderId>) -> Arrival {
        let living = id.and_then(|id| self.living_by_id(id)).map(|record| record.id);
        let (entity, nth) = match living {
            Some(id) => {
                let record = self.living_mut(id);
                (record.number(), record.count_call(verb))
            }
            None => {
                self.calls_in_vain += 1;
                (0, self.calls_in_vain)
            }
        };
        let arrival = self.arrive(now, verb, entity, nth);
        if let (Some(id), Verb::Destroy) = (living, verb) {
            let hangs =
                self.luck.happens(self.stuck_destroying, Purpose::StuckDestroying, entity, nth);
            let record = self.living_mut(id);
            if let (State::Started, Some(errands)) = (record.state, &mut record.errands) {
                errands.delete_hangs = hangs;
            }
        }
        arrival
    }

    /// A list arrives.
    pub fn arrive_list(&mut self, now: Time) -> Arrival {
        let list = self.index.count_list();
        self.arrive(now, Verb::FindAll, 0, list)
    }

    fn arrive(&mut self, now: Time, verb: Verb, entity: u64, counter: u64) -> Arrival {
        match self.outages.at(now) {
            None => {}
            Some(Manner::Loud) => return Arrival::Unavailable,
            Some(Manner::Silent) => return Arrival::Unheard,
        }
        match self.faults.strike(verb, entity, counter, &self.luck) {
            Fault::None => Arrival::Served { heard: true, fails: false },
            Fault::Errored => Arrival::Served { heard: true, fails: true },
            Fault::LostAnswer => Arrival::Served { heard: false, fails: false },
            Fault::LostRequest => Arrival::Unheard,
            Fault::Unavailable => Arrival::Unavailable,
            Fault::Rejected => Arrival::Rejected,
        }
    }

    /// How old what a list shows of a sandbox may be, drawn for this sandbox and list.
    #[must_use]
    pub fn list_age(&self, number: u64, list: u64) -> Span {
        self.index.age(number, list, &self.luck)
    }

    /// The first dimension in which `size` does not fit into the quota now.
    pub fn short_of(&mut self, now: Time, size: Resources) -> Option<Dimension> {
        let others = self.tenants.used(now, self.sizes[0], &self.luck);
        self.quota.short_of(size, others)
    }

    /// The quota as the provider counts it.
    #[must_use]
    pub fn quota(&self) -> Resources {
        self.quota.limit()
    }

    /// Makes a sandbox that the front has found in order, the quota included.
    ///
    /// # Panics
    /// If `create.number` was not said by [`Cloud::arrive_create`].
    pub fn make(&mut self, now: Time, create: ApiCreate) -> ProviderId {
        assert!(create.number <= self.tally.create_calls, "creates arrive before they are made");
        let id = self.admit_over_api(now, create, Desired::Started);
        match create.recipe {
            Recipe::Ready => self.accept_work(id, now, Work::Create, Desired::Started),
            Recipe::ToBuild => {
                self.enter(id, now, State::PendingBuild);
                self.accept_work(id, now, Work::Build, Desired::Started);
            }
        }
        id
    }

    /// Makes a started sandbox that belongs to nobody yet and counts for nobody.
    pub fn make_warm(&mut self, now: Time, number: u64, lifetimes: Lifetimes) -> ProviderId {
        let size = Resources::ZERO;
        let create = ApiCreate { number, size, recipe: Recipe::Ready, lifetimes, fails: false };
        let id = self.admit_over_api(now, create, Desired::Started);
        self.enter(id, now, State::Started);
        self.living_mut(id).dies_at = self.deaths.of_one(number, now, &self.luck);
        self.look_after(id, now);
        id
    }

    /// Gives a warm sandbox to somebody: it counts from now on.
    pub fn claim_warm(&mut self, now: Time, id: ProviderId, size: Resources, lifetimes: Lifetimes) {
        self.set_size(id, size);
        self.living_mut(id).last_activity = now;
        self.errands_mut(id).updated_at = now;
        self.set_lifetimes(now, id, lifetimes, now);
    }

    fn admit_over_api(&mut self, now: Time, create: ApiCreate, desired: Desired) -> ProviderId {
        let request = CreateRequest {
            name: None,
            class: ClassId(0),
            labels: Labels::default(),
            ephemeral: create.lifetimes.auto_delete == Span::ZERO,
            auto_stop: create.lifetimes.auto_stop,
        };
        let id = self.admit(now, create.number, request, create.size);
        let record = self.living_mut(id);
        record.start_fails = create.fails;
        record.errands = Some(Box::new(Errands {
            size: create.size,
            desired,
            work: None,
            phase: Phase::Waiting,
            fate: None,
            before: State::Creating,
            failure: None,
            size_before: None,
            auto_archive: create.lifetimes.auto_archive,
            auto_delete: create.lifetimes.auto_delete,
            ends_at: now.plus(create.lifetimes.ttl),
            updated_at: now,
            works: 0,
            stops: 0,
            delete_hangs: false,
        }));
        id
    }

    /// The sandbox as it is now; `None` if it is gone or was not made over the API.
    #[must_use]
    pub fn see(&self, id: ProviderId) -> Option<Seen> {
        let record = self.living_by_id(id)?;
        let errands = record.errands.as_deref()?;
        let waits_unseen = errands.work.is_some()
            && errands.phase == Phase::Waiting
            && matches!(errands.work, Some(Work::Start | Work::Restore));
        let state = if waits_unseen { errands.before } else { record.state };
        let stored = word(state);
        Some(Seen {
            provider: id,
            stored,
            state: shown(stored, errands.desired),
            desired: errands.desired,
            pending: errands.work.is_some_and(|work| work != Work::Archive),
            size: errands.size,
            failure: errands.failure.clone(),
            last_activity: record.last_activity,
            updated_at: errands.updated_at.max(record.last_activity),
            ends_at: (errands.ends_at < Time::MAX).then_some(errands.ends_at),
            stops: errands.stops,
            is_started: matches!(record.state, State::Started | State::ResizingRunning)
                && !matches!(errands.desired, Desired::Stopped | Desired::Destroyed),
        })
    }

    /// Notes that somebody uses a sandbox.
    pub fn note_activity(&mut self, now: Time, id: ProviderId) {
        if let Some(record) = self.living_by_id_mut(id) {
            record.last_activity = now;
        }
    }

    /// Changes when the provider acts on a sandbox by itself. Its time to live counts from
    /// `ttl_from`.
    pub fn set_lifetimes(
        &mut self,
        now: Time,
        id: ProviderId,
        lifetimes: Lifetimes,
        ttl_from: Time,
    ) {
        let record = self.living_mut(id);
        record.auto_stop =
            if lifetimes.auto_stop == Span::ZERO { Span::MAX } else { lifetimes.auto_stop };
        record.ephemeral = lifetimes.auto_delete == Span::ZERO;
        let errands = self.errands_mut(id);
        errands.auto_archive = lifetimes.auto_archive;
        errands.auto_delete = lifetimes.auto_delete;
        errands.ends_at = ttl_from.plus(lifetimes.ttl);
        errands.updated_at = now;
        self.look_after(id, now);
    }
}

/// Daytona's word for a stored state.
fn word(state: State) -> &'static str {
    match state {
        State::Creating => "creating",
        State::Started | State::StuckDestroying => "started",
        State::Stopped => "stopped",
        State::Errored => "error",
        State::Destroying => "destroying",
        State::Gone => "destroyed",
        State::Starting => "starting",
        State::Stopping => "stopping",
        State::Archiving => "archiving",
        State::Archived => "archived",
        State::Restoring => "restoring",
        State::ResizingRunning | State::ResizingStopped => "resizing",
        State::PendingBuild => "pending_build",
        State::Building => "building_snapshot",
        State::BuildFailed => "build_failed",
    }
}

/// The state that answers show (Daytona v0.190.0, sandbox.dto.ts).
fn shown(stored: &'static str, desired: Desired) -> &'static str {
    match (stored, desired) {
        ("started", Desired::Stopped) => "stopping",
        ("started" | "stopped" | "archived", Desired::Destroyed) => "destroying",
        ("stopped", Desired::Started) => "starting",
        ("stopped", Desired::Archived) => "archiving",
        ("started" | "stopped", Desired::Resized) => "resizing",
        _ => stored,
    }
}
