//! Deadlines. Most delays are constants of the configuration, so their timers expire in the order
//! in which they were set: each kind has a queue of its own, and only what comes out of order goes
//! through a heap. Nothing is cancelled: a timer whose object has moved on is stale and is dropped
//! when it comes to the front.

use crate::id::{ClaimId, ClassId, ConversationId, Id, OpId, SandboxId};
use crate::time::Time;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Why the scheduler wants to be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Due {
    /// A waiting claim's patience ends.
    Patience,
    /// An admitted claim has waited too long for its start.
    ClaimStart,
    /// A start has taken too long.
    Start,
    /// A turn may have been abandoned.
    TurnTimeout,
    /// A sandbox is to be kept alive.
    KeepAlive,
    /// A provider call is without an answer.
    Operation,
    /// Something failed and is tried again.
    Retry,
    /// A warm sandbox gets too old.
    WarmAge,
    /// The warm pool has been above its target for long.
    WarmSurplus,
    /// A class may start sandboxes again.
    StartGate,
    /// The inventory is compared.
    Reconcile,
    /// The configured limit comes back.
    LimitRestore,
    /// A shutdown's grace ends.
    DrainGrace,
    /// An idle sandbox ends.
    IdleEnd,
    /// An idle sandbox may be reclaimed from now on, and somebody waits.
    Reclaimable,
}

/// Kinds that are stored here; an idle sandbox's two deadlines follow from the order of idling.
const KINDS: usize = Due::IdleEnd as usize;

/// A timer's object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    Patience(ClaimId),
    /// The same for an execute that waits for a probe and has no claim.
    ProbePatience(ConversationId),
    ClaimStart(ClaimId),
    Start(SandboxId),
    TurnTimeout(ConversationId),
    KeepAlive(SandboxId),
    Operation(OpId),
    Retry(SandboxId),
    WarmAge(SandboxId),
    WarmSurplus(ClassId),
    StartGate(ClassId),
    Reconcile,
    LimitRestore,
    DrainGrace,
}

impl Timer {
    pub(super) const fn due(self) -> Due {
        match self {
            Timer::Patience(_) | Timer::ProbePatience(_) => Due::Patience,
            Timer::ClaimStart(_) => Due::ClaimStart,
            Timer::Start(_) => Due::Start,
            Timer::TurnTimeout(_) => Due::TurnTimeout,
            Timer::KeepAlive(_) => Due::KeepAlive,
            Timer::Operation(_) => Due::Operation,
            Timer::Retry(_) => Due::Retry,
            Timer::WarmAge(_) => Due::WarmAge,
            Timer::WarmSurplus(_) => Due::WarmSurplus,
            Timer::StartGate(_) => Due::StartGate,
            Timer::Reconcile => Due::Reconcile,
            Timer::LimitRestore => Due::LimitRestore,
            Timer::DrainGrace => Due::DrainGrace,
        }
    }

    /// The object's sequence: the last tie-breaker.
    fn sequence(self) -> u64 {
        match self {
            Timer::Patience(id) | Timer::ClaimStart(id) => id.sequence(),
            Timer::Start(id) | Timer::KeepAlive(id) | Timer::Retry(id) | Timer::WarmAge(id) => {
                id.sequence()
            }
            Timer::TurnTimeout(id) | Timer::ProbePatience(id) => id.sequence(),
            Timer::Operation(id) => id.sequence(),
            Timer::WarmSurplus(class) | Timer::StartGate(class) => u64::from(class.0),
            Timer::Reconcile | Timer::LimitRestore | Timer::DrainGrace => 0,
        }
    }
}

/// All timers, live and stale.
#[derive(Clone, Debug)]
pub(super) struct Timers {
    lanes: [VecDeque<(Time, Timer)>; KINDS],
    /// The time at the front of each lane; [`Time::MAX`] where it is empty.
    fronts: [Time; KINDS],
    irregular: BinaryHeap<Reverse<(Time, Due, u64, Timer)>>,
    /// The earliest of all, and whether it was found to be live since it came to the front.
    first: Option<(Time, Timer)>,
    is_first_checked: bool,
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            lanes: std::array::from_fn(|_| VecDeque::new()),
            fronts: [Time::MAX; KINDS],
            irregular: BinaryHeap::new(),
            first: None,
            is_first_checked: true,
        }
    }
}

impl Timers {
    /// Sets a timer. [`Time::MAX`] is never.
    #[inline]
    pub(super) fn set(&mut self, at: Time, timer: Timer) {
        if at == Time::MAX {
            return;
        }
        let due = timer.due();
        let lane = &mut self.lanes[due as usize];
        match lane.back() {
            None => {
                self.fronts[due as usize] = at;
                lane.push_back((at, timer));
            }
            Some(&(last, _)) if at >= last => {
                lane.push_back((at, timer));
                return; // Behind another of its kind: not the first of all.
            }
            Some(_) => self.irregular.push(Reverse((at, due, timer.sequence(), timer))),
        }
        let is_first = self.first.is_none_or(|(first_at, first)| {
            (at, due, timer.sequence()) < (first_at, first.due(), first.sequence())
        });
        if is_first {
            self.first = Some((at, timer));
            self.is_first_checked = true; // Whoever sets a timer means it.
        }
    }

    /// The earliest timer, by (time, kind, sequence); may be stale.
    #[inline]
    pub(super) fn first(&self) -> Option<(Time, Timer)> {
        self.first
    }

    /// The earliest timer, if nobody has looked yet whether it is live.
    #[inline]
    pub(super) fn unchecked_first(&mut self) -> Option<(Time, Timer)> {
        if std::mem::replace(&mut self.is_first_checked, true) { None } else { self.first }
    }

    /// Takes out what [`Timers::first`] gave.
    pub(super) fn remove_first(&mut self) {
        self.pop_first();
        self.look_for_first();
    }

    /// As [`Timers::remove_first`], but [`Timers::first`] means nothing until
    /// [`Timers::look_for_first`].
    #[inline]
    pub(super) fn pop_first(&mut self) {
        let Some((at, timer)) = self.first else { return };
        let kind = timer.due();
        if self.front(kind) == Some((at, timer)) {
            self.pop_front(kind);
        } else {
            self.irregular.pop();
        }
    }

    /// The earliest timer of a kind, but for those that came out of order.
    #[inline]
    pub(super) fn front(&self, kind: Due) -> Option<(Time, Timer)> {
        self.lanes[kind as usize].front().copied()
    }

    /// Takes out what [`Timers::front`] gave; [`Timers::look_for_first`] afterwards.
    #[inline]
    pub(super) fn pop_front(&mut self, kind: Due) {
        let lane = &mut self.lanes[kind as usize];
        lane.pop_front();
        self.fronts[kind as usize] = lane.front().map_or(Time::MAX, |&(at, _)| at);
    }

    pub(super) fn look_for_first(&mut self) {
        self.first = self.find_first();
        self.is_first_checked = false;
    }

    fn find_first(&self) -> Option<(Time, Timer)> {
        let mut lane = 0;
        for kind in 1..KINDS {
            if self.fronts[kind] < self.fronts[lane] {
                lane = kind;
            }
        }
        let regular = self.lanes[lane].front().copied();
        match (regular, self.irregular.peek()) {
            (Some((at, timer)), Some(&Reverse(other))) => {
                let key = (at, timer.due(), timer.sequence());
                if key <= (other.0, other.1, other.2) {
                    Some((at, timer))
                } else {
                    Some((other.0, other.3))
                }
            }
            (Some(found), None) => Some(found),
            (None, Some(&Reverse(other))) => Some((other.0, other.3)),
            (None, None) => None,
        }
    }

    /// How many timers are stored, stale ones included.
    pub(super) fn len(&self) -> usize {
        self.lanes.iter().map(VecDeque::len).sum::<usize>() + self.irregular.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_come_out_by_time_then_kind_then_sequence() {
        let claim = |n| Timer::Patience(ClaimId::new(n, n as u32));
        let sandbox = |n| Timer::Start(SandboxId::new(n, n as u32));
        let mut timers = Timers::default();
        for (at, timer) in [
            (5, claim(1)),
            (9, claim(2)),
            (7, claim(4)),
            (7, claim(3)),
            (7, sandbox(1)),
            (5, Timer::Reconcile),
            (1, sandbox(2)),
        ] {
            timers.set(Time::from_secs(at), timer);
        }
        timers.set(Time::MAX, claim(9));
        assert_eq!(timers.len(), 7);
        let mut seen = Vec::new();
        while let Some((_, timer)) = timers.first() {
            timers.remove_first();
            seen.push(timer);
        }
        assert_eq!(
            seen,
            [sandbox(2), claim(1), Timer::Reconcile, claim(3), claim(4), sandbox(1), claim(2)]
        );
    }
}
