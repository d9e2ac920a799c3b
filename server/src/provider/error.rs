//! Why a call to the provider failed, in the scheduler's terms.

use sandpool_core::{Dimension, Failure, Reply, Span};
use std::time::Duration;

/// Why a call failed. `detail` is for people; only the variant decides anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// The quota is used up; nothing was created.
    #[error("the provider's quota is used up: {detail}")]
    Full {
        /// In which dimension, where the answer says so.
        dimension: Option<Dimension>,
        /// What the provider said.
        detail: String,
    },
    /// Too many requests; nothing was done.
    #[error("too many requests to the provider; it asks for {} seconds of rest", retry_after.as_secs_f64())]
    RateLimited {
        /// How long to wait.
        retry_after: Duration,
    },
    /// The request is wrong and stays so.
    #[error("the provider rejects the request: {detail}")]
    Rejected {
        /// What the provider said.
        detail: String,
    },
    /// The name is taken.
    #[error("the provider has a sandbox of this name already")]
    NameExists,
    /// It was tried and failed; something may be left over.
    #[error("the provider tried and failed: {detail}")]
    Errored {
        /// What the provider said.
        detail: String,
    },
    /// For certain not carried out.
    #[error("the provider cannot be reached: {detail}")]
    Unavailable {
        /// What was seen.
        detail: String,
    },
    /// Nobody knows whether it was carried out.
    #[error("the provider's answer was lost: {detail}")]
    Lost {
        /// What was seen.
        detail: String,
    },
    /// The sandbox is changing state.
    #[error("the sandbox is changing state: {detail}")]
    Conflict {
        /// What was seen.
        detail: String,
    },
    /// For certain not there any more, or for certain unusable.
    #[error("the sandbox is gone: {detail}")]
    Gone {
        /// What was seen.
        detail: String,
    },
    /// The sandbox has no such file.
    #[error("no such file in the sandbox: {path}")]
    NoSuchFile {
        /// The path that was asked for.
        path: String,
    },
}

impl ProviderError {
    /// The scheduler's word for it.
    #[must_use]
    pub fn reply(&self) -> Reply {
        Reply::Failed(match self {
            Self::Full { dimension, .. } => Failure::Full { dimension: *dimension },
            Self::RateLimited { retry_after } => {
                Failure::RateLimited { retry_after: span(*retry_after) }
            }
            Self::Rejected { .. } | Self::NoSuchFile { .. } => Failure::Rejected,
            Self::NameExists => Failure::NameExists,
            Self::Errored { .. } => Failure::Errored,
            Self::Unavailable { .. } => Failure::Unavailable,
            Self::Lost { .. } => Failure::Lost,
            Self::Conflict { .. } => Failure::Conflict,
            Self::Gone { .. } => return Reply::Gone,
        })
    }
}

fn span(duration: Duration) -> Span {
    Span::from_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}
