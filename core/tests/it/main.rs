//! Behaviour of the scheduler through its public face: one module a behaviour.

mod borrowing;
mod capacity;
mod conversations;
mod death;
mod harness;
mod limbo;
mod queue;
mod reclaim;
mod recovery;
mod shutdown;
mod speculation;
mod starts;
mod warm_pool;
