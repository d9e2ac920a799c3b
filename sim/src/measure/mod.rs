//! What a replication came to: a fold over the scheduler's events, and the provider's bills.

mod balance;
mod bill;
mod fold;
mod observed;
mod over_time;
mod queueing;

pub use balance::{Balance, Imbalance};
pub use fold::Measures;
pub(crate) use queueing::Queueing;
