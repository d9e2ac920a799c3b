//! What the API does, in the words of the domain: conversations that keep their history while
//! sandboxes come and go.

mod conversations;
mod directory;
mod execute;
mod explain;
mod files;
mod lazy_sandbox;
mod operation;
mod retention;
mod turns;

pub(crate) use execute::{Execute, ExecuteError, Executed, Outcome};
pub(crate) use explain::{Happened, What};
pub(crate) use lazy_sandbox::{InSandbox, Missing};
pub(crate) use operation::{Comparison, Standing};
pub(crate) use retention::retain;

use crate::context::ContextRules;
use crate::engine::{Engine, Refused, Stopped};
use crate::provider::SandboxProvider;
use crate::store::{Store, StoreError};
use directory::Directory;
use std::sync::Arc;

/// Everything behind the API. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Service {
    engine: Engine,
    store: Arc<dyn Store>,
    provider: Arc<dyn SandboxProvider>,
    directory: Arc<Directory>,
    classes: Arc<Vec<String>>,
    context_rules: ContextRules,
}

/// Why something could not be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ServiceError {
    /// No such conversation, or not one of this account's.
    #[error("no such conversation")]
    NoSuchConversation,
    /// It is closed: it can be read and not go on.
    #[error("the conversation is closed")]
    Closed,
    /// No class of this name.
    #[error("no class {0:?} is configured")]
    NoSuchClass(String),
    /// It made no sense to the scheduler.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The server ends.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
}

impl From<StoreError> for ServiceError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound => Self::NoSuchConversation,
            other => Self::Store(other),
        }
    }
}

impl Service {
    pub(crate) fn new(
        engine: Engine,
        store: Arc<dyn Store>,
        provider: Arc<dyn SandboxProvider>,
        open: impl IntoIterator<
            Item = (
                crate::store::ConversationKey,
                sandpool_core::AccountId,
                sandpool_core::ConversationId,
            ),
        >,
        classes: Vec<String>,
        context_rules: ContextRules,
    ) -> Self {
        Self {
            engine,
            store,
            provider,
            directory: Arc::new(Directory::new(open)),
            classes: Arc::new(classes),
            context_rules,
        }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    fn class(&self, name: Option<&str>) -> Result<sandpool_core::ClassId, ServiceError> {
        let index = match name {
            None => Some(0),
            Some(name) => self.classes.iter().position(|class| class == name),
        };
        index
            .and_then(|index| u16::try_from(index).ok())
            .map(sandpool_core::ClassId)
            .ok_or_else(|| ServiceError::NoSuchClass(name.unwrap_or_default().to_owned()))
    }
}
