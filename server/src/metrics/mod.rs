//! What the server tells Prometheus. Numbers of the pool are a fold over the scheduler's events, as
//! the simulator's measures are: [`fold`]. What happens at the edges is counted where it happens.
//!
//! Labels are bounded: accounts by number, classes, routes as they are written in the router, and
//! words of this program. Never a conversation, a path or a text of a caller's.

mod cost;
mod edges;
mod families;
mod fold;

pub use cost::Prices;
pub(crate) use families::Metrics;
pub(crate) use fold::Fold;
