//! Lists: late, and sometimes incomplete.
//!
//! Daytona's list reads a search index that follows the truth by one to three seconds, item by
//! item: a sandbox that is gone is still listed, a new one is not yet, and two lists a moment apart
//! may disagree. Asking for one sandbox by id is authoritative.

use super::luck::{Luck, Purpose};
use super::record::{Record, Sandbox, State};
use sandpool_core::{Span, Time};
use std::collections::VecDeque;

/// A list as the provider answers it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Whether every page was read.
    pub complete: bool,
    /// The sandboxes, oldest create first, in the state that the index has for them.
    pub items: Vec<Sandbox>,
}

/// The index behind the lists.
#[derive(Clone, Debug)]
pub(super) struct Index {
    lag: Span,
    partial: f64,
    /// Records that are gone, but not yet from the index.
    fading: VecDeque<(Time, Record)>,
    lists: u64,
}

impl Index {
    pub(super) fn new(lag: Span, partial: f64) -> Self {
        Self { lag, partial, fading: VecDeque::new(), lists: 0 }
    }

    /// Which list call comes next, counted from 0: its key to luck.
    pub(super) fn count_list(&mut self) -> u64 {
        self.lists += 1;
        self.lists - 1
    }

    /// A record is gone.
    #[inline]
    pub(super) fn bury(&mut self, record: &Record, now: Time) {
        if self.lag == Span::ZERO {
            return;
        }
        self.forget_faded(now);
        self.fading.push_back((now.plus(self.lag), record.clone()));
    }

    /// What list call number `list` shows at `now` of the records that live and lived.
    pub(super) fn list<'a>(
        &mut self,
        now: Time,
        list: u64,
        living: impl Iterator<Item = &'a Record>,
        luck: &Luck,
    ) -> Listing {
        self.forget_faded(now);
        let faded = self.fading.iter().map(|(_, record)| record);
        let mut items: Vec<Sandbox> =
            faded.filter_map(|record| self.shown(record, now, list, luck)).collect();
        items.extend(living.filter_map(|record| self.shown(record, now, list, luck)));
        items.sort_unstable_by_key(|item| item.provider);
        let complete = !luck.happens(self.partial, Purpose::ListPartial, list, 0);
        if !complete {
            // Reading stopped at some page: what comes later is missing.
            let kept = luck.unit(Purpose::ListPartial, list, 1) * items.len() as f64;
            items.truncate(kept as usize);
        }
        Listing { complete, items }
    }

    /// How far behind the truth list call number `list` is about one sandbox.
    pub(super) fn age(&self, number: u64, list: u64, luck: &Luck) -> Span {
        let late = luck.unit(Purpose::ListLag, number, list) * self.lag.as_secs_f64();
        Span::from_secs_f64(late)
    }

    fn shown(&self, record: &Record, now: Time, list: u64, luck: &Luck) -> Option<Sandbox> {
        if self.lag == Span::ZERO {
            return (record.state != State::Gone).then(|| record.view(record.state));
        }
        let behind = self.age(record.number(), list, luck).as_nanos();
        // Before the run began there was nothing to be late about.
        let then = Time::from_nanos(now.as_nanos().checked_sub(behind)?);
        let state = record.state_at(then)?;
        (state != State::Gone).then(|| record.view(state))
    }

    /// How many records that are gone are still kept.
    #[cfg(test)]
    pub(super) fn fading(&self) -> usize {
        self.fading.len()
    }

    fn forget_faded(&mut self, now: Time) {
        while self.fading.front().is_some_and(|&(until, _)| until <= now) {
            self.fading.pop_front();
        }
    }
}
