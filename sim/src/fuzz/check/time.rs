//! Time does not go back, sequences have no gap, and what is told of a length of time is what
//! passed.

use super::Violation;
use crate::engine::{Line, What};
use crate::scenario::Variant;
use sandpool_core::{EventKind, Id, SandboxId, Time};
use std::collections::BTreeMap;

pub(super) fn check(_: &Variant, journal: &[Line]) -> Result<(), Violation> {
    let (mut now, mut sequence) = (Time::ZERO, 0);
    let mut started: BTreeMap<SandboxId, Time> = BTreeMap::new();
    let mut busy: BTreeMap<SandboxId, Time> = BTreeMap::new();
    for (number, line) in journal.iter().enumerate() {
        let wrong = |text: String| Err(Violation::at(number, text));
        if line.at < now {
            return wrong(format!("{} comes after {now}", line.at));
        }
        now = line.at;
        let event = match &line.what {
            What::Instance(_) => {
                sequence = 0;
                started.clear();
                busy.clear();
                continue;
            }
            What::Event(event) => event,
            _ => continue,
        };
        sequence += 1;
        if event.sequence != sequence {
            return wrong(format!("event {} comes where {sequence} is due", event.sequence));
        }
        let Some(sandbox) = event.sandbox else { continue };
        match event.kind {
            EventKind::SandboxStarting => {
                started.insert(sandbox, event.at);
            }
            EventKind::SandboxReady => {
                if let Some(&since) = started.get(&sandbox)
                    && event.at.since(since) != event.span
                {
                    let passed = event.at.since(since);
                    return wrong(format!("a start took {passed} and is told as {}", event.span));
                }
            }
            EventKind::SandboxBusy => {
                busy.insert(sandbox, event.at);
            }
            EventKind::ExecuteEnded => {
                if let Some(since) = busy.remove(&sandbox)
                    && event.at.since(since) != event.span
                {
                    let passed = event.at.since(since);
                    let whose = event.conversation.map(Id::sequence);
                    return wrong(format!(
                        "an execute of {whose:?} ran {passed} and is told as {}",
                        event.span
                    ));
                }
            }
            _ => {}
        }
    }
    Ok(())
}
