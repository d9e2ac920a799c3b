//! The plain event loop that W1 is compared with: what one would write for this one queue.
//!
//! A standard binary heap holds every arrival, end of service and end of patience; a patience that
//! no longer matters stays in it until its time comes; who waits stands in a deque. The random
//! numbers are the same keyed draws as in the engine, so both see the same customers.

use super::w1::Served;
use crate::workload::{Conversation, Source};
use sandpool_core::{Span, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    PatienceEnds { slot: u32, number: u64 },
    ServiceEnds,
    Arrival,
}

/// A place for a customer who waits. Reused; the number tells whose it is.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    number: u64,
    arrived_at: Time,
    waits: bool,
}

struct PlainLoop {
    heap: BinaryHeap<Reverse<(Time, u64, Event)>>,
    sequence: u64,
    places: Vec<Place>,
    vacant: Vec<u32>,
    line: VecDeque<(u32, u64)>,
    free_servers: u32,
    source: Source,
    next: Option<Conversation>,
    served: Served,
}

/// Runs the queue until `end` and gives the sums, and the most events that were pending at once.
pub(super) fn run(source: Source, servers: u32, patience: Span, end: Time) -> (Served, usize) {
    let mut this = PlainLoop {
        heap: BinaryHeap::new(),
        sequence: 0,
        places: Vec::new(),
        vacant: Vec::new(),
        line: VecDeque::new(),
        free_servers: servers,
        source,
        next: None,
        served: Served::default(),
    };
    let mut most_pending = 0;
    this.expect_arrival();
    while let Some(Reverse((at, _, event))) = this.heap.pop() {
        if at > end {
            break;
        }
        match event {
            Event::Arrival => {
                this.arrive(at, patience);
                most_pending = most_pending.max(this.heap.len());
            }
            Event::ServiceEnds => {
                this.free_servers += 1;
                this.serve_next(at);
            }
            Event::PatienceEnds { slot, number } => this.lose_patience(slot, number),
        }
    }
    (this.served, most_pending)
}

impl PlainLoop {
    fn schedule(&mut self, at: Time, event: Event) {
        self.sequence += 1;
        self.heap.push(Reverse((at, self.sequence, event)));
    }

    fn expect_arrival(&mut self) {
        self.next = self.source.next();
        if let Some(next) = self.next {
            self.schedule(next.starts_at, Event::Arrival);
        }
    }

    fn arrive(&mut self, now: Time, patience: Span) {
        let Some(customer) = self.next else { return };
        self.served.customers += 1;
        self.expect_arrival();
        if self.free_servers > 0 {
            return self.serve(now, customer.number, now);
        }
        let place = Place { number: customer.number, arrived_at: now, waits: true };
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.places.push(place);
            (self.places.len() - 1) as u32
        });
        self.places[slot as usize] = place;
        self.line.push_back((slot, customer.number));
        let gives_up = Event::PatienceEnds { slot, number: customer.number };
        self.schedule(now.plus(patience), gives_up);
    }

    fn serve(&mut self, now: Time, number: u64, arrived_at: Time) {
        let waited = now.since(arrived_at);
        self.served.served += 1;
        self.served.waited += u64::from(waited > Span::ZERO);
        self.served.waited_nanos += u128::from(waited.as_nanos());
        self.free_servers -= 1;
        let service = self.source.execute_plan(number, 1, 1).runs_for;
        self.schedule(now.plus(service), Event::ServiceEnds);
    }

    fn serve_next(&mut self, now: Time) {
        while let Some((slot, number)) = self.line.pop_front() {
            let place = &mut self.places[slot as usize];
            // Who has left stands in the line until it is passed over.
            if place.number == number && place.waits {
                place.waits = false;
                self.vacant.push(slot);
                let arrived_at = place.arrived_at;
                return self.serve(now, number, arrived_at);
            }
        }
    }

    fn lose_patience(&mut self, slot: u32, number: u64) {
        let place = &mut self.places[slot as usize];
        if place.number == number && place.waits {
            place.waits = false;
            self.vacant.push(slot);
            self.served.abandoned += 1;
        }
    }
}
