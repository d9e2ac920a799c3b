//! The event loop. Four things can happen next: the provider answers or changes, a deadline of the
//! scheduler comes, a client takes its next step, a conversation arrives. At equal times they come
//! in this order.

use super::client::Client;
use super::clock::VirtualClock;
use super::crash::CrashTimes;
use super::observer::{Journal, Watch, What};
use crate::agenda::Agenda;
use crate::daytona::{Machine, Tally};
use crate::measure::{Balance, Measures};
use crate::scenario::Variant;
use crate::workload::{Conversation, Source};
use sandpool_core::{ConversationId, Driver, Id, Input, ProviderId, Scheduler, Span, Time};

/// How a replication is run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Seed of every random stream.
    pub seed: u64,
    /// Number of the replication, from 0.
    pub replication: u32,
    /// Conversations start, and measures are taken, until then.
    pub duration: Span,
    /// Measures are taken from then on.
    pub warm_up: Span,
    /// Width of the bins over time; `None`: not wanted.
    pub bin: Option<Span>,
    /// Check every invariant of the scheduler after every step.
    pub check_invariants: bool,
    /// Keep the journal.
    pub journal: bool,
    /// After the end, shut down and look for what is left at the provider.
    pub wind_down: bool,
}

/// What a replication came to.
#[derive(Debug)]
pub struct Outcome {
    /// What was measured.
    pub measures: Measures,
    /// Everything that was said, if it was wanted.
    pub journal: Option<Journal>,
    /// Sandboxes that the provider still has after the shutdown; `None` without one.
    pub leaked: Option<u64>,
    /// What the provider counted.
    pub tally: Tally,
    /// Inputs that the scheduler turned down.
    pub rejections: u64,
    /// The most that was remembered at once: clients, timers, provider calls, claims.
    pub most_pending: [usize; 4],
    /// The books of executes and waits; they balance.
    pub balance: Balance,
}

pub(super) struct World<'a> {
    pub(super) variant: &'a Variant,
    pub(super) options: &'a RunOptions,
    pub(super) source: Source,
    pub(super) next: Option<Conversation>,
    /// `None` while our server is down.
    pub(super) driver: Option<Driver<VirtualClock, Machine>>,
    /// The provider while our server is down.
    pub(super) stranded: Option<Machine>,
    pub(super) epoch: u32,
    pub(super) watch: Watch,
    pub(super) clients: Vec<Option<Client>>,
    pub(super) free_slots: Vec<u32>,
    pub(super) agenda: Agenda,
    /// Commands whose client lost them in a crash: they run on at the provider.
    pub(super) stray_commands: Vec<(Time, ProviderId)>,
    pub(super) crashes: CrashTimes,
    pub(super) now: Time,
    most_pending: [usize; 4],
}

/// Runs one replication.
///
/// # Panics
/// With `check_invariants`, when the scheduler breaks one; always, when executes or waits do not
/// add up at the end ([`Balance::check`]): bugs, told with seed and replication.
#[must_use]
pub fn run(variant: &Variant, source: Source, options: &RunOptions) -> Outcome {
    let machine =
        Machine::new(&variant.provider, &variant.server.classes, options.seed, options.replication);
    let crashes = CrashTimes::new(&variant.crashes, options);
    let watch = Watch {
        measures: Measures::new(variant, options, source.account_count()),
        balance: Balance::new(Time::ZERO.plus(options.warm_up), Time::ZERO.plus(options.duration)),
        journal: options.journal.then(Vec::new),
        answers: Vec::new(),
        store: crashes.any(),
        rejections: 0,
        turned_down: None,
    };
    let mut world = World {
        variant,
        options,
        source,
        next: None,
        driver: None,
        stranded: Some(machine),
        epoch: 0,
        watch,
        clients: Vec::new(),
        free_slots: Vec::new(),
        agenda: Agenda::default(),
        stray_commands: Vec::new(),
        crashes,
        now: Time::ZERO,
        most_pending: [0; 4],
    };
    world.start_server();
    world.next = world.source.next();
    world.go_on(Time::ZERO.plus(options.duration));
    let end = Time::ZERO.plus(options.duration);
    world.now = end;
    world.set_clock(end);
    world.close_the_books(end);
    let leaked = options.wind_down.then(|| world.wind_down());
    world.finish(end, leaked)
}

impl World<'_> {
    /// Lets everything happen up to and including `end`.
    fn go_on(&mut self, end: Time) {
        loop {
            let provider = self.machine().next_at().unwrap_or(Time::MAX);
            let scheduler = self
                .driver
                .as_ref()
                .and_then(Driver::next_deadline)
                .map_or(Time::MAX, |deadline| deadline.at);
            let client = self.agenda.next_at().unwrap_or(Time::MAX);
            let arrival = self.next.as_ref().map_or(Time::MAX, |next| next.starts_at);
            let crash = self.next_disturbance();
            let at = provider.min(scheduler).min(client).min(arrival).min(crash);
            if at > end || at == Time::MAX {
                break;
            }
            self.now = self.now.max(at);
            self.set_clock(at);
            if crash == at {
                self.disturb();
            } else if provider == at {
                self.machine_mut().advance(at);
                self.deliver();
            } else if scheduler == at {
                if let Some(driver) = &mut self.driver {
                    driver.timeout(&mut self.watch);
                }
                self.after_step();
            } else if client == at {
                if let Some((_, slot)) = self.agenda.pop_due(at) {
                    self.step(slot as usize);
                }
            } else {
                self.arrive();
            }
        }
    }

    pub(super) fn set_clock(&mut self, now: Time) {
        if let Some(driver) = &mut self.driver {
            driver.clock_mut().set(now);
        }
    }

    pub(super) fn machine(&self) -> &Machine {
        match (&self.driver, &self.stranded) {
            (Some(driver), _) => driver.provider(),
            (None, Some(machine)) => machine,
            (None, None) => unreachable!("the provider is always there"),
        }
    }

    pub(super) fn machine_mut(&mut self) -> &mut Machine {
        match (&mut self.driver, &mut self.stranded) {
            (Some(driver), _) => driver.provider_mut(),
            (None, Some(machine)) => machine,
            (None, None) => unreachable!("the provider is always there"),
        }
    }

    pub(super) fn start_server(&mut self) {
        self.epoch += 1;
        let scheduler = Scheduler::new(self.variant.server.clone(), self.epoch, self.now);
        let machine = self.stranded.take().expect("the server was down");
        let mut driver = Driver::new(scheduler, VirtualClock::default(), machine);
        driver.clock_mut().set(self.now);
        self.driver = Some(driver);
        self.watch.note(self.now, What::Instance(self.epoch));
        self.restore_from_store();
        self.tell(Input::Recovered);
    }

    /// Tells the scheduler something, and lets everything follow that takes no time.
    #[inline]
    pub(super) fn tell(&mut self, input: Input) {
        if let Some(driver) = &mut self.driver {
            driver.input(input, &mut self.watch);
        }
        self.after_step();
    }

    /// Hands the provider's answers that are due to the scheduler.
    fn deliver(&mut self) {
        let Some(driver) = &mut self.driver else {
            while self.machine_mut().poll().is_some() {}
            return;
        };
        while let Some((op, reply)) = driver.provider_mut().poll() {
            driver.input(Input::Reply { op, reply }, &mut self.watch);
            if self.options.check_invariants {
                check(driver.scheduler(), self.options);
            }
        }
        self.react();
    }

    #[inline]
    fn after_step(&mut self) {
        if self.options.check_invariants
            && let Some(driver) = &self.driver
        {
            check(driver.scheduler(), self.options);
        }
        self.deliver();
    }

    /// Lets clients react to what the scheduler said. A reaction may have answers of its own.
    fn react(&mut self) {
        while !self.watch.answers.is_empty() {
            let mut answers = std::mem::take(&mut self.watch.answers);
            for (id, answer) in answers.drain(..) {
                self.answered(id, answer);
            }
            // Keep the allocation, unless a reaction has filled a new one.
            if self.watch.answers.is_empty() {
                self.watch.answers = answers;
            }
        }
    }

    pub(super) fn heard(&mut self, slot: usize) {
        let now = self.now;
        if let Some(asked_at) = self.client(slot).asked_at.take() {
            self.watch.balance.heard(asked_at, now);
        }
    }

    /// Closes the books of executes and waits, and insists that they balance.
    pub(super) fn close_the_books(&mut self, end: Time) {
        let waits_in_scheduler = |client: &&Client| {
            let view = self.driver.as_ref().and_then(|d| d.scheduler().conversation(client.id));
            view.is_some_and(|view| match view.claim {
                Some((_, is_blocked)) => is_blocked,
                // Held up by a probe of its own sandbox, which the view does not tell.
                None => client.asked_at.is_some() && view.sandbox.is_some(),
            })
        };
        let still_there = self.clients.iter().flatten().filter(waits_in_scheduler).count() as u64;
        let unanswered = self.clients.iter().flatten().filter_map(|client| client.asked_at);
        self.watch.balance.close(end, unanswered, still_there);
        if let Err(imbalance) = self.watch.balance.check() {
            let RunOptions { seed, replication, .. } = self.options;
            panic!(
                "the books do not balance (seed {seed}, replication {replication}): {imbalance}"
            );
        }
    }

    pub(super) fn arrive(&mut self) {
        let Some(conversation) = self.next.take() else { return };
        self.next = self.source.next();
        let index = if self.options.journal {
            None // Indices that are never used again keep journals readable.
        } else {
            self.free_slots.pop()
        };
        let index = index.unwrap_or_else(|| {
            self.clients.push(None);
            (self.clients.len() - 1) as u32
        });
        let id = ConversationId::new(conversation.number, index);
        let account = conversation.account;
        self.clients[index as usize] = Some(Client::new(id, conversation));
        self.watch.measures.conversation_began(self.now);
        if conversation.number % 256 == 0 {
            self.look_after_memory();
        }
        if self.driver.is_some() {
            self.tell(Input::OpenConversation { conversation: id, account });
        }
        self.step(index as usize);
    }

    fn finish(mut self, end: Time, leaked: Option<u64>) -> Outcome {
        let machine = match (self.driver, self.stranded) {
            (Some(driver), _) => driver.into_parts().2,
            (None, machine) => machine.expect("the provider is always there"),
        };
        let mut machine = machine;
        let tally = machine.cloud().tally();
        let finished: Vec<_> = machine.take_finished().collect();
        self.watch.measures.bill(finished.iter().map(|bill| (bill.class, bill.billed)));
        let living: Vec<_> = machine
            .cloud()
            .sandboxes()
            .map(|sandbox| {
                let until = sandbox.billed_until.unwrap_or(end);
                (sandbox.class, sandbox.billed_from.map(|from| (from, until)))
            })
            .collect();
        self.watch.measures.bill(living.into_iter());
        self.watch.measures.finish(end);
        Outcome {
            measures: self.watch.measures,
            journal: self.watch.journal,
            leaked,
            tally,
            rejections: self.watch.rejections,
            most_pending: self.most_pending,
            balance: self.watch.balance,
        }
    }

    /// Takes the provider's bills, which would pile up, and notes how much is remembered.
    fn look_after_memory(&mut self) {
        let machine = match (&mut self.driver, &mut self.stranded) {
            (Some(driver), _) => driver.provider_mut(),
            (None, Some(machine)) => machine,
            (None, None) => unreachable!("the provider is always there"),
        };
        let bills = machine.take_finished().map(|bill| (bill.class, bill.billed));
        self.watch.measures.bill(bills);
        if let Some(driver) = &self.driver {
            let (timers, operations, claims) = driver.scheduler().pending();
            let now = [self.clients.len() - self.free_slots.len(), timers, operations, claims];
            for (most, now) in self.most_pending.iter_mut().zip(now) {
                *most = (*most).max(now);
            }
        }
    }
}

pub(super) fn check(scheduler: &Scheduler, options: &RunOptions) {
    if let Err(violation) = scheduler.invariants() {
        panic!(
            "invariant broken at {} (seed {}, replication {}): {violation}",
            scheduler.now(),
            options.seed,
            options.replication
        );
    }
}
