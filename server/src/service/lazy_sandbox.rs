//! The sandbox of a turn, as whoever uses it sees it: not there until it is needed, and then
//! waited for only as long as is left.

use super::Service;
use crate::engine::{Answered, Granted, Refused, Stopped, Unavailable};
use crate::provider::ProviderError;
use sandpool_core::{
    ConversationId, ExecuteId, ExecuteOutcome, ProviderId, Reason, Span, TurnId, Used,
};
use std::future::Future;

/// What came of using a sandbox.
#[derive(Debug)]
pub(crate) struct InSandbox<T> {
    /// The execute's number.
    pub(crate) execute: ExecuteId,
    /// What it gave.
    pub(crate) value: T,
    /// How long the sandbox was waited for.
    pub(crate) waited: Span,
    /// How long it took.
    pub(crate) took: Span,
    /// Why files of earlier turns are gone, if it is told now.
    pub(crate) files_lost: Option<Reason>,
}

/// Why there is no result.
#[derive(Debug)]
pub(crate) enum Missing {
    /// There was no sandbox to be had: a normal result.
    Unavailable(Unavailable),
    /// The sandbox died under it. Files are lost.
    Died { execute: ExecuteId, waited: Span, took: Span },
    /// Nobody knows what came of it; the sandbox is kept.
    Unknown { execute: ExecuteId, waited: Span, took: Span, detail: String },
    /// It was cut off: cancelled, or the turn or the conversation ended.
    CutOff { execute: ExecuteId, waited: Span, reason: Reason },
    /// The provider turned the request itself down.
    Rejected(String),
    /// The sandbox has no such file.
    NoSuchFile(String),
    /// The scheduler turned it down.
    Refused(Refused),
    /// The server ends.
    Stopped,
}

impl From<Stopped> for Missing {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

/// The sandbox of a turn.
pub(super) struct LazySandbox<'a> {
    pub(super) service: &'a Service,
    pub(super) conversation: ConversationId,
    pub(super) turn: TurnId,
    pub(super) patience: Option<Span>,
    /// When the end of what is done in it is told.
    pub(super) answered: Answered,
}

impl LazySandbox<'_> {
    /// Does something in the sandbox, and tells the engine how it went. `tell` says of a result
    /// how it counts and what is kept of it (JSON).
    pub(super) async fn with<T, F>(
        &self,
        work: impl FnOnce(ProviderId) -> F,
        tell: impl FnOnce(&T) -> (ExecuteOutcome, Used, String),
    ) -> Result<InSandbox<T>, Missing>
    where
        F: Future<Output = Result<T, ProviderError>>,
    {
        let engine = &self.service.engine;
        let mut grant = match engine.acquire(self.conversation, self.turn, self.patience).await? {
            Err(refused) => return Err(Missing::Refused(refused)),
            Ok(Granted::Unavailable(unavailable)) => {
                return Err(Missing::Unavailable(unavailable));
            }
            Ok(Granted::Go(grant)) => grant,
        };
        let (execute, waited) = (grant.execute, grant.waited);
        tracing::debug!(sandbox = %grant.name, waited_seconds = waited.as_secs_f64(), "a sandbox is used");
        let began = tokio::time::Instant::now();
        let result = tokio::select! {
            result = work(grant.provider) => result,
            reason = &mut grant.cut_off => {
                return Err(match reason {
                    Ok(Reason::Died) => {
                        Missing::Died { execute, waited, took: span(began.elapsed()) }
                    }
                    Ok(reason) => Missing::CutOff { execute, waited, reason },
                    Err(_) => Missing::Unknown {
                        execute,
                        waited,
                        took: span(began.elapsed()),
                        detail: "the server ended".to_owned(),
                    },
                });
            }
        };
        let took = span(began.elapsed());
        let (outcome, used, kept) = match &result {
            Ok(value) => tell(value),
            Err(error) => (outcome_of(error), Used::default(), "{}".to_owned()),
        };
        // It has run: an engine that has ended meanwhile must not make that "nothing was done".
        let finished =
            engine.finish(self.conversation, execute, outcome, used, kept, self.answered).await;
        let Ok(ended) = finished else {
            let detail = "the server ended before the result was safe".to_owned();
            return Err(Missing::Unknown { execute, waited, took, detail });
        };
        match result {
            Ok(value) => {
                Ok(InSandbox { execute, value, waited, took, files_lost: grant.files_lost })
            }
            Err(ProviderError::Rejected { detail }) => Err(Missing::Rejected(detail)),
            Err(ProviderError::NoSuchFile { path }) => Err(Missing::NoSuchFile(path)),
            Err(_) if ended == Reason::Died => Err(Missing::Died { execute, waited, took }),
            Err(error) => {
                Err(Missing::Unknown { execute, waited, took, detail: error.to_string() })
            }
        }
    }
}

/// What a failed call says about the sandbox.
fn outcome_of(error: &ProviderError) -> ExecuteOutcome {
    match error {
        ProviderError::Gone { .. } => ExecuteOutcome::SandboxGone,
        // The sandbox answered: it is well.
        ProviderError::Rejected { .. } | ProviderError::NoSuchFile { .. } => {
            ExecuteOutcome::Completed
        }
        _ => ExecuteOutcome::Unreachable,
    }
}

fn span(duration: std::time::Duration) -> Span {
    Span::from_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}
