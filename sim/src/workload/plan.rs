//! What happens in a conversation, as far as it does not depend on the policy.

use sandpool_core::{AccountId, ClassId, Span, Time};

/// A conversation that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Counts up from 1 in order of arrival. Asks for its plans.
    pub number: u64,
    /// When its first turn begins.
    pub starts_at: Time,
    /// Whose it is.
    pub account: AccountId,
    /// Class of its sandboxes.
    pub class: ClassId,
    /// Its turns, at least 1.
    pub turns: u32,
}

/// One turn, were nothing to wait for: the agent works for `work_before`, runs its executes with
/// work between them, works for `work_after`, and the turn ends. A turn without code lasts for
/// `work_before` and `work_after`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnPlan {
    /// Whether it runs any code.
    pub needs_code: bool,
    /// The caller's estimate of that at the turn's begin, percent (0 to 100), where it gives one.
    pub likely_percent: Option<u8>,
    /// How many executes it runs; 0 when it needs no code.
    pub executes: u32,
    /// Agent work from the turn's begin to its first execute.
    pub work_before: Span,
    /// Agent work from the end of its last execute (without code: from the end of `work_before`)
    /// to the turn's end.
    pub work_after: Span,
    /// From the turn's end to the begin of the conversation's next turn; without meaning after the
    /// last one, where [`super::Source::close_after`] counts.
    pub think_after: Span,
}

/// One execute of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExecutePlan {
    /// Agent work from the end of the execute before to this one; zero for the first, where the
    /// turn's `work_before` counts.
    pub work_between: Span,
    /// How long it runs once it has a sandbox.
    pub runs_for: Span,
    /// How long it waits for capacity, where that differs from `sandbox_wait_seconds`.
    pub patience: Option<Span>,
}
