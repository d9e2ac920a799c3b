//! Conversations that outlive their sandboxes: an HTTP server over sandpool's scheduler.

mod provider;
mod store;

pub use provider::{
    Alive, CommandOutcome, CommandRequest, Daytona, DaytonaOptions, FileContent, FileEntry,
    FileSource, Found, IdTable, OptionsError, Origin, Pool, PoolError, PrepareFile, PrepareSteps,
    ProviderError, Relabelling, SandboxProvider, SandboxTemplate, Scripted, Simulated, Target,
    carry_out,
};
