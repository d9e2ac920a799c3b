//! Who waits for a sandbox, who uses one, and what they are told.

use super::command::Refused;
use sandpool_core::{ConversationId, ExecuteId, Id, ProviderId, Reason, SandboxName, Span, TurnId};
use tokio::sync::oneshot;

/// The answer to a request for a sandbox.
#[derive(Debug)]
pub(crate) enum Granted {
    /// Here it is.
    Go(Grant),
    /// There is none: a normal result, that an agent can read.
    Unavailable(Unavailable),
}

/// Leave to run one thing in the conversation's sandbox. Must be followed by
/// [`super::Engine::finish`].
#[derive(Debug)]
pub(crate) struct Grant {
    /// The turn it belongs to.
    pub(crate) turn: TurnId,
    /// The execute's number, unique within the conversation.
    pub(crate) execute: ExecuteId,
    /// The sandbox's name.
    pub(crate) name: SandboxName,
    /// The provider's own id of it.
    pub(crate) provider: ProviderId,
    /// How long it was waited for.
    pub(crate) waited: Span,
    /// Why the conversation's files are not there any more, if that is told with this execute.
    pub(crate) files_lost: Option<Reason>,
    /// Resolves when the execute is over without having been finished: cancelled, or its sandbox
    /// is gone.
    pub(crate) cut_off: oneshot::Receiver<Reason>,
}

/// Why there is no sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unavailable {
    /// The turn in which it was asked for.
    pub(crate) turn: TurnId,
    /// Why.
    pub(crate) reason: Reason,
    /// How long it was waited for.
    pub(crate) waited: Span,
    /// When asking again makes sense, as far as can be told.
    pub(crate) retry_after: Option<Span>,
}

/// When an answer is given: what it costs to wait for the disk is a caller's to decide where nothing
/// but a record of what has happened is at stake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// At once. What it says is written some hundredths of a second later at the latest, and a kill
    /// in between leaves the end unknown: the next instance says so.
    AtOnce,
    /// When no kill can undo it any more.
    WhenSafe,
}

/// Where an execute is.
#[derive(Debug)]
pub(super) enum UnderWay {
    Waiting {
        execute: ExecuteId,
        answer: oneshot::Sender<Result<Granted, Refused>>,
    },
    Running {
        execute: ExecuteId,
        cut_off: oneshot::Sender<Reason>,
    },
    /// Finished, and perhaps in doubt: its sandbox is being probed.
    Ending {
        execute: ExecuteId,
        result: String,
        answered: Answered,
        answer: oneshot::Sender<Reason>,
    },
}

/// The executes under way, by conversation: at most one each.
#[derive(Debug, Default)]
pub(super) struct UnderWays {
    by_conversation: Vec<Option<(ConversationId, UnderWay)>>,
}

impl UnderWays {
    pub(super) fn set(&mut self, id: ConversationId, under_way: UnderWay) {
        if self.by_conversation.len() <= id.index() {
            self.by_conversation.resize_with(id.index() + 1, || None);
        }
        self.by_conversation[id.index()] = Some((id, under_way));
    }

    /// Whether the conversation has an execute under way.
    pub(super) fn is_busy(&self, id: ConversationId) -> bool {
        self.by_conversation
            .get(id.index())
            .is_some_and(|entry| entry.as_ref().is_some_and(|&(owner, _)| owner == id))
    }

    /// Takes the execute under way if it is this one.
    pub(super) fn take(&mut self, id: ConversationId, execute: ExecuteId) -> Option<UnderWay> {
        let entry = self.by_conversation.get_mut(id.index())?;
        let (owner, under_way) = entry.as_ref()?;
        let number = match under_way {
            UnderWay::Waiting { execute, .. }
            | UnderWay::Running { execute, .. }
            | UnderWay::Ending { execute, .. } => *execute,
        };
        if *owner != id || number != execute {
            return None;
        }
        entry.take().map(|(_, under_way)| under_way)
    }
}
