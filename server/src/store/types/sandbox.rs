//! Sandbox references, and what is about to be asked of the provider.

use sandpool_core::{SandboxName, SandboxState, Verb};

/// A sandbox that may exist at the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxRef {
    /// Its name, given before it was created and never reused.
    pub name: SandboxName,
    /// Its class, by name.
    pub class: String,
    /// The provider's own id, once it was learned. What is cleaned up is found by this.
    pub provider_id: Option<String>,
    /// The number of the conversation that it is bound to; a conversation has one at most.
    pub conversation: Option<u64>,
    /// Where in its life it is.
    pub state: SandboxState,
    /// When this was last written.
    pub at_ms: i64,
}

/// Something that the provider is about to be asked, kept before it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intent {
    /// The instance that asks.
    pub epoch: u32,
    /// The operation's sequence within the instance.
    pub operation: u64,
    /// What is asked.
    pub verb: Verb,
    /// Of which sandbox.
    pub sandbox: SandboxName,
    /// When.
    pub at_ms: i64,
}
