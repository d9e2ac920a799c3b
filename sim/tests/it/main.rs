//! Tests of the simulator through its public face, one module a behaviour.

mod invariants;
