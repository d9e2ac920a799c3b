//! Who has which sandbox: one each, and a used one never crosses to another conversation.

use super::Violation;
use crate::engine::{Line, What};
use crate::scenario::Variant;
use sandpool_core::{ConversationId, EventKind, Id, SandboxId, SandboxState};
use std::collections::BTreeMap;

pub(super) fn check(_: &Variant, journal: &[Line]) -> Result<(), Violation> {
    let mut holders: BTreeMap<SandboxId, ConversationId> = BTreeMap::new();
    let mut held: BTreeMap<ConversationId, SandboxId> = BTreeMap::new();
    let mut used_by: BTreeMap<SandboxId, ConversationId> = BTreeMap::new();
    for (number, line) in journal.iter().enumerate() {
        let event = match &line.what {
            What::Instance(_) => {
                (holders, held, used_by) = Default::default();
                continue;
            }
            What::Event(event) => event,
            _ => continue,
        };
        let Some(sandbox) = event.sandbox else { continue };
        let is_leased =
            matches!(event.state, SandboxState::Assigned | SandboxState::Busy | SandboxState::Idle);
        if !is_leased {
            if let Some(conversation) = holders.remove(&sandbox) {
                held.remove(&conversation);
            }
            continue;
        }
        let Some(conversation) = event.conversation else { continue };
        let wrong = |text: String| Err(Violation::at(number, text));
        if let Some(&other) = holders.get(&sandbox)
            && other != conversation
        {
            return wrong(format!(
                "sandbox {sandbox} is conversation {}'s and {}'s",
                other.sequence(),
                conversation.sequence()
            ));
        }
        if let Some(&other) = held.get(&conversation)
            && other != sandbox
        {
            return wrong(format!(
                "conversation {} has sandboxes {other} and {sandbox}",
                conversation.sequence()
            ));
        }
        holders.insert(sandbox, conversation);
        held.insert(conversation, sandbox);
        if let Some(&other) = used_by.get(&sandbox)
            && other != conversation
        {
            return wrong(format!(
                "sandbox {sandbox} was used by conversation {} and is given to {}",
                other.sequence(),
                conversation.sequence()
            ));
        }
        if event.kind == EventKind::SandboxBusy || event.kind == EventKind::SandboxAdopted {
            used_by.insert(sandbox, conversation);
        }
    }
    Ok(())
}
