//! One sandbox as the provider keeps it: its states, what it is billed, what remains of it.

use super::cloud::Errands;
use sandpool_core::{
    ClassId, ConversationId, FoundState, ProviderId, SandboxName, Span, Time, Verb,
};

/// State of a sandbox at the provider, as far as quota, billing and answers depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum State {
    /// On its way up. Counts in the quota, is not billed; deleting it is a conflict.
    Creating = 0,
    /// Started. Counts, and is billed.
    Started = 1,
    /// Stopped by the provider or on request. Disk may still count.
    Stopped = 2,
    /// The start failed. Counts nothing, but holds its name until it is deleted.
    Errored = 3,
    /// A delete was accepted and hangs: shown as destroying, still counting in the quota, because
    /// the stored state is the one from before. Not billed any more.
    StuckDestroying = 4,
    /// Being deleted. Counts nothing, is not billed, and its name is free already.
    Destroying = 5,
    /// Not there any more. Only a late list still shows it, as it was before.
    Gone = 6,
    /// On its way from stopped to started. Counts, is not billed.
    Starting = 7,
    /// On its way from started to stopped. Counts; only disk is billed.
    Stopping = 8,
    /// Stopped, and its disk is being copied away. Only disk counts.
    Archiving = 9,
    /// Its disk lies elsewhere. Counts nothing.
    Archived = 10,
    /// On its way from archived to started. Counts, is not billed.
    Restoring = 11,
    /// Running, and being given more cpu or memory. Counts with its new size.
    ResizingRunning = 12,
    /// Stopped, and being given another size. Its new disk counts.
    ResizingStopped = 13,
    /// Waits for its image to be built. Counts already.
    PendingBuild = 14,
    /// Its image is being built. Counts.
    Building = 15,
    /// Its image could not be built. Counts nothing, but holds its name.
    BuildFailed = 16,
}

/// What of a sandbox's size counts in the quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// All of it.
    Whole,
    /// Its disk, where stopped sandboxes hold disk.
    Disk,
    /// Nothing.
    Nothing,
}

impl State {
    /// Whether commands can run in it: its size may be changing meanwhile, and so may a delete hang.
    pub(super) fn runs_commands(self) -> bool {
        matches!(self, State::Started | State::ResizingRunning | State::StuckDestroying)
    }

    /// States whose beginnings every record remembers: those that the simulator's lists show late.
    const TRACED: usize = 7;

    const ALL: [State; State::TRACED] = [
        State::Creating,
        State::Started,
        State::Stopped,
        State::Errored,
        State::StuckDestroying,
        State::Destroying,
        State::Gone,
    ];

    /// Whether all that a sandbox takes counts in the quota.
    #[must_use]
    #[inline]
    pub const fn counts_whole(self) -> bool {
        matches!(self.holds(), Holds::Whole)
    }

    /// What of a sandbox's size counts in this state (Daytona v0.190.0,
    /// sandbox-states-consuming-compute.constant.ts and its neighbour for disk).
    #[inline]
    pub(super) const fn holds(self) -> Holds {
        match self {
            State::Creating
            | State::Started
            | State::StuckDestroying
            | State::Starting
            | State::Stopping
            | State::Restoring
            | State::ResizingRunning
            | State::PendingBuild
            | State::Building => Holds::Whole,
            State::Stopped | State::Archiving | State::ResizingStopped => Holds::Disk,
            State::Errored
            | State::Destroying
            | State::Gone
            | State::Archived
            | State::BuildFailed => Holds::Nothing,
        }
    }

    /// What an answer calls the state; `None` for one that is gone, which answers never show.
    #[must_use]
    pub const fn shown(self) -> Option<FoundState> {
        match self {
            State::Creating
            | State::Starting
            | State::Restoring
            | State::PendingBuild
            | State::Building => Some(FoundState::Starting),
            State::Started | State::ResizingRunning => Some(FoundState::Running),
            State::Stopped
            | State::Stopping
            | State::Archiving
            | State::Archived
            | State::ResizingStopped => Some(FoundState::Stopped),
            State::Errored | State::BuildFailed => Some(FoundState::Errored),
            State::StuckDestroying | State::Destroying => Some(FoundState::Destroying),
            State::Gone => None,
        }
    }
}

/// What the pool wrote into a sandbox's labels, besides its own name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// The instance of the scheduler that owns it.
    pub epoch: u32,
    /// The conversation that it was given to, once known.
    pub conversation: Option<ConversationId>,
}

/// How a sandbox's life at the provider ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// Deleted on request.
    Deleted,
    /// Stopped for want of activity, and deleted as ephemeral, by the provider itself.
    AutoStopped,
    /// It vanished, alone or with others on the same machine, and nobody was told.
    Died,
}

/// A sandbox that the provider has, as its answers show it and as checkers and costs need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sandbox {
    /// The provider's own id.
    pub provider: ProviderId,
    /// The name that it was given; `None` when none was given or when a delete was accepted.
    pub name: Option<SandboxName>,
    /// Its class.
    pub class: ClassId,
    /// Its state.
    pub state: State,
    /// Its labels.
    pub labels: Labels,
    /// When the create was accepted.
    pub created_at: Time,
    /// When billing began; `None` if it never started.
    pub billed_from: Option<Time>,
    /// When billing ended; `None` while it goes on or if it never began.
    pub billed_until: Option<Time>,
    /// When somebody last used it, as the provider's auto-stop sees it.
    pub last_activity: Time,
    /// Whether no command runs in it.
    pub quiet: bool,
}

/// A sandbox that is gone, for the bill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The provider's own id.
    pub provider: ProviderId,
    /// The name that it was given.
    pub name: Option<SandboxName>,
    /// Its class.
    pub class: ClassId,
    /// Its labels at the end.
    pub labels: Labels,
    /// When the create was accepted.
    pub created_at: Time,
    /// When billing began and ended; `None` if it never started.
    pub billed: Option<(Time, Time)>,
    /// When it was gone.
    pub ended_at: Time,
    /// How it ended.
    pub ending: Ending,
}

/// The provider's own record.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) id: ProviderId,
    pub(super) name: Option<SandboxName>,
    /// Whether it still holds its name: a delete frees the name at once.
    pub(super) holds_name: bool,
    pub(super) class: ClassId,
    pub(super) state: State,
    pub(super) labels: Labels,
    /// Whether stopping deletes it.
    pub(super) ephemeral: bool,
    /// Without activity this long it is stopped; [`Span::MAX`] is never.
    pub(super) auto_stop: Span,
    /// When each state was entered last; [`Time::MAX`] is never.
    entered: [Time; State::TRACED],
    pub(super) last_activity: Time,
    /// Commands running in it.
    pub(super) running: u32,
    /// Whether its start will fail.
    pub(super) start_fails: bool,
    /// When it vanishes; [`Time::MAX`] is never.
    pub(super) dies_at: Time,
    billed_from: Option<Time>,
    billed_until: Option<Time>,
    /// How it will have ended once it is gone.
    pub(super) ending: Ending,
    /// Calls so far, by verb: part of the key of each call's luck.
    calls: [u16; Verb::ALL.len()],
    /// What only a sandbox that was made over the provider's own API has.
    pub(super) errands: Option<Box<Errands>>,
}

impl Record {
    pub(super) fn new(
        id: ProviderId,
        name: Option<SandboxName>,
        class: ClassId,
        labels: Labels,
        now: Time,
    ) -> Self {
        let mut entered = [Time::MAX; State::TRACED];
        entered[State::Creating as usize] = now;
        Self {
            id,
            name,
            holds_name: name.is_some(),
            class,
            state: State::Creating,
            labels,
            ephemeral: true,
            auto_stop: Span::MAX,
            entered,
            last_activity: now,
            running: 0,
            start_fails: false,
            dies_at: Time::MAX,
            billed_from: None,
            billed_until: None,
            ending: Ending::Deleted,
            calls: [0; Verb::ALL.len()],
            errands: None,
        }
    }

    /// Which create call made it, counted from 1: its key to luck.
    #[inline]
    pub(super) fn number(&self) -> u64 {
        number_of(self.id)
    }

    /// Changes the state and keeps the bill: billed at the full rate exactly while started.
    #[inline]
    pub(super) fn enter(&mut self, state: State, now: Time) {
        if self.state == State::Started {
            self.billed_until = Some(now);
        }
        if state == State::Started {
            self.billed_from.get_or_insert(now);
            self.billed_until = None;
            self.last_activity = now;
        }
        self.state = state;
        if let Some(entered) = self.entered.get_mut(state as usize) {
            *entered = now;
        }
    }

    /// Counts a call and returns how many of the verb came before it.
    #[inline]
    pub(super) fn count_call(&mut self, verb: Verb) -> u64 {
        let count = &mut self.calls[verb as usize];
        let before = *count;
        *count = count.wrapping_add(1);
        u64::from(before)
    }

    /// The state that it was in at an instant; `None` before it was created.
    ///
    /// Sandboxes made over the API have states that are not traced; they are listed from the
    /// account's own history.
    pub(super) fn state_at(&self, at: Time) -> Option<State> {
        State::ALL
            .into_iter()
            .filter(|&state| self.entered[state as usize] <= at)
            // The states are numbered in the order of a life, which orders equal times.
            .max_by_key(|&state| (self.entered[state as usize], state))
    }

    /// What answers show, in the given state.
    pub(super) fn view(&self, state: State) -> Sandbox {
        let renamed = matches!(state, State::StuckDestroying | State::Destroying | State::Gone);
        Sandbox {
            provider: self.id,
            name: if renamed { None } else { self.name },
            class: self.class,
            state,
            labels: self.labels,
            created_at: self.entered[State::Creating as usize],
            billed_from: self.billed_from,
            billed_until: self.billed_until,
            last_activity: self.last_activity,
            quiet: self.running == 0,
        }
    }

    /// What remains for the bill.
    pub(super) fn finished(&self, ended_at: Time) -> Finished {
        Finished {
            provider: self.id,
            name: self.name,
            class: self.class,
            labels: self.labels,
            created_at: self.entered[State::Creating as usize],
            billed: self.billed_from.map(|from| (from, self.billed_until.unwrap_or(ended_at))),
            ended_at,
            ending: self.ending,
        }
    }
}

const INDEX_BITS: u32 = 24;

/// Most sandboxes that can be at the provider at once.
pub(super) const MAX_RECORDS: usize = 1 << INDEX_BITS;

/// The id of the sandbox that create call `number` (1 to 2^40 - 1) made, kept in slot `index`.
#[inline]
pub(super) fn id_of(number: u64, index: u32) -> ProviderId {
    ProviderId(number << INDEX_BITS | u64::from(index))
}

/// The slot that an id points to.
#[inline]
pub(super) fn index_of(id: ProviderId) -> usize {
    (id.0 & ((1 << INDEX_BITS) - 1)) as usize
}

#[inline]
fn number_of(id: ProviderId) -> u64 {
    id.0 >> INDEX_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Time {
        Time::from_secs(seconds)
    }

    #[test]
    fn the_past_is_remembered_state_by_state() {
        let mut record = Record::new(id_of(9, 4), None, ClassId(0), Labels::default(), seconds(10));
        record.enter(State::Started, seconds(12));
        record.enter(State::Destroying, seconds(12));
        record.enter(State::Gone, seconds(15));
        let past: Vec<Option<State>> =
            [9, 10, 11, 12, 14, 15].map(|at| record.state_at(seconds(at))).to_vec();
        use State::{Creating, Destroying, Gone};
        assert_eq!(
            past,
            [None, Some(Creating), Some(Creating), Some(Destroying), Some(Destroying), Some(Gone)]
        );
    }

    #[test]
    fn the_bill_runs_from_started_to_the_accepted_delete() {
        let mut record = Record::new(id_of(1, 0), None, ClassId(0), Labels::default(), seconds(0));
        assert_eq!(record.finished(seconds(1)).billed, None);
        record.enter(State::Started, seconds(2));
        assert_eq!(record.finished(seconds(7)).billed, Some((seconds(2), seconds(7))));
        record.enter(State::Destroying, seconds(5));
        record.enter(State::Gone, seconds(9));
        assert_eq!(record.finished(seconds(9)).billed, Some((seconds(2), seconds(5))));
    }

    #[test]
    fn an_id_tells_its_create_and_its_slot() {
        let id = id_of(1_000_000, 77);
        assert_eq!((number_of(id), index_of(id)), (1_000_000, 77));
    }
}
