//! How a sandbox of a class is made at the provider.

use super::prepare::PrepareSteps;
use sandpool_core::Resources;
use std::collections::BTreeMap;

/// What a sandbox starts from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// The provider's own default.
    #[default]
    Default,
    /// A snapshot by name; its resources are the snapshot's own.
    Snapshot(String),
    /// A container image; the class's resources apply.
    Image(String),
}

/// How a sandbox of a class is made. The place in the list is the class's number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxTemplate {
    /// The class's name; written into the labels.
    pub class: String,
    /// What it takes. Only an image's sandbox is sized by it.
    pub resources: Resources,
    /// What it starts from.
    pub origin: Origin,
    /// Environment of every process. A custom one misses the provider's own warm pool.
    pub environment: BTreeMap<String, String>,
    /// What is done in it before it is handed out.
    pub prepare: PrepareSteps,
}
