//! One replication of one variant: clients, our server's scheduler and the simulated provider in
//! virtual time. The scheduler and its driver are the production ones.

mod client;
mod clock;
mod crash;
mod observer;
mod wind_down;
mod world;

pub use clock::VirtualClock;
pub use observer::{Journal, Line, What};
pub use world::{Outcome, RunOptions, run};
