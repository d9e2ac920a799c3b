//! What one decision of the scheduler costs: a call of `handle` and the polls after it.
//!
//! The scheduler is driven directly, by a provider that answers every operation at once, so that
//! nothing but the scheduler is timed. Four situations, each at several sizes; the cost should
//! hardly depend on the size.

use super::start;
use super::w1::{median, sorted};
use sandpool_core::{
    AccountId, Class, ClassId, Config, ConversationId, EventKind, ExecuteId, ExecuteOutcome, Id,
    Input, Inventory, Operation, Output, ProviderId, Reply, Resources, Scheduler, Span, Time,
    TurnId, Used, Verb,
};
use serde::Serialize;
use std::collections::VecDeque;

/// Conversations of one account.
const PER_ACCOUNT: u32 = 100;
/// Decisions timed together.
const BATCH: u64 = 2_000;
/// Batches, of which the median counts.
const BATCHES: usize = 31;

/// A situation in which decisions are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionBench {
    /// Begin a turn, execute, finish, end the turn, in a conversation that has an idle sandbox,
    /// with all other sandboxes idle around.
    Execute,
    /// A turn ends, its sandbox goes, the longest waiting claim is admitted and started, and the
    /// conversation asks again and waits: every sandbox is busy, everybody else waits.
    ReleaseAndAdmit,
    /// A conversation without a sandbox executes: the longest idle sandbox is reclaimed for it.
    Reclaim,
    /// As [`DecisionBench::Execute`], while all claims that wait are borrowers', which may not take
    /// what idles.
    ExecuteBesideBorrowers,
}

impl DecisionBench {
    /// Every situation.
    pub const ALL: [DecisionBench; 4] = [
        DecisionBench::Execute,
        DecisionBench::ReleaseAndAdmit,
        DecisionBench::Reclaim,
        DecisionBench::ExecuteBesideBorrowers,
    ];

    /// The words in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            DecisionBench::Execute => "execute in an idle sandbox",
            DecisionBench::ReleaseAndAdmit => "release and admit",
            DecisionBench::Reclaim => "reclaim",
            DecisionBench::ExecuteBesideBorrowers => "execute beside waiting borrowers",
        }
    }
}

/// One measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DecisionTime {
    /// The situation.
    pub bench: DecisionBench,
    /// Sandboxes that exist.
    pub sandboxes: u32,
    /// Open conversations.
    pub conversations: u32,
    /// Median over batches of the mean time of one decision, nanoseconds of real time.
    pub nanos: f64,
}

/// The sandboxes and conversations at which decisions are timed. `most`: the most conversations.
fn sizes(most: u32) -> impl Iterator<Item = (u32, u32)> {
    [1_000, 100_000, 1_000_000].into_iter().filter(move |&n| n <= most).flat_map(|conversations| {
        [10, 100, 1_000, 10_000, 100_000]
            .into_iter()
            .filter(move |&sandboxes| sandboxes * 2 <= conversations)
            .map(move |sandboxes| (sandboxes, conversations))
    })
}

/// Times one decision in every situation at every size up to `most_conversations`, and tells each
/// result as it comes.
pub fn decision_benchmark(
    most_conversations: u32,
    mut tell: impl FnMut(&DecisionTime),
) -> Vec<DecisionTime> {
    let mut times = Vec::new();
    for bench in DecisionBench::ALL {
        for (sandboxes, conversations) in sizes(most_conversations) {
            let time = time_decision(bench, sandboxes, conversations);
            tell(&time);
            times.push(time);
        }
    }
    times
}

fn time_decision(bench: DecisionBench, sandboxes: u32, conversations: u32) -> DecisionTime {
    let mut rig = Rig::new(bench, sandboxes, conversations);
    rig.run(BATCH);
    let nanos = (0..BATCHES)
        .map(|_| {
            let before = rig.decisions;
            let started = start();
            rig.run(BATCH);
            started.elapsed().as_nanos() as f64 / (rig.decisions - before) as f64
        })
        .collect();
    DecisionTime { bench, sandboxes, conversations, nanos: median(&sorted(nanos)) }
}

/// The times as a table, one line a situation and number of conversations, with the factor by which
/// the slowest size is slower than the fastest.
#[must_use]
pub fn decision_table(times: &[DecisionTime]) -> String {
    use std::fmt::Write;
    let mut text = String::from("ns per decision (median), by sandboxes\n");
    let _ = writeln!(
        text,
        "{:<34} {:>13} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "", "conversations", 10, 100, 1_000, 10_000, 100_000
    );
    for bench in DecisionBench::ALL {
        let of: Vec<&DecisionTime> = times.iter().filter(|time| time.bench == bench).collect();
        for lines in of.chunk_by(|a, b| a.conversations == b.conversations) {
            let _ = write!(text, "{:<34} {:>13}", bench.name(), lines[0].conversations);
            for time in lines {
                let _ = write!(text, " {:>8.0}", time.nanos);
            }
            text.push('\n');
        }
        if let Some((slowest, growth)) = slowest_and_growth(&of) {
            let _ = writeln!(text, "  slowest {slowest:.0} ns, growth {growth:.1}-fold");
        }
    }
    text
}

/// The longest time, and by which factor it is longer than the shortest.
fn slowest_and_growth(times: &[&DecisionTime]) -> Option<(f64, f64)> {
    let nanos = sorted(times.iter().map(|time| time.nanos).collect());
    let (least, most) = (nanos.first()?, nanos.last()?);
    Some((*most, most / least))
}

/// A scheduler in one of the situations, and what it takes to stay in it.
#[derive(Debug)]
pub struct Rig {
    bench: DecisionBench,
    scheduler: Scheduler,
    now: Time,
    conversations: Vec<Talk>,
    operations: VecDeque<Operation>,
    next_provider: u64,
    /// Conversations whose executes were let go, in that order.
    let_go: VecDeque<usize>,
    cursor: usize,
    sandboxes: usize,
    /// The last so many of the sandboxes idle.
    idle: usize,
    decisions: u64,
}

#[derive(Clone, Copy, Debug)]
struct Talk {
    id: ConversationId,
    turn: u32,
    execute: u32,
}

impl Rig {
    /// Brings a scheduler into the situation: `sandboxes` exist, `conversations` are open.
    ///
    /// # Panics
    /// When there are fewer than two conversations a sandbox.
    #[must_use]
    pub fn new(bench: DecisionBench, sandboxes: u32, conversations: u32) -> Self {
        assert!(sandboxes * 2 <= conversations, "not enough conversations");
        let scheduler = Scheduler::new(config(bench, sandboxes), 1, Time::ZERO);
        let mut rig = Self {
            bench,
            scheduler,
            now: Time::ZERO,
            conversations: Vec::new(),
            operations: VecDeque::new(),
            next_provider: 1,
            let_go: VecDeque::new(),
            cursor: 0,
            sandboxes: sandboxes as usize,
            idle: match bench {
                DecisionBench::ReleaseAndAdmit => 0,
                DecisionBench::Execute | DecisionBench::Reclaim => sandboxes as usize,
                DecisionBench::ExecuteBesideBorrowers => (sandboxes - sandboxes / 2) as usize,
            },
            decisions: 0,
        };
        rig.tell(Input::Recovered);
        for index in 0..conversations {
            let id = ConversationId::new(u64::from(index) + 1, index);
            rig.conversations.push(Talk { id, turn: 0, execute: 0 });
            let account = rig.account_of(index);
            rig.tell(Input::OpenConversation { conversation: id, account });
        }
        match bench {
            DecisionBench::Execute | DecisionBench::Reclaim => {
                for index in 0..rig.sandboxes {
                    rig.whole_turn(index);
                }
                rig.cursor = rig.sandboxes;
            }
            DecisionBench::ReleaseAndAdmit => {
                for index in 0..rig.conversations.len() {
                    rig.ask(index);
                }
            }
            DecisionBench::ExecuteBesideBorrowers => {
                // Half of the accounts have their one sandbox busy, and what else they ask for is
                // beyond their share; the others' sandboxes idle.
                for index in 0..rig.sandboxes / 2 {
                    rig.ask(index);
                }
                rig.let_go.clear();
                for index in rig.sandboxes / 2..rig.sandboxes {
                    rig.whole_turn(index);
                }
                for index in rig.sandboxes..rig.conversations.len() {
                    rig.ask(index);
                }
            }
        }
        rig
    }

    fn account_of(&self, index: u32) -> AccountId {
        match self.bench {
            DecisionBench::ExecuteBesideBorrowers if index as usize >= self.sandboxes => {
                AccountId(index % (self.sandboxes as u32 / 2))
            }
            DecisionBench::ExecuteBesideBorrowers => AccountId(index),
            _ => AccountId(index / PER_ACCOUNT),
        }
    }

    /// Goes through the situation again and again until at least `decisions` more were made.
    pub fn run(&mut self, decisions: u64) {
        let until = self.decisions + decisions;
        while self.decisions < until {
            match self.bench {
                DecisionBench::Execute | DecisionBench::ExecuteBesideBorrowers => {
                    // Not in order: neighbours in memory would flatter the caches.
                    self.cursor = (self.cursor + 7_919) % self.idle;
                    self.whole_turn(self.sandboxes - 1 - self.cursor);
                }
                DecisionBench::ReleaseAndAdmit => {
                    let index = self.let_go.pop_front().expect("somebody is served");
                    self.finish(index);
                    self.end(index);
                    self.ask(index);
                }
                DecisionBench::Reclaim => {
                    self.cursor = (self.cursor + 1) % self.conversations.len();
                    self.whole_turn(self.cursor);
                }
            }
        }
    }

    fn whole_turn(&mut self, index: usize) {
        self.ask(index);
        let served = self.let_go.pop_front();
        assert_eq!(served, Some(index), "the execute is let go at once");
        self.finish(index);
        self.end(index);
    }

    fn ask(&mut self, index: usize) {
        let talk = &mut self.conversations[index];
        talk.turn += 1;
        talk.execute += 1;
        let (conversation, turn) = (talk.id, TurnId(talk.turn));
        let execute = ExecuteId(talk.execute);
        self.tell(Input::BeginTurn { conversation, turn, class: ClassId(0), likely_percent: None });
        self.tell(Input::StartExecute { conversation, turn, execute, patience: None });
    }

    fn finish(&mut self, index: usize) {
        let talk = self.conversations[index];
        self.tell(Input::FinishExecute {
            conversation: talk.id,
            execute: ExecuteId(talk.execute),
            outcome: ExecuteOutcome::Completed,
            used: Used::default(),
        });
    }

    fn end(&mut self, index: usize) {
        let talk = self.conversations[index];
        let turn = TurnId(talk.turn);
        self.tell(Input::EndTurn { conversation: talk.id, turn, cancel: false });
    }

    /// One decision, and those that the provider's answers call for.
    fn tell(&mut self, input: Input) {
        self.decide(input);
        while let Some(operation) = self.operations.pop_front() {
            let reply = match operation.verb {
                Verb::Create => {
                    let provider = ProviderId(self.next_provider);
                    self.next_provider += 1;
                    Reply::Created { provider }
                }
                Verb::Destroy => Reply::Destroyed,
                Verb::FindAll => Reply::Inventory(Inventory { complete: true, items: Vec::new() }),
                _ => Reply::Alive { quiet: true },
            };
            self.decide(Input::Reply { op: operation.op, reply });
        }
    }

    fn decide(&mut self, input: Input) {
        self.decisions += 1;
        self.now = self.now.plus(Span::from_nanos(1_000));
        self.scheduler.handle(self.now, input);
        while let Some(output) = self.scheduler.poll() {
            match output {
                Output::Operation(operation) => self.operations.push_back(operation),
                Output::Event(event) => {
                    if event.kind == EventKind::SandboxBusy
                        && let Some(conversation) = event.conversation
                    {
                        self.let_go.push_back(conversation.index());
                    }
                }
                Output::Rejected(rejection) => panic!("a senseless input: {rejection:?}"),
            }
        }
    }
}

fn config(bench: DecisionBench, sandboxes: u32) -> Config {
    let slots = i64::from(sandboxes);
    let share = if bench == DecisionBench::ExecuteBesideBorrowers { 1 } else { slots };
    let idle_hours = if bench == DecisionBench::ReleaseAndAdmit { 0 } else { 1_000 };
    Config {
        max: Resources {
            slots,
            memory_mb: Resources::UNLIMITED,
            cpu_milli: Resources::UNLIMITED,
            disk_mb: Resources::UNLIMITED,
        },
        max_sandboxes_per_account: share,
        sandbox_wait: Span::MAX,
        max_waiting: i64::from(u32::MAX),
        idle: Span::from_secs(idle_hours * 3_600),
        reclaim_idle: Span::ZERO,
        max_starting: slots,
        classes: vec![Class { prepares: false, warm_sandboxes: 0, ..Class::default() }],
        ..Config::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_situation_stays_what_it_is() {
        for bench in DecisionBench::ALL {
            let mut rig = Rig::new(bench, 10, 100);
            let before = rig.scheduler.capacity();
            rig.run(500);
            rig.scheduler.invariants().unwrap_or_else(|fault| panic!("{bench:?}: {fault}"));
            let after = rig.scheduler.capacity();
            assert_eq!((after.sandboxes, after.conversations), (10, 100), "{bench:?}");
            let waiting = match bench {
                DecisionBench::Execute | DecisionBench::Reclaim => 0,
                _ => 90,
            };
            assert_eq!((before.blocked, after.blocked), (waiting, waiting), "{bench:?}");
            assert!(rig.decisions >= 500);
        }
    }

    #[test]
    fn reclaiming_takes_the_longest_idle_one() {
        let mut rig = Rig::new(DecisionBench::Reclaim, 10, 100);
        let has = |rig: &Rig, index: usize| {
            let view = rig.scheduler.conversation(rig.conversations[index].id);
            view.expect("open").sandbox.is_some()
        };
        assert!(has(&rig, 0) && !has(&rig, 10));
        rig.cursor = 9;
        rig.run(1);
        assert!(!has(&rig, 0) && has(&rig, 10) && has(&rig, 1));
    }

    #[test]
    fn the_table_has_a_line_for_each_number_of_conversations() {
        let time = |sandboxes, conversations, nanos| DecisionTime {
            bench: DecisionBench::Reclaim,
            sandboxes,
            conversations,
            nanos,
        };
        let table = decision_table(&[
            time(10, 1_000, 100.0),
            time(100, 1_000, 250.0),
            time(10, 100_000, 200.0),
        ]);
        let lines: Vec<&str> = table.lines().skip(2).map(str::trim).collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[0].ends_with("1000      100      250"), "{table}");
        assert_eq!(lines[2], "slowest 250 ns, growth 2.5-fold");
    }
}
