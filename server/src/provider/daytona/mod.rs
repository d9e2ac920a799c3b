//! Daytona over HTTP (API v0). One call a file; what its answers mean is in `refusal.rs`.
//!
//! Facts about the API are from the source of Daytona v0.190.0 (June 2026, the last that was
//! published), the published API description v0.205.1, and public issue threads, as each place says.

mod client;
mod create;
mod destroy;
mod execute;
mod files;
mod find;
mod keep_alive;
mod list;
mod options;
mod prepare;
mod probe;
mod rate_limit;
mod refusal;
mod relabel;
mod running;
mod stream;
#[cfg(test)]
mod tests;
mod wire;

pub use client::Daytona;
pub use options::{DaytonaOptions, OptionsError};

use super::{
    Alive, CommandOutcome, CommandRequest, FileContent, FileEntry, Found, OutputSink,
    ProviderError, Relabelling, SandboxProvider, Target,
};
use async_trait::async_trait;
use sandpool_core::{ClassId, Inventory, ProviderId, SandboxName};

#[async_trait]
impl SandboxProvider for Daytona {
    fn text_of(&self, provider: ProviderId) -> Option<String> {
        self.ids.text_of(provider)
    }

    fn number_of(&self, text: &str) -> ProviderId {
        self.ids.number_of(text)
    }

    async fn create(&self, name: SandboxName, class: ClassId) -> Result<ProviderId, ProviderError> {
        create::create(self, name, class).await
    }

    async fn prepare(&self, target: Target, class: ClassId) -> Result<(), ProviderError> {
        prepare::prepare(self, target, class).await
    }

    async fn destroy(&self, target: Target) -> Result<(), ProviderError> {
        destroy::destroy(self, target).await
    }

    async fn probe(&self, target: Target) -> Result<Alive, ProviderError> {
        probe::probe(self, target).await
    }

    async fn keep_alive(&self, target: Target) -> Result<Alive, ProviderError> {
        keep_alive::keep_alive(self, target).await
    }

    async fn find(&self, name: SandboxName) -> Result<Option<Found>, ProviderError> {
        find::find(self, name).await
    }

    async fn find_all(&self) -> Result<Inventory, ProviderError> {
        list::find_all(self).await
    }

    async fn relabel(&self, target: Target, labels: Relabelling) -> Result<(), ProviderError> {
        relabel::relabel(self, target, labels).await
    }

    async fn execute(
        &self,
        provider: ProviderId,
        command: &CommandRequest,
    ) -> Result<CommandOutcome, ProviderError> {
        execute::execute(self, provider, command).await
    }

    async fn execute_streamed(
        &self,
        provider: ProviderId,
        command: &CommandRequest,
        output: &OutputSink,
    ) -> Result<CommandOutcome, ProviderError> {
        stream::execute_streamed(self, provider, command, output).await
    }

    async fn write_files(
        &self,
        provider: ProviderId,
        files: &[FileContent],
    ) -> Result<(), ProviderError> {
        files::write(self, provider, files).await
    }

    async fn read_file(&self, provider: ProviderId, path: &str) -> Result<Vec<u8>, ProviderError> {
        files::read(self, provider, path).await
    }

    async fn list_files(
        &self,
        provider: ProviderId,
        path: &str,
    ) -> Result<Vec<FileEntry>, ProviderError> {
        files::list(self, provider, path).await
    }

    async fn delete_file(
        &self,
        provider: ProviderId,
        path: &str,
        recursive: bool,
    ) -> Result<(), ProviderError> {
        files::delete(self, provider, path, recursive).await
    }
}
