//! Tests of the simulator through its public face, one module a behaviour.

mod cli;
mod daytona_api;
mod determinism;
mod fault_search;
mod invariants;
mod journal;
mod load;
mod support;
mod toolbox;
mod trace;
