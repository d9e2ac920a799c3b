//! When is a turn's sandbox asked for?

mod likely;
mod on_execute;
mod on_turn;

use super::StartPolicy;

/// What is known as a turn begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TurnView {
    /// The caller's own estimate that the turn needs code, percent.
    pub likely_percent: Option<u8>,
    /// Earlier turns of the conversation.
    pub turns: u32,
    /// Those of them that ran code.
    pub turns_with_code: u32,
    /// From this chance on, percent, `likely` asks.
    pub threshold_percent: i64,
}

/// Whether to ask for a sandbox as the turn begins.
pub(crate) fn asks_at_begin(policy: StartPolicy, view: &TurnView) -> bool {
    match policy {
        StartPolicy::OnTurn => on_turn::asks_at_begin(),
        StartPolicy::OnExecute => on_execute::asks_at_begin(),
        StartPolicy::Likely => likely::asks_at_begin(view),
    }
}
