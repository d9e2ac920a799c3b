//! When does an idle sandbox end?

mod fixed;
mod pressure;

use super::IdlePolicy;
use crate::time::Span;

/// What the decision may look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CapacityView {
    /// `idle_seconds`.
    pub idle: Span,
    /// `idle_pressure_seconds`.
    pub idle_pressure: Span,
    /// Whether capacity is short (fewer than `idle_pressure_free` default-class sandboxes fit).
    pub short: bool,
}

/// How long a sandbox may be idle now.
#[inline]
pub(crate) fn span(policy: IdlePolicy, view: &CapacityView) -> Span {
    match policy {
        IdlePolicy::Fixed => fixed::span(view),
        IdlePolicy::Pressure => pressure::span(view),
    }
}
