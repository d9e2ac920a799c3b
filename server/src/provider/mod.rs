//! Whoever rents out sandboxes, behind one trait.
//!
//! [`SandboxProvider`] has two adapters: Daytona over HTTP, and a simulated one within the process
//! for tests. Nothing above the trait names either. [`carry_out`] turns one of the scheduler's
//! operations into one call of it, and the outcome into the scheduler's reply.

mod command;
mod daytona;
mod error;
mod files;
mod ids;
mod names;
mod operations;
mod prepare;
mod simulated;
mod template;

pub use command::{CommandOutcome, CommandRequest, Language, OutputSink, Run};
pub use daytona::{Daytona, DaytonaOptions, OptionsError};
pub use error::ProviderError;
pub use files::{FileContent, FileEntry};
pub use ids::IdTable;
pub use names::{Pool, PoolError};
pub use operations::carry_out;
pub use prepare::{FileSource, PrepareFile, PrepareSteps};
pub use simulated::{Scripted, Simulated};
pub use template::{Origin, SandboxTemplate};

use async_trait::async_trait;
use sandpool_core::{ClassId, ConversationId, FoundState, Inventory, ProviderId, SandboxName};
use std::fmt;

/// Which sandbox is meant: the provider's id where it is known, else the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The provider's id, once known.
    pub provider: Option<ProviderId>,
    /// The unique name under which it was created.
    pub name: SandboxName,
}

/// A sandbox that answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alive {
    /// Whether no command of ours runs in it.
    pub quiet: bool,
}

/// A sandbox that a name led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The provider's id.
    pub provider: ProviderId,
    /// Its state there.
    pub state: FoundState,
}

/// What the labels of a sandbox shall say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relabelling {
    /// The instance that owns it from now on.
    pub epoch: u32,
    /// Its class.
    pub class: ClassId,
    /// Whose it is; nobody's while it is warm.
    pub conversation: Option<ConversationId>,
}

/// Rents out sandboxes. Safe to be called from many tasks at once.
///
/// No method retries anything that creates: when to try again is the scheduler's decision. Each
/// failure says whether the thing was done, was not done, or may have been
/// ([`ProviderError::Lost`]).
#[async_trait]
pub trait SandboxProvider: fmt::Debug + Send + Sync + 'static {
    /// The provider's own text for a sandbox, if it was ever learned.
    fn text_of(&self, provider: ProviderId) -> Option<String>;

    /// The number of a provider's text; the same text has the same number as long as this lives.
    fn number_of(&self, text: &str) -> ProviderId;

    /// Creates a sandbox and waits until it is started and answers.
    async fn create(&self, name: SandboxName, class: ClassId) -> Result<ProviderId, ProviderError>;

    /// Carries out the class's prepare steps. A step that fails is [`ProviderError::Errored`].
    async fn prepare(&self, target: Target, class: ClassId) -> Result<(), ProviderError>;

    /// Deletes the sandbox, and returns only when the provider has confirmed that it is gone.
    async fn destroy(&self, target: Target) -> Result<(), ProviderError>;

    /// Whether the sandbox lives and answers; one that does not exist is [`ProviderError::Gone`].
    async fn probe(&self, target: Target) -> Result<Alive, ProviderError>;

    /// Tells the provider that the sandbox is in use, so that it does not stop it.
    async fn keep_alive(&self, target: Target) -> Result<Alive, ProviderError>;

    /// Looks a sandbox up by its name; one without this pool's labels is somebody else's and counts
    /// as none.
    async fn find(&self, name: SandboxName) -> Result<Option<Found>, ProviderError>;

    /// Everything that bears this pool's labels.
    async fn find_all(&self) -> Result<Inventory, ProviderError>;

    /// Replaces the labels.
    async fn relabel(&self, target: Target, labels: Relabelling) -> Result<(), ProviderError>;

    /// Runs a command to its end. An exit code other than zero is an outcome, not an error.
    async fn execute(
        &self,
        provider: ProviderId,
        command: &CommandRequest,
    ) -> Result<CommandOutcome, ProviderError>;

    /// As [`SandboxProvider::execute`], and passes the output on as it comes, as far as the provider
    /// has a way for that; whatever was not passed on before is at the end.
    ///
    /// # Errors
    /// As [`SandboxProvider::execute`].
    async fn execute_streamed(
        &self,
        provider: ProviderId,
        command: &CommandRequest,
        output: &OutputSink,
    ) -> Result<CommandOutcome, ProviderError> {
        let outcome = self.execute(provider, command).await?;
        if let CommandOutcome::Completed { output: text, .. } = &outcome
            && !text.is_empty()
        {
            output.send(text.as_str());
        }
        Ok(outcome)
    }

    /// Writes files, replacing those that exist and making the folders above them.
    async fn write_files(
        &self,
        provider: ProviderId,
        files: &[FileContent],
    ) -> Result<(), ProviderError>;

    /// Writes one file.
    async fn write_file(
        &self,
        provider: ProviderId,
        file: FileContent,
    ) -> Result<(), ProviderError> {
        self.write_files(provider, std::slice::from_ref(&file)).await
    }

    /// Reads one file; at most the adapter's bound of bytes.
    async fn read_file(&self, provider: ProviderId, path: &str) -> Result<Vec<u8>, ProviderError>;

    /// Lists a folder.
    async fn list_files(
        &self,
        provider: ProviderId,
        path: &str,
    ) -> Result<Vec<FileEntry>, ProviderError>;

    /// Deletes a file, or a folder with everything in it when `recursive`.
    async fn delete_file(
        &self,
        provider: ProviderId,
        path: &str,
        recursive: bool,
    ) -> Result<(), ProviderError>;
}
