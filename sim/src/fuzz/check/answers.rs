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
        let wrong = |text: String| Err(Violation::at(number, text));
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
                let Some(conversation) = event.conversation else { continue };
                let key = (conversation, event.execute);
                let name = || {
                    format!("execute {} of conversation {}", event.execute, conversation.sequence())
                };
                match event.kind {
                    EventKind::SandboxBusy if event.execute != ExecuteId(0) => {
                        if waiting.remove(&key).is_none() {
                            return wrong(format!("{} is let go and did not wait", name()));
                        }
                        running.insert(key, number);
                    }
                    EventKind::SandboxUnavailable => {
                        if waiting.remove(&key).is_none() {
                            return wrong(format!("{} is refused and did not wait", name()));
                        }
                    }
                    EventKind::ExecuteEnded => {
                        if running.remove(&key).is_none() {
                            return wrong(format!("{} ends and did not run", name()));
                        }
                    }
                    EventKind::ConversationClosed => {
                        if waiting.keys().any(|&(whose, _)| whose == conversation) {
                            let whose = conversation.sequence();
                            return wrong(format!(
                                "conversation {whose} ends with a waiting execute"
                            ));
                        }
                    }
                    EventKind::Drained => {}
                    _ => {}
                }
            }
            _ => {}
        }
    }
    Ok(())
}
