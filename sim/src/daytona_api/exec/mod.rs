//! Running a sandbox's commands as processes of this machine.
//!
//! A development tool and no security boundary: a command is a process of the user who runs the
//! server and may do what that user may. Each sandbox has a directory of its own, and whatever it
//! started is gone when it is.

mod capture;
mod command;
mod directory;
mod environment;
mod guardian;
mod host;
mod leftovers;
mod log;
mod process_group;
mod session;
mod shell;
mod workspace;

pub(super) use command::{Command, Outcome, Run};
pub(super) use directory::Directory;
pub(super) use environment::is_variable_name;
pub(super) use host::Host;
pub use host::{CommandExecution, HostError};
pub(super) use session::{Session, SessionCommand, SessionError};
pub(super) use workspace::Workspace;
