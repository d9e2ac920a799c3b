//! As the turn begins: the start hides under the agent's own work, and is wasted where the turn
//! turns out to need no code.

pub(super) const fn asks_at_begin() -> bool {
    true
}
