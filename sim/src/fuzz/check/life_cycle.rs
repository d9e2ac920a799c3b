//! A sandbox's states against a table of this checker's own, written from section 4.6 of the
//! design and not from the scheduler's.

use super::Violation;
use crate::engine::{Line, What};
use crate::scenario::Variant;
use sandpool_core::{SandboxId, SandboxState};
use std::collections::BTreeMap;

/// Which states may follow one.
fn may_follow(before: SandboxState, after: SandboxState) -> bool {
    use SandboxState as S;
    let next: &[S] = match before {
        // Found at the provider, an orphan is put on the books on its way out.
        S::New => &[S::Creating, S::Destroying, S::Idle, S::Busy],
        S::Creating => &[S::Preparing, S::Warm, S::Limbo, S::Failed, S::Destroying],
        S::Preparing => &[S::Warm, S::Failed, S::Destroying, S::Dead],
        S::Warm => &[S::Assigned, S::Destroying, S::Dead],
        S::Assigned => &[S::Warm, S::Busy, S::Destroying, S::Dead],
        S::Busy => &[S::Idle, S::Dead, S::Destroying],
        S::Idle => &[S::Busy, S::Destroying, S::Dead],
        S::Limbo => &[S::Preparing, S::Warm, S::Destroying, S::Deleted],
        S::Failed | S::Dead => &[S::Destroying, S::Deleted],
        S::Destroying => &[S::Deleted],
        S::Deleted => &[],
    };
    next.contains(&after)
}

/// States in which a sandbox may first be heard of: started by us, adopted, or found.
fn may_begin(state: SandboxState) -> bool {
    use SandboxState as S;
    matches!(state, S::New | S::Creating | S::Idle | S::Busy | S::Destroying)
}

pub(super) fn check(_: &Variant, journal: &[Line]) -> Result<(), Violation> {
    let mut states: BTreeMap<SandboxId, SandboxState> = BTreeMap::new();
    for (number, line) in journal.iter().enumerate() {
        match &line.what {
            // Another instance has books of its own.
            What::Instance(_) => states.clear(),
            What::Event(event) => {
                let Some(id) = event.sandbox else { continue };
                let before = states.insert(id, event.state);
                let is_legal = match before {
                    None => may_begin(event.state),
                    Some(before) => before == event.state || may_follow(before, event.state),
                };
                if !is_legal {
                    let text = format!(
                        "sandbox {id} goes from {before:?} to {:?} ({})",
                        event.state,
                        event.kind.name()
                    );
                    return Err(Violation::at(number, text));
                }
            }
            _ => {}
        }
    }
    Ok(())
}
