//! The life of a sandbox: one table lists every legal edge.

use serde::{Deserialize, Serialize};

/// Where a sandbox is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxState {
    /// Decided on; nothing asked of the provider yet.
    New,
    /// A create is under way.
    Creating,
    /// The prepare steps are under way.
    Preparing,
    /// Ready, bound to nobody.
    Warm,
    /// Bound to a conversation, not used yet.
    Assigned,
    /// A command runs, or its end is unresolved.
    Busy,
    /// Bound, used, no command running.
    Idle,
    /// A create's answer is missing: it may exist.
    Limbo,
    /// A start failed; a leftover may exist.
    Failed,
    /// It died; a leftover may exist.
    Dead,
    /// Deleting.
    Destroying,
    /// Confirmed gone. Holds nothing.
    Deleted,
}

impl SandboxState {
    /// Every state.
    pub const ALL: [SandboxState; 12] = [
        SandboxState::New,
        SandboxState::Creating,
        SandboxState::Preparing,
        SandboxState::Warm,
        SandboxState::Assigned,
        SandboxState::Busy,
        SandboxState::Idle,
        SandboxState::Limbo,
        SandboxState::Failed,
        SandboxState::Dead,
        SandboxState::Destroying,
        SandboxState::Deleted,
    ];

    /// The word in journals and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SandboxState::New => "new",
            SandboxState::Creating => "creating",
            SandboxState::Preparing => "preparing",
            SandboxState::Warm => "warm",
            SandboxState::Assigned => "assigned",
            SandboxState::Busy => "busy",
            SandboxState::Idle => "idle",
            SandboxState::Limbo => "limbo",
            SandboxState::Failed => "failed",
            SandboxState::Dead => "dead",
            SandboxState::Destroying => "destroying",
            SandboxState::Deleted => "deleted",
        }
    }

    /// Whether the sandbox is bound to a conversation.
    #[must_use]
    pub const fn is_leased(self) -> bool {
        matches!(self, SandboxState::Assigned | SandboxState::Busy | SandboxState::Idle)
    }

    /// Whether the sandbox is on its way up and may serve a claim when it is ready.
    #[must_use]
    pub const fn is_starting(self) -> bool {
        matches!(self, SandboxState::New | SandboxState::Creating | SandboxState::Preparing)
    }
}

/// Every legal change of state.
pub const EDGES: &[(SandboxState, SandboxState)] = {
    use SandboxState::{
        Assigned, Busy, Creating, Dead, Deleted, Destroying, Failed, Idle, Limbo, New, Preparing,
        Warm,
    };
    &[
        (New, Creating),         // the create is submitted
        (Creating, Preparing),   // created; the class prepares
        (Creating, Warm),        // created; nothing to prepare
        (Creating, Limbo),       // no answer
        (Creating, Failed),      // refused or errored
        (Creating, Destroying),  // created; not wanted any more
        (Preparing, Warm),       // ready
        (Preparing, Failed),     // preparing failed or took too long
        (Preparing, Destroying), // not wanted any more
        (Preparing, Dead),       // gone while preparing
        (Warm, Assigned),        // bound
        (Warm, Destroying),      // evicted, surplus, too old, shutdown
        (Warm, Dead),            // died in the pool
        (Assigned, Warm),        // given back unused
        (Assigned, Busy),        // first use
        (Assigned, Destroying),  // taken from a speculative claim, conversation closed
        (Assigned, Dead),        // died before use
        (Busy, Idle),            // the command ended
        (Busy, Dead),            // died under the command
        (Busy, Destroying),      // cancelled and closed, shutdown past its grace
        (Idle, Busy),            // the next command
        (Idle, Destroying),      // idle end, reclaimed, closed, swapped, shutdown
        (Idle, Dead),            // died while idle
        (Limbo, Preparing),      // found and adopted
        (Limbo, Warm),           // found and adopted, nothing to prepare
        (Limbo, Destroying),     // found and not wanted
        (Limbo, Deleted),        // absent for certain
        (Failed, Destroying),    // a leftover may hold the name
        (Failed, Deleted),       // for certain never created
        (Dead, Destroying),      // make sure
        (New, Idle),             // an earlier instance's sandbox, adopted for its conversation
        (New, Busy),             // the same, with a command whose end is unknown
        (New, Destroying),       // an earlier instance's sandbox or an orphan, removed
        (Destroying, Deleted),   // confirmed gone
    ]
};

/// Whether the table has the edge.
#[must_use]
pub const fn is_legal(from: SandboxState, to: SandboxState) -> bool {
    LEGAL[from as usize] & (1 << to as u16) != 0
}

/// [`EDGES`] as one bit set a state, so that checking an edge costs a shift.
const LEGAL: [u16; SandboxState::ALL.len()] = {
    let mut rows = [0_u16; SandboxState::ALL.len()];
    let mut i = 0;
    while i < EDGES.len() {
        let (from, to) = EDGES[i];
        rows[from as usize] |= 1 << to as u16;
        i += 1;
    }
    rows
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bit_sets_are_the_table() {
        for from in SandboxState::ALL {
            for to in SandboxState::ALL {
                assert_eq!(is_legal(from, to), EDGES.contains(&(from, to)), "{from:?} -> {to:?}");
            }
        }
    }

    #[test]
    fn every_life_begins_at_new_and_can_end_at_deleted() {
        for state in SandboxState::ALL {
            assert_eq!(
                EDGES.iter().any(|&(_, to)| to == state),
                state != SandboxState::New,
                "{state:?}"
            );
            let mut reached = vec![state];
            while let Some(&(_, to)) =
                EDGES.iter().find(|(from, to)| reached.contains(from) && !reached.contains(to))
            {
                reached.push(to);
            }
            assert!(reached.contains(&SandboxState::Deleted), "{state:?} cannot end");
        }
    }
}
