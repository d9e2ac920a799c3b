//! What the simulated provider does, behaviour by behaviour.

mod cloud;
mod deaths;
mod deletes;
mod faults;
mod lists;
mod luck;
mod outages;
mod quota;
mod starts;

use super::machine::Machine;
use super::profile::{Latencies, Profile, VerbFaults};
use crate::random::Distribution;
use sandpool_core::{
    Class, ClassId, ConversationId, Id, OpId, Operation, ProviderId, Reply, SandboxName, Span,
    Time, Verb,
};

/// A provider that takes 2 s to create, 10 s to prepare, 3 s to delete and 0.1 s for a call, and
/// in which nothing else is limited or goes wrong.
fn steady() -> Profile {
    Profile {
        latencies: Latencies {
            create: Distribution::Constant(2.0),
            prepare: Distribution::Constant(10.0),
            delete: Distribution::Constant(3.0),
            call: Distribution::Constant(0.1),
            ..Latencies::zero()
        },
        ..Profile::instant()
    }
}

fn faulty(verb: Verb, faults: VerbFaults) -> Profile {
    Profile { faults: vec![(verb, faults)], ..steady() }
}

/// A machine and somebody who talks to it.
struct Caller {
    machine: Machine,
    now: Time,
    ops: u64,
}

impl Caller {
    fn new(profile: Profile) -> Self {
        Self::with_seed(profile, 1)
    }

    fn with_seed(profile: Profile, seed: u64) -> Self {
        let large = Class {
            name: "large".to_owned(),
            resources: sandpool_core::Resources::of_sandbox(4.0, 2.0, 8.0),
            ..Class::default()
        };
        Self {
            machine: Machine::new(&profile, &[Class::default(), large], seed, 0),
            now: Time::ZERO,
            ops: 0,
        }
    }

    fn operation(&mut self, verb: Verb, sequence: u64) -> Operation {
        self.ops += 1;
        Operation {
            op: OpId::new(self.ops, 0),
            verb,
            sandbox: None,
            name: name(sequence),
            provider: None,
            class: ClassId(0),
            conversation: None,
        }
    }

    fn ask_with(&mut self, verb: Verb, sequence: u64, edit: impl FnOnce(&mut Operation)) -> OpId {
        let mut operation = self.operation(verb, sequence);
        edit(&mut operation);
        self.machine.submit(self.now, operation);
        operation.op
    }

    /// Asks by name.
    fn ask(&mut self, verb: Verb, sequence: u64) -> OpId {
        self.ask_with(verb, sequence, |_| {})
    }

    /// Asks by provider id, under a name that nothing has.
    fn ask_id(&mut self, verb: Verb, provider: ProviderId) -> OpId {
        self.ask_with(verb, 999_999, |operation| operation.provider = Some(provider))
    }

    /// Asks, and waits for the answer; nothing else may be answered meanwhile.
    fn call(&mut self, verb: Verb, sequence: u64) -> Reply {
        let op = self.ask(verb, sequence);
        self.answer_to(op)
    }

    fn call_id(&mut self, verb: Verb, provider: ProviderId) -> Reply {
        let op = self.ask_id(verb, provider);
        self.answer_to(op)
    }

    fn answer_to(&mut self, op: OpId) -> Reply {
        let (_, answered, reply) = self.next_answer().expect("an answer comes");
        assert_eq!(answered, op);
        reply
    }

    /// The next answer, whenever it comes.
    fn next_answer(&mut self) -> Option<(Time, OpId, Reply)> {
        loop {
            if let Some((op, reply)) = self.machine.poll() {
                return Some((self.now, op, reply));
            }
            self.now = self.machine.next_at()?;
            self.machine.advance(self.now);
        }
    }

    /// Creates, and waits until it is started.
    fn started(&mut self, sequence: u64) -> ProviderId {
        match self.call(Verb::Create, sequence) {
            Reply::Created { provider } => provider,
            other => panic!("not created: {other:?}"),
        }
    }

    /// Lets time pass; returns what was answered.
    fn wait_until(&mut self, seconds: f64) -> Vec<(OpId, Reply)> {
        self.now = Time::ZERO.plus(Span::from_secs_f64(seconds));
        self.machine.advance(self.now);
        std::iter::from_fn(|| self.machine.poll()).collect()
    }

    fn seconds(&self) -> f64 {
        self.now.as_secs_f64()
    }
}

fn name(sequence: u64) -> SandboxName {
    SandboxName { epoch: 1, sequence }
}

fn conversation(sequence: u64) -> ConversationId {
    ConversationId::new(sequence, 0)
}
