//! How many sandboxes are kept warm?

mod demand;
mod fixed;
mod forecast;
mod history;

pub(crate) use history::DemandHistory;

use super::WarmPolicy;
use crate::time::{Span, Time};

/// What is known of one class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WarmView<'a> {
    /// The number written in the configuration.
    pub configured: i64,
    /// `warm_max`.
    pub max: i64,
    /// `warm_hit_percent`.
    pub hit_percent: i64,
    /// How long a start takes of late.
    pub start: Span,
    /// Claims seen.
    pub history: &'a DemandHistory,
    /// The instant.
    pub now: Time,
}

/// How many warm sandboxes of the class to keep ready.
#[inline]
pub(crate) fn target(policy: WarmPolicy, view: &WarmView<'_>) -> i64 {
    match policy {
        WarmPolicy::Fixed => fixed::target(view),
        WarmPolicy::Demand => demand::target(view),
        WarmPolicy::Forecast => forecast::target(view),
    }
}
