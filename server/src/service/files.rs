//! Files in the conversation's sandbox. Like an execute, each waits for a sandbox if it must.

use super::lazy_sandbox::{InSandbox, LazySandbox};
use super::{Service, ServiceError};
use crate::engine::Answered;
use crate::provider::{FileContent, FileEntry, ProviderError};
use crate::store::ConversationKey;
use sandpool_core::{ExecuteOutcome, ProviderId, Span, Used};
use std::future::Future;

impl Service {
    pub(crate) async fn write_file(
        &self,
        account: u32,
        key: &ConversationKey,
        file: FileContent,
        patience: Option<Span>,
    ) -> Result<InSandbox<()>, ServiceError> {
        let provider = &self.provider;
        self.in_sandbox(account, key, patience, |id| provider.write_file(id, file)).await
    }

    pub(crate) async fn read_file(
        &self,
        account: u32,
        key: &ConversationKey,
        path: &str,
        patience: Option<Span>,
    ) -> Result<InSandbox<Vec<u8>>, ServiceError> {
        let provider = &self.provider;
        self.in_sandbox(account, key, patience, |id| provider.read_file(id, path)).await
    }

    pub(crate) async fn list_files(
        &self,
        account: u32,
        key: &ConversationKey,
        path: &str,
        patience: Option<Span>,
    ) -> Result<InSandbox<Vec<FileEntry>>, ServiceError> {
        let provider = &self.provider;
        self.in_sandbox(account, key, patience, |id| provider.list_files(id, path)).await
    }

    pub(crate) async fn delete_file(
        &self,
        account: u32,
        key: &ConversationKey,
        path: &str,
        recursive: bool,
        patience: Option<Span>,
    ) -> Result<InSandbox<()>, ServiceError> {
        let provider = &self.provider;
        self.in_sandbox(account, key, patience, |id| provider.delete_file(id, path, recursive))
            .await
    }

    async fn in_sandbox<T, F>(
        &self,
        account: u32,
        key: &ConversationKey,
        patience: Option<Span>,
        work: impl FnOnce(ProviderId) -> F,
    ) -> Result<InSandbox<T>, ServiceError>
    where
        F: Future<Output = Result<T, ProviderError>>,
    {
        let conversation = self.open_one(account, key).await?;
        let sandbox = LazySandbox {
            service: self,
            conversation,
            turn: None,
            class: self.class(None)?,
            patience,
            answered: Answered::AtOnce,
        };
        let tell = |_: &T| (ExecuteOutcome::Completed, Used::default(), "{}".to_owned());
        sandbox.with(work, tell).await
    }
}
