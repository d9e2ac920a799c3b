//! When each slot has something to do next: a heap in which a slot has one entry at most.
//!
//! A heap with lazy cancelling keeps an entry for every auto-stop that never came; this one holds
//! one entry for each living thing and nothing else.

use sandpool_core::Time;

/// Branching of the heap: four children share a cache line or two, and the tree is half as deep.
const CHILDREN: usize = 4;

const ABSENT: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Time,
    sequence: u64,
    slot: u32,
}

impl Entry {
    #[inline]
    fn before(&self, other: &Entry) -> bool {
        (self.at, self.sequence) < (other.at, other.sequence)
    }
}

/// Due times by slot; equal times come in the order in which they were set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agenda {
    heap: Vec<Entry>,
    /// Place in the heap of each slot.
    places: Vec<u32>,
    sequence: u64,
}

impl Agenda {
    /// The earliest due time.
    #[inline]
    pub(crate) fn next_at(&self) -> Option<Time> {
        self.heap.first().map(|entry| entry.at)
    }

    /// When the slot is due; `None` if never.
    pub(crate) fn due(&self, slot: u32) -> Option<Time> {
        let place = *self.places.get(slot as usize)?;
        self.heap.get(place as usize).map(|entry| entry.at)
    }

    /// Takes the earliest slot out, if it is due by `now`.
    #[inline]
    pub(crate) fn pop_due(&mut self, now: Time) -> Option<(Time, u32)> {
        let first = *self.heap.first()?;
        if first.at > now {
            return None;
        }
        self.cancel(first.slot);
        Some((first.at, first.slot))
    }

    /// Makes the slot due at `at`, instead of whenever it was due before.
    pub(crate) fn set(&mut self, slot: u32, at: Time) {
        self.cancel(slot);
        let index = slot as usize;
        if index >= self.places.len() {
            self.places.resize(index + 1, ABSENT);
        }
        self.sequence += 1;
        self.heap.push(Entry { at, sequence: self.sequence, slot });
        self.rise(self.heap.len() - 1);
    }

    /// Makes the slot due never.
    pub(crate) fn cancel(&mut self, slot: u32) {
        let Some(&place) = self.places.get(slot as usize) else { return };
        if place == ABSENT {
            return;
        }
        self.places[slot as usize] = ABSENT;
        let last = self.heap.pop().expect("a slot with a place is in the heap");
        let place = place as usize;
        if place < self.heap.len() {
            let risen = place > 0 && last.before(&self.heap[(place - 1) / CHILDREN]);
            self.heap[place] = last;
            if risen {
                self.rise(place);
            } else {
                self.sink(place);
            }
        }
    }

    fn rise(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            if !entry.before(&self.heap[parent]) {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    fn sink(&mut self, mut place: usize) {
        let entry = self.heap[place];
        loop {
            let first = place * CHILDREN + 1;
            if first >= self.heap.len() {
                break;
            }
            let end = (first + CHILDREN).min(self.heap.len());
            let mut least = first;
            for child in first + 1..end {
                if self.heap[child].before(&self.heap[least]) {
                    least = child;
                }
            }
            if !self.heap[least].before(&entry) {
                break;
            }
            self.put(place, self.heap[least]);
            place = least;
        }
        self.put(place, entry);
    }

    #[inline]
    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.places[entry.slot as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};
    use std::collections::BTreeMap;

    #[test]
    fn equal_times_come_in_the_order_in_which_they_were_set() {
        let mut agenda = Agenda::default();
        for slot in [5, 1, 3] {
            agenda.set(slot, Time::from_secs(1));
        }
        agenda.set(1, Time::from_secs(1));
        let order: Vec<u32> =
            std::iter::from_fn(|| agenda.pop_due(Time::from_secs(1))).map(|(_, s)| s).collect();
        assert_eq!(order, [5, 3, 1]);
    }

    #[test]
    fn agrees_with_a_sorted_map_under_random_use() {
        let seed = 20_261;
        let mut stream = Stream::new(seed, 0, Purpose::Oracle, 0);
        let mut agenda = Agenda::default();
        let mut due: BTreeMap<u32, (Time, u64)> = BTreeMap::new();
        for step in 1..20_000_u64 {
            let slot = (stream.bits() % 60) as u32;
            match stream.bits() % 4 {
                0 | 1 => {
                    let at = Time::from_nanos(stream.bits() % 500);
                    agenda.set(slot, at);
                    due.insert(slot, (at, step));
                }
                2 => {
                    agenda.cancel(slot);
                    due.remove(&slot);
                }
                _ => {
                    let now = Time::from_nanos(stream.bits() % 500);
                    let expected = due
                        .iter()
                        .map(|(&slot, &(at, step))| (at, step, slot))
                        .min()
                        .filter(|&(at, ..)| at <= now)
                        .map(|(at, _, slot)| (at, slot));
                    assert_eq!(agenda.pop_due(now), expected, "seed {seed}, step {step}");
                    if let Some((_, slot)) = expected {
                        due.remove(&slot);
                    }
                }
            }
        }
    }
}
