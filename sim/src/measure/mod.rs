//! What a replication came to: a fold over the scheduler's events, and the provider's bills.

mod bill;
mod fold;
mod observed;
mod over_time;

pub use fold::Measures;
