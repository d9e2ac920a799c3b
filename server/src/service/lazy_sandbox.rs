//! The sandbox of a turn, as whoever uses it sees it: not there until it is needed, and then
//! waited for only as long as is left.

use super::{Service, ServiceError};
use crate::engine::{Answered, Grant, Granted, Refused};
use crate::provider::ProviderError;
use sandpool_core::{
    ClassId, ConversationId, ExecuteId, ExecuteOutcome, ProviderId, Reason, Span, TurnId, Used,
    WhyRejected,
};
use std::future::Future;

/// What came of using a sandbox.
#[derive(Debug)]
pub(crate) struct InSandbox<T> {
    /// The turn it was in.
    pub(crate) turn: TurnId,
    /// The execute's number; none if it was never let go.
    pub(crate) execute: Option<ExecuteId>,
    /// How long the sandbox was waited for.
    pub(crate) waited: Span,
    /// How long it took.
    pub(crate) took: Span,
    /// Why files of earlier turns are gone, if it is told now, whatever the result.
    pub(crate) files_lost: Option<Reason>,
    /// What it gave.
    pub(crate) result: Result<T, Missing>,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// There was no sandbox to be had: a normal result.
    Unavailable { reason: Reason, retry_after: Option<Span> },
    /// The sandbox died under it. Files are lost.
    Died,
    /// Nobody knows what came of it; the sandbox is kept.
    Unknown { detail: String },
    /// It was cut off: cancelled, or the turn or the conversation ended.
    CutOff { reason: Reason },
    /// The provider turned the request itself down.
    Rejected { detail: String },
    /// The sandbox has no such file.
    NoSuchFile { path: String },
}

/// The sandbox of a turn.
pub(super) struct LazySandbox<'a> {
    pub(super) service: &'a Service,
    pub(super) conversation: ConversationId,
    /// In which turn; none: in the open one, or in one of its own that ends with it.
    pub(super) turn: Option<TurnId>,
    /// The class of a turn of its own.
    pub(super) class: ClassId,
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
    ) -> Result<InSandbox<T>, ServiceError>
    where
        F: Future<Output = Result<T, ProviderError>>,
    {
        let (granted, own_turn) = self.acquire().await?;
        let done = match granted {
            Granted::Unavailable(why) => InSandbox {
                turn: why.turn,
                execute: None,
                waited: why.waited,
                took: Span::ZERO,
                files_lost: None,
                result: Err(Missing::Unavailable {
                    reason: why.reason,
                    retry_after: why.retry_after,
                }),
            },
            Granted::Go(grant) => self.use_it(grant, work, tell).await,
        };
        if let Some(turn) = own_turn {
            let engine = &self.service.engine;
            // It may have timed out or been closed meanwhile: then it has ended already.
            let _ = engine.end_turn(self.conversation, turn, true, Answered::AtOnce).await?;
        }
        Ok(done)
    }

    /// Asks for the sandbox; where no turn is open, in one of its own, which is given too.
    async fn acquire(&self) -> Result<(Granted, Option<TurnId>), ServiceError> {
        let (engine, conversation) = (&self.service.engine, self.conversation);
        match engine.acquire(conversation, self.turn, self.patience).await? {
            Err(Refused(WhyRejected::NoSuchTurn)) if self.turn.is_none() => {}
            granted => return Ok((granted?, None)),
        }
        let turn = engine.begin_turn(conversation, self.class, Some(100)).await??;
        match engine.acquire(conversation, Some(turn), self.patience).await? {
            Ok(granted) => Ok((granted, Some(turn))),
            Err(refused) => {
                let _ = engine.end_turn(conversation, turn, true, Answered::AtOnce).await?;
                Err(refused.into())
            }
        }
    }

    async fn use_it<T, F>(
        &self,
        mut grant: Grant,
        work: impl FnOnce(ProviderId) -> F,
        tell: impl FnOnce(&T) -> (ExecuteOutcome, Used, String),
    ) -> InSandbox<T>
    where
        F: Future<Output = Result<T, ProviderError>>,
    {
        let (execute, waited) = (grant.execute, grant.waited);
        tracing::debug!(sandbox = %grant.name, waited_seconds = waited.as_secs_f64(), "a sandbox is used");
        let began = tokio::time::Instant::now();
        let result = tokio::select! {
            result = work(grant.provider) => {
                let took = span(began.elapsed());
                (took, self.finish(execute, result, tell).await)
            }
            reason = &mut grant.cut_off => (span(began.elapsed()), Err(cut_off(reason.ok()))),
        };
        InSandbox {
            turn: grant.turn,
            execute: Some(execute),
            waited,
            took: result.0,
            files_lost: grant.files_lost,
            result: result.1,
        }
    }

    async fn finish<T>(
        &self,
        execute: ExecuteId,
        result: Result<T, ProviderError>,
        tell: impl FnOnce(&T) -> (ExecuteOutcome, Used, String),
    ) -> Result<T, Missing> {
        let (outcome, used, kept) = match &result {
            Ok(value) => tell(value),
            Err(error) => (outcome_of(error), Used::default(), "{}".to_owned()),
        };
        let engine = &self.service.engine;
        let finished =
            engine.finish(self.conversation, execute, outcome, used, kept, self.answered).await;
        // It has run: an engine that has ended meanwhile must not make that "nothing was done".
        let Ok(ended) = finished else {
            let detail = "the server ended before the result was safe".to_owned();
            return Err(Missing::Unknown { detail });
        };
        result.map_err(|error| match error {
            ProviderError::Rejected { detail } => Missing::Rejected { detail },
            ProviderError::NoSuchFile { path } => Missing::NoSuchFile { path },
            _ if ended == Reason::Died => Missing::Died,
            error => Missing::Unknown { detail: error.to_string() },
        })
    }
}

fn cut_off(reason: Option<Reason>) -> Missing {
    match reason {
        Some(Reason::Died) => Missing::Died,
        Some(reason) => Missing::CutOff { reason },
        None => Missing::Unknown { detail: "the server ended".to_owned() },
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
