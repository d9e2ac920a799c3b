//! The event loop. Four things can happen next: the provider answers or changes, a deadline of the
//! scheduler comes, a client takes its next step, a conversation arrives. At equal times they come
//! in this order.

use super::client::{Client, Held, Step};
use super::clock::VirtualClock;
use super::crash::CrashTimes;
use super::observer::{Answer, Journal, Watch, What};
use crate::agenda::Agenda;
use crate::daytona::{Machine, Tally, Usability};
use crate::measure::{Balance, Measures};
use crate::scenario::Variant;
use crate::workload::{Conversation, Source};
use sandpool_core::{
    ConversationId, Driver, ExecuteOutcome, Id, Input, ProviderId, Scheduler, Span, Time, Used,
};

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

/// How long a shutdown at the end may take in virtual time before what is left counts as leaked.
const WIND_DOWN: Span = Span::from_secs(4 * 3_600);

/// Virtual time from trying to use a dead sandbox to knowing.
const CONNECTION_REFUSED: Span = Span::from_millis(50);

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
    free_slots: Vec<u32>,
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

    fn answered(&mut self, id: ConversationId, answer: Answer) {
        let slot = id.index();
        let Some(Some(client)) = self.clients.get_mut(slot) else { return };
        if client.id != id {
            return;
        }
        match answer {
            Answer::Go(sandbox) => {
                self.heard(slot);
                let provider = self
                    .driver
                    .as_ref()
                    .and_then(|driver| driver.scheduler().sandbox(sandbox))
                    .and_then(|sandbox| sandbox.provider);
                self.run_command(slot, provider);
            }
            Answer::Refused => {
                self.heard(slot);
                self.refused(slot);
            }
            Answer::Ended => self.command_over(slot),
            Answer::TurnOver => {
                if client.in_turn {
                    client.in_turn = false;
                    self.turn_is_over(slot);
                }
            }
            Answer::Rebound(sandbox) => {
                let view = sandbox
                    .and_then(|id| self.driver.as_ref().and_then(|d| d.scheduler().sandbox(id)));
                client.held = view.map(|view| Held {
                    name: view.name,
                    provider: view.provider,
                    class: view.class,
                });
            }
        }
    }

    /// The client's execute is answered.
    #[inline]
    fn heard(&mut self, slot: usize) {
        let now = self.now;
        if let Some(asked_at) = self.client(slot).asked_at.take() {
            self.watch.balance.heard(asked_at, now);
        }
    }

    /// Closes the books of executes and waits, and insists that they balance.
    fn close_the_books(&mut self, end: Time) {
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

    fn client(&mut self, slot: usize) -> &mut Client {
        self.clients[slot].as_mut().expect("the client is there")
    }

    fn schedule(&mut self, slot: usize, step: Step, after: Span) {
        self.client(slot).step = step;
        self.agenda.set(slot as u32, self.now.plus(after));
    }

    /// Takes the next step at once if it needs no time, else when its time comes.
    fn go_to(&mut self, slot: usize, step: Step, after: Span) {
        if after == Span::ZERO {
            self.client(slot).step = step;
            self.step(slot);
        } else {
            self.schedule(slot, step, after);
        }
    }

    fn arrive(&mut self) {
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

    fn step(&mut self, slot: usize) {
        if self.driver.is_none() {
            // Our server is down: the client tries again when it is back.
            let back = self.crashes.back_at();
            self.agenda.set(slot as u32, back);
            return;
        }
        match self.client(slot).step {
            Step::BeginTurn => self.begin_turn(slot),
            Step::StartExecute => self.start_execute(slot),
            Step::FinishExecute => self.finish_execute(slot),
            Step::EndTurn => self.end_turn(slot),
            Step::Close => self.close(slot),
            Step::Wait => {}
        }
    }

    fn begin_turn(&mut self, slot: usize) {
        let client = self.client(slot);
        client.turn += 1;
        client.in_turn = true;
        client.execute = 0;
        client.step = Step::Wait;
        let (number, turn) = (client.conversation.number, client.turn);
        let (id, turn_id, class) = (client.id, client.turn_id(), client.conversation.class);
        let plan = self.source.turn_plan(number, turn);
        self.client(slot).plan = plan;
        let likely_percent = plan.likely_percent;
        self.tell(Input::BeginTurn { conversation: id, turn: turn_id, class, likely_percent });
        if plan.executes == 0 {
            self.go_to(slot, Step::EndTurn, plan.work_before.plus(plan.work_after));
        } else {
            self.go_to(slot, Step::StartExecute, plan.work_before);
        }
    }

    fn start_execute(&mut self, slot: usize) {
        let now = self.now;
        let client = self.client(slot);
        if client.retry == 0 {
            client.execute += 1;
        }
        client.asked += 1;
        client.step = Step::Wait;
        client.asked_at = Some(now);
        let (number, turn, execute) = (client.conversation.number, client.turn, client.execute);
        let input_of = (client.id, client.turn_id(), client.execute_id());
        let patience = self.source.execute_plan(number, turn, execute).patience;
        let (conversation, turn, execute) = input_of;
        self.watch.balance.asked(now);
        self.tell(Input::StartExecute { conversation, turn, execute, patience });
        if self.watch.turned_down == Some((conversation, execute))
            && let Some(client) = &mut self.clients[slot]
            && client.id == conversation
            && let Some(asked_at) = client.asked_at.take()
        {
            self.watch.balance.turned_down(asked_at, now);
        }
    }

    /// The scheduler let the execute go: the command runs, unless the sandbox is dead.
    fn run_command(&mut self, slot: usize, provider: Option<ProviderId>) {
        let now = self.now;
        let client = self.client(slot);
        client.retry = 0;
        let (number, turn, execute) = (client.conversation.number, client.turn, client.execute);
        let runs_for = self.source.execute_plan(number, turn, execute).runs_for;
        let usable = match provider {
            Some(provider) => {
                let machine = self.machine_mut();
                let usable = machine.usable(now, provider);
                if usable == Usability::Yes {
                    machine.execute_begun(now, provider);
                }
                usable
            }
            None => Usability::Gone,
        };
        self.client(slot).running_in = provider;
        let after = if usable == Usability::Yes { runs_for } else { CONNECTION_REFUSED };
        self.schedule(slot, Step::FinishExecute, after);
    }

    fn finish_execute(&mut self, slot: usize) {
        let now = self.now;
        let client = self.client(slot);
        client.step = Step::Wait;
        let provider = client.running_in.take();
        let (conversation, execute) = (client.id, client.execute_id());
        let outcome = match provider {
            None => ExecuteOutcome::SandboxGone,
            Some(provider) => {
                let machine = self.machine_mut();
                machine.execute_ended(now, provider);
                match machine.usable(now, provider) {
                    Usability::Yes => ExecuteOutcome::Completed,
                    Usability::Gone => ExecuteOutcome::SandboxGone,
                    Usability::Unreachable => ExecuteOutcome::Unreachable,
                }
            }
        };
        let used = Used {
            exit_code: (outcome == ExecuteOutcome::Completed).then_some(0),
            ..Used::default()
        };
        self.tell(Input::FinishExecute { conversation, execute, outcome, used });
    }

    /// The scheduler says that the execute is over, because we said so or for a reason of its own.
    fn command_over(&mut self, slot: usize) {
        let now = self.now;
        self.agenda.cancel(slot as u32);
        if let Some(provider) = self.client(slot).running_in.take() {
            self.machine_mut().execute_ended(now, provider);
        }
        let client = self.client(slot);
        let plan = client.plan;
        if client.execute < plan.executes {
            let (number, turn, next) =
                (client.conversation.number, client.turn, client.execute + 1);
            let work = self.source.execute_plan(number, turn, next).work_between;
            self.go_to(slot, Step::StartExecute, work);
        } else {
            self.go_to(slot, Step::EndTurn, plan.work_after);
        }
    }

    /// The agent was told that there is no sandbox: it tries again, or answers without.
    fn refused(&mut self, slot: usize) {
        let client = self.client(slot);
        client.retry += 1;
        let (number, turn, execute, retry) =
            (client.conversation.number, client.turn, client.execute, client.retry);
        match self.source.retry_pause(number, turn, execute, retry) {
            // A pause of nothing would ask for ever within one instant.
            Some(pause) => {
                self.schedule(slot, Step::StartExecute, pause.max(Span::from_millis(1)));
            }
            None => {
                let client = self.client(slot);
                client.retry = 0;
                let after = client.plan.work_after;
                self.go_to(slot, Step::EndTurn, after);
            }
        }
    }

    fn end_turn(&mut self, slot: usize) {
        let client = self.client(slot);
        client.in_turn = false;
        client.step = Step::Wait;
        let (conversation, turn) = (client.id, client.turn_id());
        self.tell(Input::EndTurn { conversation, turn, cancel: false });
        self.turn_is_over(slot);
    }

    pub(super) fn turn_is_over(&mut self, slot: usize) {
        let client = self.client(slot);
        client.retry = 0;
        let number = client.conversation.number;
        if client.turn < client.conversation.turns {
            let think = client.plan.think_after;
            self.go_to_later(slot, Step::BeginTurn, think);
        } else {
            let after = self.source.close_after(number);
            if after == Span::ZERO {
                self.client(slot).step = Step::Close;
                self.step(slot);
            } else {
                self.schedule(slot, Step::Close, after);
            }
        }
    }

    /// A next turn is never begun within the step that ended the one before.
    fn go_to_later(&mut self, slot: usize, step: Step, after: Span) {
        self.schedule(slot, step, after);
    }

    fn close(&mut self, slot: usize) {
        let client = self.clients[slot].take().expect("the client is there");
        self.agenda.cancel(slot as u32);
        self.tell(Input::CloseConversation { conversation: client.id, cancel: false });
        self.free_slots.push(slot as u32);
    }

    /// Shuts down and gives how many sandboxes the provider still has then.
    fn wind_down(&mut self) -> u64 {
        self.next = None;
        self.crashes.stop();
        if self.driver.is_none() {
            self.start_server();
        }
        // Users are gone: only our server and the provider go on.
        for slot in 0..self.clients.len() as u32 {
            self.agenda.cancel(slot);
        }
        let bound = self.now.plus(WIND_DOWN);
        let recovery = self.now.plus(Span::from_secs(600));
        while self.driver.as_ref().is_some_and(|driver| driver.scheduler().is_recovering()) {
            let Some(at) = self.next_of_server() else { break };
            if at > recovery {
                break;
            }
            self.advance_server(at);
        }
        self.tell(Input::Drain { leave_sandboxes: false });
        loop {
            let drained =
                self.driver.as_ref().is_some_and(|driver| driver.scheduler().is_drained());
            let Some(at) = self.next_of_server() else { break };
            if drained || at > bound {
                break;
            }
            self.advance_server(at);
        }
        self.machine().cloud().living() as u64
    }

    fn next_of_server(&self) -> Option<Time> {
        let scheduler = self.driver.as_ref()?.next_deadline().map(|deadline| deadline.at);
        let provider = self.machine().next_at();
        [scheduler, provider].into_iter().flatten().min()
    }

    fn advance_server(&mut self, at: Time) {
        self.now = self.now.max(at);
        self.set_clock(at);
        self.machine_mut().advance(at);
        self.deliver_quietly();
        if let Some(driver) = &mut self.driver {
            driver.timeout(&mut self.watch);
        }
        self.deliver_quietly();
    }

    fn deliver_quietly(&mut self) {
        if let Some(driver) = &mut self.driver {
            while let Some((op, reply)) = driver.provider_mut().poll() {
                driver.input(Input::Reply { op, reply }, &mut self.watch);
                if self.options.check_invariants {
                    check(driver.scheduler(), self.options);
                }
            }
        }
        self.watch.answers.clear();
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

fn check(scheduler: &Scheduler, options: &RunOptions) {
    if let Err(violation) = scheduler.invariants() {
        panic!(
            "invariant broken at {} (seed {}, replication {}): {violation}",
            scheduler.now(),
            options.seed,
            options.replication
        );
    }
}
