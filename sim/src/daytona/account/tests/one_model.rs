//! One model: the same seed and script give the same life to sandboxes whether the simulator asks
//! its machine or a client asks the account.

use super::Desk;
use crate::daytona::account::{AccountSettings, Call, Outcome};
use crate::daytona::machine::Machine;
use crate::daytona::profile::{Profile, VerbFaults};
use crate::random::Distribution;
use sandpool_core::{
    Class, ClassId, Failure, Id, OpId, Operation, ProviderId, Reply, SandboxName, Span, Time, Verb,
};
use serde_json::json;

/// What became of one create and the delete that followed, in words that both sides have.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Life {
    /// Nobody answered the create.
    Unanswered,
    /// It was refused at the door.
    Unavailable,
    /// Its start failed, then.
    Errored { at: Time },
    /// It started, then, and was gone, then.
    Lived { started: Time, gone: Time },
    /// The quota had no room.
    Full,
}

fn profile() -> Profile {
    let mut profile = Profile {
        list_lag: Span::ZERO,
        auto_stop: Span::MAX,
        stuck_creating: 0.1,
        stuck_for: Distribution::Uniform { min: 5.0, max: 25.0 },
        ..Profile::default()
    };
    profile.latencies.call = Distribution::Constant(0.0);
    profile.faults = vec![(
        Verb::Create,
        VerbFaults {
            unavailable: 0.1,
            errored: 0.15,
            lost_request: 0.05,
            lost_answer: 0.1,
            rejected: 0.0,
        },
    )];
    profile
}

/// The script: a create every minute; whatever started is deleted at once.
const CREATES: u64 = 60;

/// When create `n` is made: no life is longer than a minute.
fn every_minute(now: Time, n: u64) -> Time {
    let at = Time::from_secs(60 * (n + 1));
    assert!(at >= now, "create {n} comes too late: {now:?}");
    at
}

fn operation(sequence: u64, verb: Verb, provider: Option<ProviderId>) -> Operation {
    Operation {
        op: OpId::new(sequence + 1, 0),
        verb,
        sandbox: None,
        name: SandboxName { epoch: 1, sequence },
        provider,
        class: ClassId(0),
        conversation: None,
    }
}

fn in_the_machine(profile: &Profile, seed: u64) -> Vec<Life> {
    let mut machine = Machine::new(profile, &[Class::default()], seed, 0);
    let mut lives = Vec::new();
    let mut now = Time::ZERO;
    for n in 0..CREATES {
        now = every_minute(now, n);
        machine.advance(now);
        while machine.poll().is_some() {}
        machine.submit(now, operation(n, Verb::Create, None));
        let deadline = now.plus(Span::from_secs(30));
        let mut answer = machine.poll();
        while answer.is_none() && machine.next_at().is_some_and(|at| at <= deadline) {
            now = machine.next_at().expect("it was there");
            machine.advance(now);
            answer = machine.poll();
        }
        lives.push(match answer.map(|(_, reply)| reply) {
            None => Life::Unanswered,
            Some(Reply::Failed(Failure::Unavailable)) => Life::Unavailable,
            Some(Reply::Failed(Failure::Full { .. })) => Life::Full,
            Some(Reply::Failed(Failure::Errored)) => Life::Errored { at: now },
            Some(Reply::Created { provider }) => {
                let started = now;
                machine.submit(now, operation(CREATES + n, Verb::Destroy, Some(provider)));
                let mut gone = None;
                while gone.is_none() {
                    now = machine.next_at().expect("a delete ends");
                    machine.advance(now);
                    gone = machine.poll().filter(|(_, reply)| *reply == Reply::Destroyed);
                }
                Life::Lived { started, gone: now }
            }
            Some(other) => panic!("{other:?}"),
        });
    }
    lives
}

fn at_the_account(profile: &Profile, seed: u64) -> Vec<Life> {
    let settings = AccountSettings { profile: profile.clone(), seed, ..AccountSettings::default() };
    let mut desk = Desk::with(settings);
    let mut lives = Vec::new();
    for n in 0..CREATES {
        desk.now = every_minute(desk.now, n);
        desk.account.advance(desk.now);
        let reply = desk.reply(Call::Create { body: json!({"name": format!("s{n}")}) });
        if !reply.heard {
            lives.push(Life::Unanswered);
            continue;
        }
        lives.push(match reply.outcome {
            Outcome::Silence => Life::Unanswered,
            Outcome::BadGateway => Life::Unavailable,
            Outcome::Error { status: 400, message } if message.starts_with("Total ") => Life::Full,
            Outcome::Wait(ticket) => match desk.wait(&ticket) {
                Outcome::Error { status: 400, message } => {
                    assert!(message.starts_with("Sandbox failed to start: "), "{message}");
                    Life::Errored { at: desk.now }
                }
                Outcome::Answer { status: 200, .. } => {
                    let started = desk.now;
                    let name = format!("s{n}");
                    let (status, deleted) = desk.delete(&name);
                    assert_eq!(status, 200, "{deleted}");
                    let id = deleted["id"].as_str().expect("an id").to_owned();
                    while desk.state(&id) != "gone" {
                        desk.now = desk.account.next_at().expect("a delete ends");
                        desk.account.advance(desk.now);
                    }
                    Life::Lived { started, gone: desk.now }
                }
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        });
    }
    lives
}

#[test]
fn the_same_script_lives_the_same_lives_on_both_sides_to_the_nanosecond() {
    for seed in [1, 2, 3] {
        let profile = profile();
        let (machine, account) = (in_the_machine(&profile, seed), at_the_account(&profile, seed));
        for (n, (one, other)) in machine.iter().zip(&account).enumerate() {
            assert_eq!(one, other, "create {n}, seed {seed}");
        }
        let lived = machine.iter().filter(|life| matches!(life, Life::Lived { .. })).count();
        let kinds = [
            lived,
            machine.iter().filter(|life| **life == Life::Unanswered).count(),
            machine.iter().filter(|life| **life == Life::Unavailable).count(),
            machine.iter().filter(|life| matches!(life, Life::Errored { .. })).count(),
        ];
        assert!(kinds.iter().all(|&count| count > 0), "seed {seed}: {kinds:?}");
        assert_eq!(machine.len(), CREATES as usize);
    }
}
