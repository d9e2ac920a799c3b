//! What was just used is not taken: not within `reclaim_idle_seconds`, not in an open turn.

use super::Violation;
use crate::engine::{Line, What};
use crate::scenario::Variant;
use sandpool_core::{ConversationId, EventKind, Id, SandboxId, Time};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check(variant: &Variant, journal: &[Line]) -> Result<(), Violation> {
    let protected = variant.server.reclaim_idle;
    let mut last_use: BTreeMap<SandboxId, Time> = BTreeMap::new();
    let mut in_turn: BTreeSet<ConversationId> = BTreeSet::new();
    for (number, line) in journal.iter().enumerate() {
        let event = match &line.what {
            What::Instance(_) => {
                last_use.clear();
                in_turn.clear();
                continue;
            }
            What::Event(event) => event,
            _ => continue,
        };
        match (event.kind, event.conversation, event.sandbox) {
            (EventKind::TurnBegan, Some(conversation), _) => {
                in_turn.insert(conversation);
            }
            (EventKind::TurnEnded | EventKind::ConversationClosed, Some(conversation), _) => {
                in_turn.remove(&conversation);
            }
            (EventKind::SandboxBusy | EventKind::SandboxIdle, _, Some(sandbox)) => {
                last_use.insert(sandbox, event.at);
            }
            (EventKind::SandboxReclaimed, conversation, Some(sandbox)) => {
                if let Some(conversation) = conversation.filter(|it| in_turn.contains(it)) {
                    let text = format!(
                        "sandbox {sandbox} is taken from conversation {} in an open turn",
                        conversation.sequence()
                    );
                    return Err(Violation::at(number, text));
                }
                let since = last_use.get(&sandbox).copied().unwrap_or(Time::ZERO);
                if event.at < since.plus(protected) {
                    let text = format!(
                        "sandbox {sandbox} is taken at {}, {} after its last use",
                        event.at,
                        event.at.since(since)
                    );
                    return Err(Violation::at(number, text));
                }
            }
            _ => {}
        }
    }
    Ok(())
}
