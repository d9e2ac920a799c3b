//! A server in a process of its own beside a simulated Daytona in this one: what the commands
//! `bench` and `chaos` measure, and torment.

mod child;
mod connection;
mod daytona;

pub(crate) use child::{Child, ChildError};
pub(crate) use connection::{Connection, ConnectionError};
pub(crate) use daytona::{Daytona, Sandbox};
