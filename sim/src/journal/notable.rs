//! The conversations of a journal that somebody would ask about.

use crate::engine::{Line, What};
use sandpool_core::{EventKind, Id, Span};
use serde::Serialize;
use std::collections::BTreeMap;

/// What befell one conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Notable {
    /// Its number.
    pub conversation: u64,
    /// Its turns.
    pub turns: u32,
    /// Its executes that ran.
    pub executes: u32,
    /// The longest that one of them waited, nanoseconds.
    pub longest_wait: Span,
    /// Executes that were refused.
    pub refusals: u32,
    /// Times that it found its files lost.
    pub lost_files: u32,
}

/// Every conversation of the journal, in order of their numbers.
#[must_use]
pub fn notable(journal: &[Line]) -> Vec<Notable> {
    let mut all: BTreeMap<u64, Notable> = BTreeMap::new();
    for line in journal {
        let What::Event(event) = &line.what else { continue };
        let Some(number) = event.conversation.map(Id::sequence) else { continue };
        let entry = all.entry(number).or_default();
        entry.conversation = number;
        match event.kind {
            EventKind::TurnBegan => entry.turns += 1,
            EventKind::SandboxBusy => {
                entry.executes += 1;
                entry.longest_wait = entry.longest_wait.max(event.span);
            }
            EventKind::SandboxUnavailable => entry.refusals += 1,
            EventKind::SandboxReplaced => entry.lost_files += 1,
            _ => {}
        }
    }
    all.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::super::replay::sample_journal;
    use super::*;

    #[test]
    fn all_conversations_are_there_with_what_befell_them() {
        let (_, journal) = sample_journal();
        let all = notable(&journal);
        let count = |kind: EventKind| {
            let is = |line: &&Line| matches!(&line.what, What::Event(e) if e.kind == kind);
            journal.iter().filter(is).count() as u32
        };
        assert!(all.is_sorted_by(|a, b| a.conversation < b.conversation));
        let sum = |of: fn(&Notable) -> u32| all.iter().map(of).sum::<u32>();
        assert_eq!(sum(|n| n.refusals), count(EventKind::SandboxUnavailable));
        assert_eq!(sum(|n| n.lost_files), count(EventKind::SandboxReplaced));
        assert!(sum(|n| n.refusals) > 0 && sum(|n| n.lost_files) > 0);
        assert!(all.iter().any(|n| n.longest_wait > Span::from_secs(5)));
    }
}
