//! What becomes of a sandbox: starts end, deletes end, auto-stop and death strike.

use super::{Change, Cloud, CreateRequest};
use crate::daytona::luck::Purpose;
use crate::daytona::record::{Ending, MAX_RECORDS, Record, State, id_of, index_of};
use sandpool_core::{ProviderId, Resources, SandboxName, Span, Time};

impl Cloud {
    /// A command begins in a sandbox; as long as it runs, auto-stop keeps away. Nothing happens if
    /// the sandbox is gone.
    pub fn command_begun(&mut self, now: Time, id: ProviderId) {
        if let Some(record) = self.living_by_id_mut(id) {
            record.running += 1;
            record.last_activity = now;
        }
    }

    /// A command has ended, or was cut off. Nothing happens if the sandbox is gone.
    pub fn command_ended(&mut self, now: Time, id: ProviderId) {
        if let Some(record) = self.living_by_id_mut(id) {
            record.running = record.running.saturating_sub(1);
            record.last_activity = now;
        }
    }

    /// Takes a new sandbox in, which is creating from now on.
    #[inline]
    pub(super) fn admit(
        &mut self,
        now: Time,
        number: u64,
        request: CreateRequest,
        size: Resources,
    ) -> ProviderId {
        let slot = self.vacant.pop().unwrap_or_else(|| {
            assert!(self.records.len() < MAX_RECORDS, "too many sandboxes at once");
            self.records.push(None);
            (self.records.len() - 1) as u32
        });
        let id = id_of(number, slot);
        let mut record = Record::new(id, request.name, request.class, request.labels, now);
        record.ephemeral = request.ephemeral;
        if request.auto_stop > Span::ZERO {
            record.auto_stop = request.auto_stop;
        }
        self.records[slot as usize] = Some(record);
        if let Some(name) = request.name {
            let records = &self.records;
            self.names.insert(name, slot, |slot| name_in(records, slot));
        }
        self.quota.take(size);
        self.starting += 1;
        self.tally.created += 1;
        id
    }

    /// Decides how the start of a sandbox goes, and lets it end at once if it takes no time.
    #[inline]
    pub(super) fn plan_start(&mut self, id: ProviderId, now: Time, fails: bool) {
        let number = self.living_mut(id).number();
        let (fails, takes) = self.draw_start(number, fails, self.starting - 1);
        self.living_mut(id).start_fails = fails;
        if takes == Span::ZERO {
            self.end_start(id, now);
        } else {
            self.arm(id, now, now.plus(takes));
        }
    }

    /// Whether the start of create call `number` fails, and how long it takes beside `others`.
    #[inline]
    pub(super) fn draw_start(&self, number: u64, fails: bool, others: u32) -> (bool, Span) {
        let luck = self.luck;
        if luck.happens(self.stuck_creating, Purpose::Stuck, number, 0) {
            // What hung for long is started after all or given up, and either is as common.
            let fails = fails || luck.happens(0.5, Purpose::StuckOutcome, number, 0);
            (fails, luck.span(&self.takes.stuck, Purpose::StuckFor, number, 0))
        } else {
            let alone = luck.span(&self.takes.create, Purpose::CreateLatency, number, 0);
            (fails, slowed(alone, self.takes.create_slowdown, others))
        }
    }

    /// Begins to delete a sandbox that is not on its way up; it gives its name back at once.
    #[inline]
    pub(super) fn begin_destroying(
        &mut self,
        id: ProviderId,
        now: Time,
        ending: Ending,
        stuck: bool,
    ) {
        let record = self.living_mut(id);
        record.ending = ending;
        let number = record.number();
        let (state, takes) = if stuck {
            let hangs = self.luck.span(&self.takes.stuck, Purpose::StuckFor, number, 1);
            (State::StuckDestroying, hangs)
        } else {
            let takes = self.luck.span(&self.takes.delete, Purpose::DeleteLatency, number, 0);
            (State::Destroying, takes)
        };
        if takes == Span::ZERO && !stuck {
            // Nobody can see a state that lasts no time.
            self.end(id, now);
        } else {
            self.free_name(id);
            self.enter(id, now, state);
            self.arm(id, now, now.plus(takes));
        }
    }

    /// Stops a started sandbox: an ephemeral one is deleted by that.
    pub(super) fn halt(&mut self, id: ProviderId, now: Time, ending: Ending) {
        if self.living_mut(id).ephemeral {
            self.begin_destroying(id, now, ending, false);
        } else {
            self.agenda.cancel(index_of(id) as u32);
            self.enter(id, now, State::Stopped);
            self.tell(id, now, State::Stopped);
        }
    }

    /// The sandbox is gone: its record becomes a bill.
    #[inline]
    pub(super) fn end(&mut self, id: ProviderId, now: Time) {
        self.free_name(id);
        self.enter(id, now, State::Gone);
        let slot = index_of(id) as u32;
        self.agenda.cancel(slot);
        let record = self.records[slot as usize].as_ref().expect("it lived until now");
        self.index.bury(record, now);
        self.tally.gone += 1;
        match record.ending {
            Ending::Deleted => {}
            Ending::Died => self.tally.died += 1,
            Ending::AutoStopped => self.tally.auto_stopped += 1,
        }
        self.finished.push(record.finished(now));
        self.records[slot as usize] = None;
        self.vacant.push(slot);
        self.tell(id, now, State::Gone);
    }

    /// A machine of the provider fails and takes the sandboxes that run on it.
    pub(super) fn group_death(&mut self, now: Time) {
        let victims: Vec<ProviderId> = self
            .records
            .iter()
            .flatten()
            .filter(|record| record.state == State::Started)
            .filter(|record| self.deaths.takes(record.number(), &self.luck))
            .map(|record| record.id)
            .collect();
        for id in victims {
            self.die(id, now);
        }
        self.deaths.plan_group(&self.luck);
    }

    /// What was planned for the sandbox is due.
    pub(super) fn due(&mut self, id: ProviderId, now: Time) {
        let record = self.living_mut(id);
        if record.errands.is_some() {
            self.errand_due(id, now);
            return;
        }
        match record.state {
            State::Creating => self.end_start(id, now),
            State::Started if record.dies_at <= now => self.die(id, now),
            State::Started => {
                // A running command is activity all along.
                if record.running > 0 {
                    record.last_activity = now;
                }
                if record.last_activity.plus(record.auto_stop) <= now {
                    self.halt(id, now, Ending::AutoStopped);
                } else {
                    self.watch(id, now);
                }
            }
            State::StuckDestroying => {
                let ending = record.ending;
                self.begin_destroying(id, now, ending, false);
            }
            State::Destroying => self.end(id, now),
            // Everything else happens only to sandboxes that were made over the API.
            _ => {}
        }
    }

    /// A start is over, one way or the other.
    #[inline]
    fn end_start(&mut self, id: ProviderId, now: Time) {
        let record = self.living_mut(id);
        let number = record.number();
        if record.start_fails {
            self.enter(id, now, State::Errored);
            self.tell(id, now, State::Errored);
        } else {
            self.enter(id, now, State::Started);
            self.living_mut(id).dies_at = self.deaths.of_one(number, now, &self.luck);
            self.tell(id, now, State::Started);
            self.watch(id, now);
        }
    }

    /// Plans the next look at a started sandbox: its death, or the earliest auto-stop. Activity in
    /// between is noticed then, so that it costs nothing when it happens.
    pub(super) fn watch(&mut self, id: ProviderId, now: Time) {
        let record = self.living_mut(id);
        let at = record.last_activity.plus(record.auto_stop).min(record.dies_at);
        self.arm(id, now, at);
    }

    pub(super) fn die(&mut self, id: ProviderId, now: Time) {
        self.living_mut(id).ending = Ending::Died;
        self.end(id, now);
    }

    /// Makes the sandbox due at `at`, which may be now, or [`Time::MAX`] for never.
    #[inline]
    pub(super) fn arm(&mut self, id: ProviderId, now: Time, at: Time) {
        if at <= now {
            self.due(id, now);
        } else if at < Time::MAX {
            self.agenda.set(index_of(id) as u32, at);
        } else {
            self.agenda.cancel(index_of(id) as u32);
        }
    }

    #[inline]
    pub(super) fn enter(&mut self, id: ProviderId, now: Time, state: State) {
        let record = self.records[index_of(id)].as_mut().expect("only the living change state");
        debug_assert_eq!(record.id, id);
        if record.state == State::Creating {
            self.starting -= 1;
        }
        let size = match &record.errands {
            None => self.sizes[usize::from(record.class.0)],
            Some(errands) => errands.size,
        };
        self.quota.change(record.state, state, size);
        let ends = record.state.runs_commands() && !state.runs_commands();
        if let Some(errands) = record.errands.as_mut().filter(|_| ends) {
            errands.stops += 1;
        }
        record.enter(state, now);
    }

    #[inline]
    pub(super) fn free_name(&mut self, id: ProviderId) {
        let record = self.living_mut(id);
        if !record.holds_name {
            return;
        }
        record.holds_name = false;
        if let Some(name) = record.name {
            let records = &self.records;
            self.names.remove(name, |slot| name_in(records, slot));
        }
    }

    #[inline]
    pub(super) fn tell(&mut self, provider: ProviderId, at: Time, state: State) {
        self.changes.push_back(Change { at, provider, state });
    }

    #[inline]
    pub(super) fn living_by_id(&self, id: ProviderId) -> Option<&Record> {
        self.records.get(index_of(id))?.as_ref().filter(|record| record.id == id)
    }

    #[inline]
    pub(super) fn living_by_id_mut(&mut self, id: ProviderId) -> Option<&mut Record> {
        self.records.get_mut(index_of(id))?.as_mut().filter(|record| record.id == id)
    }

    /// The record of an id that was looked up already.
    #[inline]
    pub(super) fn living_mut(&mut self, id: ProviderId) -> &mut Record {
        self.living_by_id_mut(id).expect("the sandbox lives")
    }
}

/// The name of the record in a slot.
#[inline]
pub(super) fn name_in(records: &[Option<Record>], slot: u32) -> Option<SandboxName> {
    records[slot as usize].as_ref().and_then(|record| record.name)
}

/// A start of length `alone`, with `others` starts under way beside it.
fn slowed(alone: Span, slowdown: f64, others: u32) -> Span {
    if slowdown == 0.0 || others == 0 {
        return alone;
    }
    Span::from_secs_f64(alone.as_secs_f64() * (1.0 + slowdown * f64::from(others)))
}
