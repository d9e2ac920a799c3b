//! The provider as the scheduler meets it: operations in, replies out when they are due.
//!
//! This is what an adapter over a network does, in virtual time: it puts an operation to the
//! [`Cloud`] as one of the provider's own calls, waits for what has to be waited for, and says the
//! outcome in the scheduler's words. A create is answered when the sandbox has started, a destroy
//! when it is gone; everything else after one call.

use super::cloud::{Answered, Cloud, CreateRequest, Key, Preparation, Refusal};
use super::listing::Listing;
use super::profile::Profile;
use super::record::{Finished, Labels, Sandbox, State, index_of};
use crate::agenda::Agenda;
use sandpool_core::{
    Class, Failure, Id, Inventory, InventoryItem, OpId, Operation, Provider, ProviderId, Reply,
    Span, Time, Verb,
};
use std::collections::VecDeque;

/// The simulated provider behind its adapter.
///
/// Drive it like this: [`Machine::submit`] operations; drain [`Machine::poll`]; jump to
/// [`Machine::next_at`] and [`Machine::advance`] there; drain again. Answers that take no time can
/// be polled right after the submit. Time may not go back.
///
/// ```
/// use sandpool_core::{Class, ClassId, Id, OpId, Operation, Reply, SandboxName, Time, Verb};
/// use sandpool_sim::{Machine, Profile};
///
/// let mut machine = Machine::new(&Profile::default(), &[Class::default()], 1, 0);
/// let create = Operation {
///     op: OpId::new(1, 0),
///     verb: Verb::Create,
///     sandbox: None,
///     name: SandboxName { epoch: 1, sequence: 1 },
///     provider: None,
///     class: ClassId(0),
///     conversation: None,
/// };
/// machine.submit(Time::ZERO, create);
/// assert_eq!(machine.poll(), None);
/// let started_at = machine.next_at().expect("the start will end");
/// machine.advance(started_at);
/// let Some((op, Reply::Created { provider })) = machine.poll() else { panic!("not created") };
/// assert_eq!(op, create.op);
/// assert!(machine.is_alive(started_at, provider));
/// ```
#[derive(Clone, Debug)]
pub struct Machine {
    cloud: Cloud,
    auto_stop: Span,
    now: Time,
    /// The instance of the scheduler that is at work: the latest one that created or listed.
    epoch: u32,
    /// Who waits for what, by the slot of the sandbox.
    waiting: Vec<Waiting>,
    pending: Vec<Option<Pending>>,
    vacant: Vec<u32>,
    agenda: Agenda,
    ready: VecDeque<(OpId, Reply)>,
}

/// Whether a sandbox can be used, as somebody who tries finds out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usability {
    /// Commands run in it.
    Yes,
    /// For certain not there any more, or for certain unusable.
    Gone,
    /// No answer, or one that does not tell.
    Unreachable,
}

/// Operations that wait for a sandbox's next change.
#[derive(Clone, Debug, Default)]
struct Waiting {
    create: Option<OpId>,
    /// With the earliest instant at which it can be answered.
    destroy: Option<(OpId, Time)>,
    /// Further ones that wait for the same end.
    destroys: Vec<(OpId, Time)>,
}

impl Waiting {
    fn add_destroy(&mut self, op: OpId, not_before: Time) {
        if self.destroy.is_none() {
            self.destroy = Some((op, not_before));
        } else {
            self.destroys.push((op, not_before));
        }
    }
}

/// What happens when an answer is due.
#[derive(Clone, Debug)]
enum Pending {
    Reply(OpId, Reply),
    /// Prepare steps end; nobody is told if the one who asked has crashed.
    PrepareEnds(Option<OpId>, Preparation),
}

impl Machine {
    /// A provider without sandboxes. `classes` as in the scheduler's configuration, the default
    /// class first; (seed, replication) fix every bit of luck.
    #[must_use]
    pub fn new(profile: &Profile, classes: &[Class], seed: u64, replication: u32) -> Self {
        Self {
            cloud: Cloud::new(profile, classes, seed, replication),
            auto_stop: profile.auto_stop,
            now: Time::ZERO,
            epoch: 0,
            waiting: Vec::new(),
            pending: Vec::new(),
            vacant: Vec::new(),
            agenda: Agenda::default(),
            ready: VecDeque::new(),
        }
    }

    /// The provider itself: the truth, for checkers and costs.
    #[must_use]
    pub fn cloud(&self) -> &Cloud {
        &self.cloud
    }

    /// New templates; those that exist keep their place.
    pub fn add_classes(&mut self, classes: &[Class]) {
        self.cloud.add_classes(classes);
    }

    /// Takes the bills of the sandboxes that went since the last call. Until they are taken they
    /// are kept: a run without this call grows.
    pub fn take_finished(&mut self) -> std::vec::Drain<'_, Finished> {
        self.cloud.take_finished()
    }

    /// Puts an operation to the provider. It takes effect at once and is answered when its answer
    /// is due, or never.
    pub fn submit(&mut self, now: Time, operation: Operation) {
        self.advance(now);
        let op = operation.op;
        let key = operation.provider.map_or(Key::Name(operation.name), Key::Id);
        match operation.verb {
            Verb::Create => self.create(&operation),
            Verb::Prepare => self.prepare(op, key),
            Verb::Destroy => self.destroy(op, key),
            Verb::Probe => {
                let answered = self.cloud.get(self.now, Verb::Probe, key);
                self.answer(op, answered, alive_or_gone, Reply::Gone);
            }
            Verb::KeepAlive => {
                let answered = self.cloud.touch(self.now, key);
                self.answer(op, answered, alive_or_gone, Reply::Gone);
            }
            Verb::Find => {
                let answered = self.cloud.get(self.now, Verb::Find, Key::Name(operation.name));
                self.answer(op, answered, found, Reply::Absent);
            }
            Verb::FindAll => {
                self.epoch = operation.name.epoch;
                let answered = self.cloud.list(self.now);
                self.answer(op, answered, inventory, Reply::Inventory(Inventory::default()));
            }
            Verb::Relabel => {
                let labels = Labels { epoch: self.epoch, conversation: operation.conversation };
                let answered = self.cloud.label(self.now, key, labels);
                self.answer(op, answered, |_| Reply::Relabelled, Reply::Gone);
            }
        }
    }

    /// When the machine next has something to do or an answer to give; `None` if never.
    #[must_use]
    #[inline]
    pub fn next_at(&self) -> Option<Time> {
        if !self.ready.is_empty() {
            return Some(self.now);
        }
        match (self.cloud.next_at(), self.agenda.next_at()) {
            (Some(cloud), Some(answer)) => Some(cloud.min(answer)),
            (cloud, answer) => cloud.or(answer),
        }
    }

    /// Lets everything happen that is due by `now`.
    #[inline]
    pub fn advance(&mut self, now: Time) {
        loop {
            let cloud = self.cloud.next_at().unwrap_or(Time::MAX);
            let answer = self.agenda.next_at().unwrap_or(Time::MAX);
            let next = cloud.min(answer);
            if next > now || next == Time::MAX {
                break;
            }
            self.now = self.now.max(next);
            // What happens to a sandbox comes before what is said about it at the same instant.
            if cloud <= answer {
                self.cloud.step(cloud);
                self.settle();
            } else if let Some((at, slot)) = self.agenda.pop_due(answer) {
                self.vacant.push(slot);
                if let Some(pending) = self.pending[slot as usize].take() {
                    self.give(at, pending);
                }
            }
        }
        self.now = self.now.max(now);
    }

    /// The next answer that is due by the last instant that was submitted at or advanced to.
    #[inline]
    pub fn poll(&mut self) -> Option<(OpId, Reply)> {
        self.ready.pop_front()
    }

    /// Our own server crashed: nobody waits for an answer any more. What the provider has accepted
    /// goes on, and so do commands in sandboxes, until [`Machine::execute_ended`].
    pub fn forget_clients(&mut self) {
        self.ready.clear();
        for waiting in &mut self.waiting {
            *waiting = Waiting::default();
        }
        for slot in 0..self.pending.len() {
            match &mut self.pending[slot] {
                Some(Pending::PrepareEnds(op, _)) => *op = None,
                Some(Pending::Reply(..)) => {
                    self.pending[slot] = None;
                    self.agenda.cancel(slot as u32);
                    self.vacant.push(slot as u32);
                }
                None => {}
            }
        }
    }

    /// A command begins in a sandbox: until it ends, the sandbox is not quiet and its auto-stop
    /// keeps away. Nothing happens if the sandbox is gone.
    pub fn execute_begun(&mut self, now: Time, provider: ProviderId) {
        self.advance(now);
        self.cloud.command_begun(now, provider);
    }

    /// A command that was begun has ended, or was cut off. Nothing happens if the sandbox is gone.
    pub fn execute_ended(&mut self, now: Time, provider: ProviderId) {
        self.advance(now);
        self.cloud.command_ended(now, provider);
    }

    /// Whether the sandbox is started, in truth.
    pub fn is_alive(&mut self, now: Time, provider: ProviderId) -> bool {
        self.advance(now);
        self.state(provider) == State::Started
    }

    /// What somebody finds who uses the sandbox now. During an outage nobody can tell.
    pub fn usable(&mut self, now: Time, provider: ProviderId) -> Usability {
        self.advance(now);
        if !self.cloud.is_reachable(now) {
            return Usability::Unreachable;
        }
        match self.state(provider) {
            State::Started => Usability::Yes,
            State::Creating => Usability::Unreachable,
            _ => Usability::Gone,
        }
    }

    /// Places that are kept for sandboxes, answers and list entries.
    #[cfg(test)]
    pub(super) fn footprint(&self) -> usize {
        self.waiting.len().max(self.pending.len()).max(self.cloud.footprint())
    }

    #[inline]
    fn create(&mut self, operation: &Operation) {
        self.epoch = operation.name.epoch;
        let answered = self.cloud.create(
            self.now,
            CreateRequest {
                name: Some(operation.name),
                class: operation.class,
                labels: Labels {
                    epoch: operation.name.epoch,
                    conversation: operation.conversation,
                },
                ephemeral: true,
                auto_stop: self.auto_stop,
            },
        );
        match answered.outcome {
            Ok(provider) if answered.heard => {
                self.waiting_for(provider).create = Some(operation.op);
            }
            Ok(_) => {}
            Err(refusal) if answered.heard => self.refuse(operation.op, refusal),
            Err(_) => {}
        }
        self.settle();
    }

    fn prepare(&mut self, op: OpId, key: Key) {
        let answered = self.cloud.prepare(self.now, key);
        match answered.outcome {
            Ok(preparation) => {
                // The steps run whether or not anybody hears of their end.
                let op = answered.heard.then_some(op);
                self.at(preparation.ends_at, Pending::PrepareEnds(op, preparation));
            }
            Err(_) if !answered.heard => {}
            Err(Refusal::NotFound) => self.reply(op, Reply::Gone),
            Err(refusal) => self.refuse(op, refusal),
        }
    }

    #[inline]
    fn destroy(&mut self, op: OpId, key: Key) {
        let not_before = self.now.plus(self.cloud.call_latency(op.sequence(), 0));
        let answered = self.cloud.delete(self.now, key);
        match (answered.outcome, key) {
            _ if !answered.heard => {}
            (Ok(provider), _) => self.waiting_for(provider).add_destroy(op, not_before),
            (Err(Refusal::NotFound), _) => self.reply(op, Reply::Destroyed),
            // It is on its way out already: that is what was asked for, and the end is awaited.
            (Err(Refusal::Conflict), Key::Id(provider))
                if self.state(provider) != State::Creating =>
            {
                self.waiting_for(provider).add_destroy(op, not_before);
            }
            (Err(refusal), _) => self.refuse(op, refusal),
        }
        self.settle();
    }

    /// Answers a call that is over with its first answer.
    fn answer<T>(
        &mut self,
        op: OpId,
        answered: Answered<T>,
        say: impl FnOnce(T) -> Reply,
        not_found: Reply,
    ) {
        if !answered.heard {
            return;
        }
        match answered.outcome {
            Ok(value) => self.reply(op, say(value)),
            Err(Refusal::NotFound) => self.reply(op, not_found),
            Err(refusal) => self.refuse(op, refusal),
        }
    }

    fn refuse(&mut self, op: OpId, refusal: Refusal) {
        if let Some(failure) = failure(refusal) {
            self.reply(op, Reply::Failed(failure));
        }
    }

    /// Answers after one short call.
    fn reply(&mut self, op: OpId, reply: Reply) {
        let at = self.now.plus(self.cloud.call_latency(op.sequence(), 0));
        self.at(at, Pending::Reply(op, reply));
    }

    /// Gives answers to those who waited for what has just happened.
    #[inline]
    fn settle(&mut self) {
        while let Some(change) = self.cloud.poll_change() {
            // Nobody ever waited for a sandbox in this slot: a create whose answer is lost.
            let slot = index_of(change.provider);
            let Some(waiting) = self.waiting.get_mut(slot) else { continue };
            // Whoever polls for an end during an outage learns of it when the outage is over.
            let at = self.cloud.reachable_at(change.at);
            match change.state {
                State::Started => {
                    if let Some(op) = waiting.create.take() {
                        let reply = Reply::Created { provider: change.provider };
                        self.at(at, Pending::Reply(op, reply));
                    }
                }
                State::Errored => {
                    if let Some(op) = waiting.create.take() {
                        self.at(at, Pending::Reply(op, Reply::Failed(Failure::Errored)));
                    }
                }
                State::Gone => {
                    let Some((op, not_before)) = waiting.destroy.take() else { continue };
                    let others = std::mem::take(&mut waiting.destroys);
                    self.at(at.max(not_before), Pending::Reply(op, Reply::Destroyed));
                    for (op, not_before) in others {
                        self.at(at.max(not_before), Pending::Reply(op, Reply::Destroyed));
                    }
                }
                _ => {}
            }
        }
    }

    /// Something is due at an instant, which may be now.
    #[inline]
    fn at(&mut self, at: Time, pending: Pending) {
        if at <= self.now {
            self.give(at, pending);
        } else {
            self.put_off(at, pending);
        }
    }

    fn put_off(&mut self, at: Time, pending: Pending) {
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.pending.push(None);
            (self.pending.len() - 1) as u32
        });
        self.pending[slot as usize] = Some(pending);
        self.agenda.set(slot, at);
    }

    #[inline]
    fn give(&mut self, at: Time, pending: Pending) {
        match pending {
            Pending::Reply(op, reply) => self.ready.push_back((op, reply)),
            Pending::PrepareEnds(op, preparation) => {
                self.cloud.command_ended(at, preparation.provider);
                let Some(op) = op else { return };
                let reply = if !self.cloud.is_reachable(at) {
                    if self.cloud.is_mute(at) {
                        return;
                    }
                    // The connection broke: how the steps ended is not known.
                    Reply::Failed(Failure::Lost)
                } else if self.state(preparation.provider) != State::Started {
                    Reply::Gone
                } else if preparation.fails {
                    Reply::Failed(Failure::Errored)
                } else {
                    Reply::Prepared
                };
                self.ready.push_back((op, reply));
            }
        }
    }

    #[inline]
    fn waiting_for(&mut self, provider: ProviderId) -> &mut Waiting {
        let slot = index_of(provider);
        if slot >= self.waiting.len() {
            self.waiting.resize_with(slot + 1, Waiting::default);
        }
        &mut self.waiting[slot]
    }

    #[inline]
    fn state(&self, provider: ProviderId) -> State {
        self.cloud.sandbox(provider).map_or(State::Gone, |sandbox| sandbox.state)
    }
}

impl Provider for Machine {
    fn submit(&mut self, now: Time, operation: Operation) {
        Machine::submit(self, now, operation);
    }
}

fn alive_or_gone(sandbox: Sandbox) -> Reply {
    match sandbox.state {
        State::Started => Reply::Alive { quiet: sandbox.quiet },
        State::Creating => Reply::Failed(Failure::Conflict),
        _ => Reply::Gone,
    }
}

fn found(sandbox: Sandbox) -> Reply {
    match sandbox.state.shown() {
        Some(state) => Reply::Found { provider: sandbox.provider, state },
        None => Reply::Absent,
    }
}

fn inventory(listing: Listing) -> Reply {
    let items = listing
        .items
        .iter()
        .filter_map(|sandbox| {
            Some(InventoryItem {
                provider: sandbox.provider,
                name: sandbox.name,
                class: sandbox.class,
                state: sandbox.state.shown()?,
            })
        })
        .collect();
    Reply::Inventory(Inventory { complete: listing.complete, items })
}

/// The provider's refusal in the scheduler's words; `None` when nobody says anything.
fn failure(refusal: Refusal) -> Option<Failure> {
    Some(match refusal {
        Refusal::Unheard => return None,
        Refusal::Unavailable => Failure::Unavailable,
        Refusal::RateLimited { retry_after } => Failure::RateLimited { retry_after },
        // A request about nothing is answered before it comes to this, verb by verb.
        Refusal::Rejected | Refusal::NotFound => Failure::Rejected,
        Refusal::Full { dimension } => Failure::Full { dimension: Some(dimension) },
        Refusal::NameExists => Failure::NameExists,
        Refusal::Conflict => Failure::Conflict,
        Refusal::Errored => Failure::Errored,
    })
}
