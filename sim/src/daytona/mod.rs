//! The simulated Daytona: a pure machine of its own, seeded, fed with times, polled for answers.

mod profile;

pub use profile::{Latencies, OtherTenants, Outage, Profile, RateLimits, VerbFaults};
