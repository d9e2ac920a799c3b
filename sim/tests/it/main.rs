//! Tests of the simulator through its public face, one module a behaviour.

mod cli;
mod daytona_api;
mod determinism;
mod invariants;
mod journal;
mod support;
mod trace;
