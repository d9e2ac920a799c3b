//! What can be asked of the provider, and what it does and answers at once.

use super::Cloud;
use crate::daytona::faults::Fault;
use crate::daytona::listing::Listing;
use crate::daytona::luck::Purpose;
use crate::daytona::outage::Manner;
use crate::daytona::record::{Ending, Labels, Sandbox, State};
use sandpool_core::{ClassId, Dimension, ProviderId, SandboxName, Span, Time, Verb};

/// What a create asks for.
#[derive(Clone, Copy, Debug)]
pub struct CreateRequest {
    /// Unique among the sandboxes that hold one; `None`: it needs no name.
    pub name: Option<SandboxName>,
    /// Its class.
    pub class: ClassId,
    /// Its labels.
    pub labels: Labels,
    /// Whether stopping deletes it.
    pub ephemeral: bool,
    /// It is stopped after this long without activity; zero, as in Daytona, and [`Span::MAX`] are
    /// never.
    pub auto_stop: Span,
}

/// By what a request names a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The provider's own id.
    Id(ProviderId),
    /// The name, which a deleted sandbox does not hold any more.
    Name(SandboxName),
}

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It never arrived; nobody answers.
    Unheard,
    /// The service could not be reached or was overloaded.
    Unavailable,
    /// Too many requests.
    RateLimited {
        /// When to ask again, in whole seconds.
        retry_after: Span,
    },
    /// The request is wrong and stays so.
    Rejected,
    /// The quota has no room.
    Full {
        /// In which dimension.
        dimension: Dimension,
    },
    /// The name is held by another sandbox.
    NameExists,
    /// No such sandbox.
    NotFound,
    /// The sandbox is changing state.
    Conflict,
    /// It was tried and failed, for a reason of the provider's.
    Errored,
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered<T> {
    /// What came of it.
    pub outcome: Result<T, Refusal>,
    /// Whether the answer arrives. A request may be carried out without anybody hearing of it.
    pub heard: bool,
}

impl<T> Answered<T> {
    fn refused(refusal: Refusal) -> Self {
        Self { outcome: Err(refusal), heard: refusal != Refusal::Unheard }
    }
}

/// The prepare steps that run in a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preparation {
    /// Where.
    pub provider: ProviderId,
    /// When they end.
    pub ends_at: Time,
    /// Whether they fail then.
    pub fails: bool,
}

impl Cloud {
    /// Creates a sandbox. It is `creating` from now on; a [`Change`](super::Change) tells when it is started or
    /// errored (which may be at once).
    ///
    /// Refusals, in the order in which they are checked: unheard, unavailable, rate-limited,
    /// rejected (also for an unknown class), full, name exists.
    #[inline]
    pub fn create(&mut self, now: Time, request: CreateRequest) -> Answered<ProviderId> {
        self.tally.create_calls += 1;
        let number = self.tally.create_calls;
        let fault = match self.receive(now, Verb::Create, number, 0) {
            Ok(fault) => fault,
            Err(refusal) => return Answered::refused(refusal),
        };
        let outcome = self.accept(now, number, request, fault == Fault::Errored);
        Answered { outcome, heard: fault != Fault::LostAnswer }
    }

    /// Accepts a delete: the sandbox is destroying from now on and its name is free; a [`Change`](super::Change)
    /// tells when it is gone (which may be at once). An errored one is gone with the answer.
    ///
    /// Refusals: as for any request; not found; conflict while it is starting or destroying.
    #[inline]
    pub fn delete(&mut self, now: Time, key: Key) -> Answered<ProviderId> {
        self.about(now, Verb::Destroy, key, |cloud, visit| {
            let id = visit.id;
            let record = cloud.living_mut(id);
            match record.state {
                State::Creating | State::StuckDestroying | State::Destroying | State::Gone => {
                    return Err(Refusal::Conflict);
                }
                State::Errored => cloud.end(id, now),
                State::Started | State::Stopped => {
                    let number = record.number();
                    let stuck = record.state == State::Started
                        && cloud.luck.happens(
                            cloud.stuck_destroying,
                            Purpose::StuckDestroying,
                            number,
                            visit.nth,
                        );
                    cloud.begin_destroying(id, now, Ending::Deleted, stuck);
                }
                // Only sandboxes made over the API are ever in any other state.
                _ => return Err(Refusal::Conflict),
            }
            Ok(id)
        })
    }

    /// Stops a started sandbox, which deletes it if it is ephemeral.
    ///
    /// Refusals: as for any request; not found; conflict while it changes its state; rejected in
    /// any other state, because stopping what is stopped is an error at Daytona.
    pub fn stop(&mut self, now: Time, key: Key) -> Answered<ProviderId> {
        self.about(now, Verb::Destroy, key, |cloud, visit| {
            let id = visit.id;
            match cloud.living_mut(id).state {
                State::Started => cloud.halt(id, now, Ending::Deleted),
                State::Stopped | State::Errored => return Err(Refusal::Rejected),
                _ => return Err(Refusal::Conflict),
            }
            Ok(id)
        })
    }

    /// Shows one sandbox, truly. `verb` tells for what (a probe, a find): each has its own faults.
    ///
    /// Refusals: as for any request; not found.
    pub fn get(&mut self, now: Time, verb: Verb, key: Key) -> Answered<Sandbox> {
        self.about(now, verb, key, |cloud, visit| {
            let record = cloud.living_mut(visit.id);
            Ok(record.view(record.state))
        })
    }

    /// Notes that somebody uses a sandbox: its auto-stop counts from now. Shows it as well.
    ///
    /// Refusals: as for any request; not found.
    pub fn touch(&mut self, now: Time, key: Key) -> Answered<Sandbox> {
        self.about(now, Verb::KeepAlive, key, |cloud, visit| {
            let record = cloud.living_mut(visit.id);
            record.last_activity = now;
            Ok(record.view(record.state))
        })
    }

    /// Replaces the labels.
    ///
    /// Refusals: as for any request; not found.
    pub fn label(&mut self, now: Time, key: Key, labels: Labels) -> Answered<ProviderId> {
        self.about(now, Verb::Relabel, key, |cloud, visit| {
            cloud.living_mut(visit.id).labels = labels;
            Ok(visit.id)
        })
    }

    /// Begins the prepare steps of the sandbox's class, which run like any other command: the
    /// caller ends them with [`Cloud::command_ended`].
    ///
    /// Refusals: as for any request, but that failing steps fail at their end; not found, also
    /// when it is there but not usable; conflict while it is starting.
    pub fn prepare(&mut self, now: Time, key: Key) -> Answered<Preparation> {
        self.about(now, Verb::Prepare, key, |cloud, visit| {
            let id = visit.id;
            let record = cloud.living_mut(id);
            match record.state {
                State::Started => {}
                State::Creating => return Err(Refusal::Conflict),
                _ => return Err(Refusal::NotFound),
            }
            let (number, class) = (record.number(), record.class);
            cloud.command_begun(now, id);
            let takes = &cloud.takes;
            let seconds = takes
                .prepare_by_class
                .iter()
                .find(|(index, _)| *index == class.0)
                .map_or(&takes.prepare, |(_, seconds)| seconds);
            let takes = cloud.luck.span(seconds, Purpose::PrepareLatency, number, visit.nth);
            Ok(Preparation { provider: id, ends_at: now.plus(takes), fails: visit.fails })
        })
    }

    /// Lists every sandbox of this pool, errored and destroying ones included, as the index has
    /// them.
    ///
    /// Refusals: as for any request.
    pub fn list(&mut self, now: Time) -> Answered<Listing> {
        let list = self.index.count_list();
        match self.receive(now, Verb::FindAll, 0, list) {
            Err(refusal) => Answered::refused(refusal),
            Ok(Fault::Errored) => Answered::refused(Refusal::Errored),
            Ok(fault) => {
                let living = self.records.iter().flatten();
                let listing = self.index.list(now, list, living, &self.luck);
                Answered { outcome: Ok(listing), heard: fault != Fault::LostAnswer }
            }
        }
    }

    /// What meets every request on its way in: outage, faults, rate limits.
    #[inline]
    fn receive(
        &mut self,
        now: Time,
        verb: Verb,
        entity: u64,
        counter: u64,
    ) -> Result<Fault, Refusal> {
        match self.outages.at(now) {
            None => {}
            Some(Manner::Loud) => return Err(Refusal::Unavailable),
            Some(Manner::Silent) => return Err(Refusal::Unheard),
        }
        let fault = self.faults.strike(verb, entity, counter, &self.luck);
        match fault {
            Fault::LostRequest => return Err(Refusal::Unheard),
            Fault::Unavailable => return Err(Refusal::Unavailable),
            _ => {}
        }
        let limited = match verb {
            Verb::Create => self.limiters.creates.admit(now),
            Verb::Destroy => self.limiters.lifecycle.admit(now),
            _ => Ok(()),
        };
        if let Err(retry_after) = limited {
            return Err(Refusal::RateLimited { retry_after });
        }
        if fault == Fault::Rejected { Err(Refusal::Rejected) } else { Ok(fault) }
    }

    #[inline]
    fn accept(
        &mut self,
        now: Time,
        number: u64,
        request: CreateRequest,
        fails: bool,
    ) -> Result<ProviderId, Refusal> {
        let size = *self.sizes.get(usize::from(request.class.0)).ok_or(Refusal::Rejected)?;
        let others = self.tenants.used(now, self.sizes[0], &self.luck);
        if let Some(dimension) = self.quota.short_of(size, others) {
            return Err(Refusal::Full { dimension });
        }
        if request.name.is_some_and(|name| self.find(name).is_some()) {
            return Err(Refusal::NameExists);
        }
        let id = self.admit(now, number, request, size);
        self.plan_start(id, now, fails);
        Ok(id)
    }

    /// A request about one sandbox: finds it, lets the request in, and acts.
    #[inline]
    fn about<T>(
        &mut self,
        now: Time,
        verb: Verb,
        key: Key,
        act: impl FnOnce(&mut Self, Visit) -> Result<T, Refusal>,
    ) -> Answered<T> {
        let id = match key {
            Key::Id(id) => self.living_by_id(id).map(|record| record.id),
            Key::Name(name) => self.find(name),
        };
        let (entity, nth) = match id {
            Some(id) => {
                let record = self.living_mut(id);
                (record.number(), record.count_call(verb))
            }
            None => {
                self.calls_in_vain += 1;
                (0, self.calls_in_vain)
            }
        };
        let fault = match self.receive(now, verb, entity, nth) {
            Ok(fault) => fault,
            Err(refusal) => return Answered::refused(refusal),
        };
        let fails = fault == Fault::Errored;
        let outcome = match id {
            None => Err(Refusal::NotFound),
            // Prepare steps fail at their end, not at their beginning.
            Some(_) if fails && verb != Verb::Prepare => Err(Refusal::Errored),
            Some(id) => act(self, Visit { id, nth, fails }),
        };
        Answered { outcome, heard: fault != Fault::LostAnswer }
    }
}

/// A request that has reached the sandbox that it is about.
#[derive(Clone, Copy, Debug)]
struct Visit {
    id: ProviderId,
    /// How many requests of the verb about this sandbox came before.
    nth: u64,
    /// Whether what it sets going will fail.
    fails: bool,
}
