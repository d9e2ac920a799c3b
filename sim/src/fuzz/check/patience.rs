//! A blocked execute is answered within its patience; once its claim is admitted, within what a
//! start may take.

use super::Violation;
use crate::engine::{Line, What};
use crate::scenario::Variant;
use sandpool_core::{ConversationId, EventKind, Id, Input, Span, Time};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy)]
struct Blocked {
    since: Time,
    patience: Span,
    admitted: Option<Time>,
}

pub(super) fn check(variant: &Variant, journal: &[Line]) -> Result<(), Violation> {
    let config = &variant.server;
    let mut blocked: BTreeMap<ConversationId, Blocked> = BTreeMap::new();
    let mut asked: BTreeMap<ConversationId, Span> = BTreeMap::new();
    let mut admitted: BTreeMap<ConversationId, Time> = BTreeMap::new();
    // Whose sandbox was bound ahead of need, and not used yet.
    let mut ahead: BTreeSet<ConversationId> = BTreeSet::new();
    for (number, line) in journal.iter().enumerate() {
        match &line.what {
            What::Instance(_) | What::Crash => {
                (blocked, asked, admitted, ahead) = Default::default();
            }
            What::Input(Input::StartExecute { conversation, patience, .. }) => {
                asked.insert(*conversation, patience.unwrap_or(config.sandbox_wait));
            }
            What::Event(event) => {
                let Some(conversation) = event.conversation else { continue };
                match event.kind {
                    EventKind::ClaimBlocked => {
                        let patience = asked.get(&conversation).copied();
                        blocked.insert(
                            conversation,
                            Blocked {
                                since: event.at,
                                patience: patience.unwrap_or(config.sandbox_wait),
                                admitted: admitted.get(&conversation).copied(),
                            },
                        );
                    }
                    EventKind::ClaimAdmitted => {
                        admitted.insert(conversation, event.at);
                        if let Some(it) = blocked.get_mut(&conversation) {
                            it.admitted = Some(event.at);
                        }
                    }
                    EventKind::ClaimRevoked => {
                        admitted.remove(&conversation);
                        if let Some(it) = blocked.get_mut(&conversation) {
                            // It waits again, with the patience that it had.
                            it.admitted = None;
                        }
                    }
                    // The claim whose unused sandbox died is admitted still, and is served anew.
                    EventKind::SandboxDied if ahead.remove(&conversation) => {
                        admitted.insert(conversation, event.at);
                    }
                    EventKind::SandboxAssigned
                    | EventKind::SandboxBusy
                    | EventKind::SandboxUnavailable
                    | EventKind::ClaimWithdrawn => {
                        admitted.remove(&conversation);
                        if event.kind == EventKind::SandboxAssigned {
                            ahead.insert(conversation);
                        } else {
                            ahead.remove(&conversation);
                        }
                        if let Some(it) = blocked.remove(&conversation) {
                            late(number, conversation, &it, event.at, config.start_timeout)?;
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn late(
    line: usize,
    conversation: ConversationId,
    it: &Blocked,
    now: Time,
    start_timeout: Span,
) -> Result<(), Violation> {
    let patience_ends = it.since.plus(it.patience);
    let bound = match it.admitted {
        // From the later of the two: a claim may be admitted long before anybody waits for it.
        Some(admitted) => admitted.max(it.since).plus(start_timeout).max(patience_ends),
        None => patience_ends,
    };
    if now <= bound {
        return Ok(());
    }
    Err(Violation::at(
        line,
        format!(
            "conversation {} was blocked at {}, admitted at {:?}, and is answered at {now}, after its \
             bound {bound}",
            conversation.sequence(),
            it.since,
            it.admitted
        ),
    ))
}
