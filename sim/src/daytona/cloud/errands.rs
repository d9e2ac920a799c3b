//! What becomes of a sandbox that was made over the API: work is accepted, taken up by the machine
//! that carries the sandboxes, and ends or fails.
//!
//! Daytona stores two states: the one that a sandbox is in and the one that is wished for. A
//! request changes the wish; the machine's work changes the state. Where the machine is known to be
//! down nothing is taken up, and the two stay apart until it is back.

use super::{Cloud, Failure, RunnerState};
use crate::daytona::luck::Purpose;
use crate::daytona::record::{Ending, State, index_of};
use sandpool_core::{ProviderId, Resources, Span, Time};

/// What the machine can be at for a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// Making it from a snapshot or a built image.
    Create,
    /// Starting it again.
    Start,
    /// Stopping it.
    Stop,
    /// Removing it.
    Delete,
    /// Building its image.
    Build,
    /// Copying its disk away.
    Archive,
    /// Bringing it back from the archive.
    Restore,
    /// Changing its size.
    Resize,
}

impl Work {
    /// Every kind.
    pub const ALL: [Work; 8] = [
        Work::Create,
        Work::Start,
        Work::Stop,
        Work::Delete,
        Work::Build,
        Work::Archive,
        Work::Restore,
        Work::Resize,
    ];

    /// How long accepted work may go on without a sign of life before it is given up (Daytona
    /// v0.190.0: creates 30 minutes, builds and archives 120, everything else 10).
    const fn given_up_after(self) -> Span {
        match self {
            Work::Create | Work::Restore => Span::from_secs(30 * 60),
            Work::Build | Work::Archive => Span::from_secs(120 * 60),
            Work::Start | Work::Stop | Work::Delete | Work::Resize => Span::from_secs(10 * 60),
        }
    }
}

/// The state that is wished for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Desired {
    /// `started`
    Started,
    /// `stopped`
    Stopped,
    /// `archived`
    Archived,
    /// `resized`
    Resized,
    /// `destroyed`
    Destroyed,
}

/// How far accepted work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nobody has taken it up.
    Waiting,
    /// It ends when the agenda says.
    Underway,
    /// The machine that had it is silent.
    Held,
    /// It will not end by itself.
    Hangs,
}

/// What only a sandbox that was made over the API has.
#[derive(Clone, Debug)]
pub(in crate::daytona) struct Errands {
    /// Its size. A warm one that nobody has taken yet counts for nobody: zero.
    pub(in crate::daytona) size: Resources,
    pub(super) desired: Desired,
    pub(super) work: Option<Work>,
    pub(super) phase: Phase,
    /// The text with which the work under way will fail.
    pub(super) fate: Option<String>,
    /// The state in which the work found it.
    pub(super) before: State,
    pub(super) failure: Option<Failure>,
    /// The size before a resize that is under way.
    pub(super) size_before: Option<Resources>,
    /// Stopped this long it is archived; [`Span::MAX`] is never.
    pub(super) auto_archive: Span,
    /// Stopped this long it is deleted; [`Span::MAX`] is never.
    pub(super) auto_delete: Span,
    /// When it is deleted whatever it is doing; [`Time::MAX`] is never.
    pub(super) ends_at: Time,
    pub(super) updated_at: Time,
    /// How much work was begun for it: part of the key of each work's luck.
    pub(super) works: u32,
    /// How often what ran in it has come to its end. Rises at once, so that a stop is seen also
    /// by who looks only after the next start.
    pub(super) stops: u32,
    /// Whether its next delete hangs, as the profile's luck has it.
    pub(super) delete_hangs: bool,
}

/// How long a sandbox whose start or delete failed is kept after it was deleted (Daytona v0.190.0:
/// 7 days).
const ERRORED_KEPT: Span = Span::from_secs(7 * 24 * 3600);

impl Cloud {
    /// Work is accepted for a sandbox, whose wished state is `desired` from now on.
    pub(super) fn accept_work(&mut self, id: ProviderId, now: Time, work: Work, desired: Desired) {
        let tick = self.workshop.tick;
        let record = self.living_mut(id);
        record.last_activity = now;
        let state = record.state;
        let errands = record.errands.as_mut().expect("work is for sandboxes made over the API");
        errands.before = state;
        errands.desired = desired;
        errands.work = Some(work);
        if work == Work::Stop {
            errands.stops += 1;
        }
        errands.phase = Phase::Waiting;
        errands.fate = None;
        errands.updated_at = now;
        // These begin only with the next round of the provider's background loop.
        let waits = match work {
            Work::Build => Some(tick),
            Work::Restore => Some(Span::from_nanos(tick.as_nanos() / 2)),
            Work::Delete if state == State::PendingBuild => Some(tick),
            // A delete that hangs leaves everything as it was for a while.
            Work::Delete if errands.delete_hangs => {
                errands.delete_hangs = false;
                let number = record.number();
                Some(self.luck.span(&self.takes.stuck, Purpose::StuckFor, number, 1))
            }
            _ => None,
        };
        match waits {
            Some(span) if span > Span::ZERO => {
                if work == Work::Restore {
                    // What is being brought back counts from the moment of the request.
                    self.enter(id, now, State::Restoring);
                }
                self.tell_state(id, now);
                self.arm(id, now, now.plus(span));
            }
            _ => self.take_up(id, now),
        }
    }

    /// The machine takes up the work that waits for it, if it can.
    fn take_up(&mut self, id: ProviderId, now: Time) {
        let runner = self.workshop.runner;
        let record = self.living_mut(id);
        let number = record.number();
        let state = record.state;
        let errands = record.errands.as_mut().expect("work is for sandboxes made over the API");
        let Some(work) = errands.work else { return };
        if work == Work::Delete && matches!(state, State::PendingBuild | State::Archived) {
            // Nothing of it is on the machine.
            self.end(id, now);
            return;
        }
        if runner == RunnerState::KnownDown {
            errands.phase = Phase::Waiting;
            if work == Work::Start {
                self.enter(id, now, State::Starting);
            }
            self.agenda.cancel(index_of(id) as u32);
            self.tell_state(id, now);
            return;
        }
        errands.works += 1;
        let nth = u64::from(errands.works);
        let running = errands.before == State::Started;
        let fate = self.workshop.take_failure(work);
        let hangs = self.workshop.hangs(work);
        let (next, mut fate, drawn) = match work {
            Work::Create => {
                if state != State::Creating {
                    self.starting += 1;
                }
                let fails = self.living_mut(id).start_fails;
                let (fails, takes) = self.draw_start(number, fails, self.starting - 1);
                let fate = fate.or_else(|| fails.then(|| "internal error".to_owned()));
                (State::Creating, fate, takes)
            }
            Work::Delete => {
                let takes = self.luck.span(&self.takes.delete, Purpose::DeleteLatency, number, 0);
                (State::Destroying, fate, takes)
            }
            work => {
                let counter = u64::from(work as u32) << 32 | nth;
                let seconds = self.workshop.latency(work);
                let takes = self.luck.span(seconds, Purpose::Work, number, counter);
                let next = match work {
                    Work::Start => State::Starting,
                    Work::Stop => State::Stopping,
                    Work::Build => State::Building,
                    Work::Archive => State::Archiving,
                    Work::Resize if running => State::ResizingRunning,
                    Work::Resize => State::ResizingStopped,
                    _ => State::Restoring,
                };
                (next, fate, takes)
            }
        };
        if state != next {
            self.enter(id, now, next);
        }
        let takes = self.workshop.delay(work).unwrap_or(drawn);
        let errands = self.errands_mut(id);
        errands.fate = fate.take();
        errands.updated_at = now;
        errands.phase = match runner {
            _ if hangs => Phase::Hangs,
            RunnerState::Up => Phase::Underway,
            _ => Phase::Held,
        };
        let phase = errands.phase;
        self.tell_state(id, now);
        match phase {
            Phase::Hangs => self.arm(id, now, now.plus(work.given_up_after())),
            Phase::Underway => self.arm(id, now, now.plus(takes)),
            _ => self.agenda.cancel(index_of(id) as u32),
        }
    }

    /// What was planned for a sandbox made over the API is due.
    pub(super) fn errand_due(&mut self, id: ProviderId, now: Time) {
        let runner = self.workshop.runner;
        let errands = self.errands_mut(id);
        match (errands.work, errands.phase) {
            (None, _) => self.look_after(id, now),
            (Some(_), Phase::Waiting) => self.take_up(id, now),
            (Some(_), Phase::Underway | Phase::Held) => {
                if runner == RunnerState::Up {
                    self.finish_work(id, now);
                } else {
                    errands.phase = Phase::Held;
                }
            }
            (Some(_), Phase::Hangs) => self.fail_work(id, now, "job timed out".to_owned()),
        }
    }

    fn finish_work(&mut self, id: ProviderId, now: Time) {
        let errands = self.errands_mut(id);
        if let Some(text) = errands.fate.take() {
            self.fail_work(id, now, text);
            return;
        }
        let Some(work) = errands.work.take() else { return };
        let before = errands.before;
        errands.updated_at = now;
        match work {
            Work::Delete => {
                self.end(id, now);
                return;
            }
            Work::Build => {
                self.errands_mut(id).work = Some(Work::Create);
                self.take_up(id, now);
                return;
            }
            Work::Create | Work::Start | Work::Restore => self.is_started(id, now),
            Work::Stop => self.enter(id, now, State::Stopped),
            Work::Archive => self.enter(id, now, State::Archived),
            Work::Resize => {
                let running = before == State::Started;
                let errands = self.errands_mut(id);
                errands.desired = if running { Desired::Started } else { Desired::Stopped };
                errands.size_before = None;
                self.enter(id, now, before);
            }
        }
        self.living_mut(id).last_activity = now;
        self.tell_state(id, now);
        self.look_after(id, now);
    }

    /// It is started from now on: its days are numbered anew.
    fn is_started(&mut self, id: ProviderId, now: Time) {
        self.enter(id, now, State::Started);
        let number = self.living_mut(id).number();
        self.living_mut(id).dies_at = self.deaths.of_one(number, now, &self.luck);
        self.errands_mut(id).failure = None;
    }

    fn fail_work(&mut self, id: ProviderId, now: Time, text: String) {
        let errands = self.errands_mut(id);
        let Some(work) = errands.work.take() else { return };
        errands.failure = Some(Failure::of_text(text));
        errands.updated_at = now;
        if let Some(old) = errands.size_before.take() {
            self.set_size(id, old);
        }
        let next = if work == Work::Build { State::BuildFailed } else { State::Errored };
        self.enter(id, now, next);
        self.tell_state(id, now);
        self.look_after(id, now);
    }

    /// Does what is due for a sandbox at rest, and plans the next look at it.
    pub(super) fn look_after(&mut self, id: ProviderId, now: Time) {
        let tick = self.workshop.tick;
        let ready = self.workshop.runner != RunnerState::KnownDown;
        let record = self.living_mut(id);
        if record.running > 0 {
            record.last_activity = now;
        }
        let (state, ephemeral) = (record.state, record.ephemeral);
        let (last, auto_stop, dies_at) = (record.last_activity, record.auto_stop, record.dies_at);
        let errands = record.errands.as_ref().expect("it was made over the API");
        if errands.work.is_some() {
            return;
        }
        if matches!(state, State::Errored | State::BuildFailed)
            && errands.desired == Desired::Destroyed
        {
            let until = errands.updated_at.plus(ERRORED_KEPT);
            if until <= now {
                self.end(id, now);
            } else {
                self.arm(id, now, until);
            }
            return;
        }
        let (archive_at, delete_at) = match state {
            State::Stopped => (last.plus(errands.auto_archive), last.plus(errands.auto_delete)),
            _ => (Time::MAX, Time::MAX),
        };
        let ends_at = errands.ends_at.min(delete_at);
        let started = state == State::Started;
        if started && dies_at <= now {
            self.die(id, now);
            return;
        }
        let stop_at = if started { last.plus(auto_stop) } else { Time::MAX };
        if ready && ends_at <= now {
            self.accept_work(id, now, Work::Delete, Desired::Destroyed);
            return;
        }
        if ready && stop_at <= now {
            self.living_mut(id).ending = Ending::AutoStopped;
            if ephemeral {
                self.accept_work(id, now, Work::Delete, Desired::Destroyed);
            } else {
                self.accept_work(id, now, Work::Stop, Desired::Stopped);
                self.living_mut(id).ending = Ending::Deleted;
            }
            return;
        }
        if ready && archive_at <= now {
            self.accept_work(id, now, Work::Archive, Desired::Archived);
            return;
        }
        // What is overdue waits for the machine, and is looked at again with the next round.
        let soonest = stop_at.min(archive_at).min(ends_at);
        let at_round =
            if soonest == Time::MAX { soonest } else { next_round(soonest.max(now), now, tick) };
        let dies_at = if started { dies_at } else { Time::MAX };
        self.arm(id, now, at_round.min(dies_at));
    }

    /// The machine is back: it carries out what waits.
    pub(super) fn resume_work(&mut self, now: Time) {
        for id in self.at_work() {
            let due = self.agenda.due(index_of(id) as u32);
            let errands = self.errands_mut(id);
            match errands.phase {
                Phase::Waiting if due.is_none() => self.take_up(id, now),
                Phase::Held => {
                    errands.phase = Phase::Underway;
                    let work = errands.work.expect("it is at work");
                    let takes = self.workshop.delay(work).unwrap_or(Span::from_millis(200));
                    self.arm(id, now, now.plus(takes));
                }
                _ => {}
            }
        }
    }

    /// Work that hangs fails now.
    pub(super) fn release_work(&mut self, now: Time) {
        for id in self.at_work() {
            let errands = self.errands_mut(id);
            if errands.phase == Phase::Hangs {
                let text = errands.fate.take().unwrap_or_else(|| "job failed".to_owned());
                self.fail_work(id, now, text);
            }
        }
    }

    fn at_work(&self) -> Vec<ProviderId> {
        let records = self.records.iter().flatten();
        let busy = |errands: &Errands| errands.work.is_some();
        records
            .filter(|record| record.errands.as_deref().is_some_and(busy))
            .map(|record| record.id)
            .collect()
    }

    /// The sandbox is of another size from now on, and the quota knows.
    pub(super) fn set_size(&mut self, id: ProviderId, size: Resources) {
        let record = self.living_mut(id);
        let state = record.state;
        let errands = record.errands.as_mut().expect("it was made over the API");
        let before = std::mem::replace(&mut errands.size, size);
        let (before, after) = (self.quota.counted(state, before), self.quota.counted(state, size));
        self.quota.exchange(before, after);
    }

    pub(super) fn errands_mut(&mut self, id: ProviderId) -> &mut Errands {
        self.living_mut(id).errands.as_deref_mut().expect("it was made over the API")
    }

    pub(super) fn tell_state(&mut self, id: ProviderId, now: Time) {
        let state = self.living_mut(id).state;
        self.tell(id, now, state);
    }
}

/// The first round of a loop with this period at or after `at`, and after `now`.
fn next_round(at: Time, now: Time, tick: Span) -> Time {
    let tick = tick.as_nanos().max(1);
    let round = at.as_nanos().div_ceil(tick).saturating_mul(tick);
    let round = if round <= now.as_nanos() { round.saturating_add(tick) } else { round };
    Time::from_nanos(round)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_come_at_or_after_the_time_but_never_now() {
        let at = |at, now| {
            next_round(Time::from_secs(at), Time::from_secs(now), Span::from_secs(10)).as_nanos()
                / 1_000_000_000
        };
        assert_eq!([at(61, 5), at(70, 5), at(20, 20), at(20, 19)], [70, 70, 30, 20]);
    }
}
