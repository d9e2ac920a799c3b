//! Every execute that the scheduler took on is let go or refused, once.

use super::Violation;
use crate::engine::{Line, What};
use crate::scenario::Variant;
use sandpool_core::{ConversationId, EventKind, ExecuteId, Id, Input};
use std::collections::BTreeMap;

pub(super) fn check(_: &Variant, journal: &[Line]) -> Result<(), Violation> {
    // Executes that wait, with the line at which they were asked for.
    let mut waiting: BTreeMap<(ConversationId, ExecuteId), usize> = BTreeMap::new();
    let mut running: BTreeMap<(ConversationId, ExecuteId), usize> = BTreeMap::new();
    for (number, line) in journal.iter().enumerate() {
        match &line.what {
            // A crash answers nobody.
            What::Instance(_) | What::Crash => {
                waiting.clear();
                running.clear();
            }
            What::Input(Input::StartExecute { conversation, execute, .. }) => {
                waiting.insert((*conversation, *execute), number);
            }
            What::Rejection(rejection) => {
                if let Some(conversation) = rejection.conversation {
                    let key = (conversation, rejection.execute);
                    // Only the input just before it can be meant.
                    if waiting.get(&key).is_some_and(|&asked| asked + 1 == number) {
                        waiting.remove(&key);
                    }
                }
            }
            What::Event(event) => {
                // One runs after the other: whoever is answered leaves nobody before it unanswered.
                let forgotten = waiting.keys().find(|&&(whose, execute)| match event.kind {
                    EventKind::Drained => true,
                    EventKind::SandboxBusy | EventKind::SandboxUnavailable => {
                        Some(whose) == event.conversation && execute < event.execute
                    }
                    _ => false,
                });
                if let Some((whose, execute)) = forgotten {
                    let whose = whose.sequence();
                    let text =
                        format!("execute {execute} of conversation {whose} was never answered");
                    return Err(Violation::at(number, text));
                }
                let Some(conversation) = event.conversation else { continue };
                let key = (conversation, event.execute);
                let is_of_this = |&(whose, _): &(ConversationId, ExecuteId)| whose == conversation;
                let complaint = match event.kind {
                    EventKind::SandboxBusy if event.execute != ExecuteId(0) => {
                        running.insert(key, number);
                        waiting.remove(&key).is_none().then_some("is let go and did not wait")
                    }
                    EventKind::SandboxUnavailable => {
                        waiting.remove(&key).is_none().then_some("is refused and did not wait")
                    }
                    EventKind::ExecuteEnded => {
                        running.remove(&key).is_none().then_some("ends and did not run")
                    }
                    EventKind::ConversationClosed => waiting
                        .keys()
                        .any(is_of_this)
                        .then_some("is the last of a conversation that ends with one waiting"),
                    _ => None,
                };
                if let Some(complaint) = complaint {
                    let whose = conversation.sequence();
                    let text =
                        format!("execute {} of conversation {whose} {complaint}", event.execute);
                    return Err(Violation::at(number, text));
                }
            }
            _ => {}
        }
    }
    Ok(())
}
