//! At the first execute: nothing is started in vain, and the whole start is waited for.

pub(super) const fn asks_at_begin() -> bool {
    false
}
