//! Which inputs make no sense, and why; what the others amount to before anything follows.

use super::{Checked, Conversation, Execute, Naive, Phase, Progress, ensure};
use sandpool_core::{
    ClassId, Config, ConversationId, ExecuteOutcome, Failure, Id, Input, Operation, Reply, Span,
    Verb, WhyRejected,
};

impl Naive {
    /// Every reason for which the input makes no sense; empty if it makes sense.
    pub(crate) fn why_rejected(&self, input: &Input) -> Vec<WhyRejected> {
        let mut why = Vec::new();
        let mut says = |condition: bool, reason: WhyRejected| {
            if condition {
                why.push(reason);
            }
        };
        let classes = self.config.classes.len();
        match input {
            Input::OpenConversation { conversation, .. } => says(
                self.conversations.iter().any(|other| other.id.index() == conversation.index()),
                WhyRejected::ConversationExists,
            ),
            Input::CloseConversation { conversation, cancel } => {
                match self.conversation(*conversation) {
                    None => says(true, WhyRejected::UnknownConversation),
                    Some(it) => {
                        says(it.execute.is_some() && !cancel, WhyRejected::ExecuteInProgress)
                    }
                }
            }
            Input::BeginTurn { conversation, turn, class, .. } => {
                says(usize::from(class.0) >= classes, WhyRejected::UnknownClass);
                match self.conversation(*conversation) {
                    None => says(true, WhyRejected::UnknownConversation),
                    Some(it) => {
                        says(it.turn.is_some(), WhyRejected::TurnOpen);
                        says(turn.0 <= it.last_turn, WhyRejected::NumberNotIncreasing);
                    }
                }
            }
            Input::EndTurn { conversation, turn, cancel } => {
                match self.conversation(*conversation) {
                    None => says(true, WhyRejected::UnknownConversation),
                    Some(it) if it.turn.as_ref().is_none_or(|open| open.id != *turn) => {
                        says(true, WhyRejected::NoSuchTurn);
                    }
                    Some(it) => {
                        says(it.execute.is_some() && !cancel, WhyRejected::ExecuteInProgress)
                    }
                }
            }
            Input::StartExecute { conversation, turn, execute, .. } => {
                match self.conversation(*conversation) {
                    None => says(true, WhyRejected::UnknownConversation),
                    Some(it) => {
                        says(
                            it.turn.as_ref().is_none_or(|open| open.id != *turn),
                            WhyRejected::NoSuchTurn,
                        );
                        says(it.execute.is_some(), WhyRejected::ExecuteInProgress);
                        says(execute.0 <= it.last_execute, WhyRejected::NumberNotIncreasing);
                    }
                }
            }
            Input::FinishExecute { conversation, execute, .. } => {
                match self.conversation(*conversation) {
                    None => says(true, WhyRejected::UnknownConversation),
                    Some(it) => says(
                        it.execute.as_ref().is_none_or(|running| {
                            running.id != *execute || running.progress == Progress::Waiting
                        }),
                        WhyRejected::NoSuchExecute,
                    ),
                }
            }
            Input::CancelExecute { conversation, execute } => {
                match self.conversation(*conversation) {
                    None => says(true, WhyRejected::UnknownConversation),
                    Some(it) => says(
                        it.execute.as_ref().is_none_or(|running| running.id != *execute),
                        WhyRejected::NoSuchExecute,
                    ),
                }
            }
            Input::Restore { conversation, class, .. } => {
                says(self.told_recovered, WhyRejected::RecoveryOver);
                says(usize::from(class.0) >= classes, WhyRejected::UnknownClass);
                match self.conversation(*conversation) {
                    None => says(true, WhyRejected::UnknownConversation),
                    Some(it) => {
                        says(
                            self.restored.iter().any(|&(owner, _)| owner == it.id),
                            WhyRejected::SandboxBound,
                        );
                    }
                }
            }
            Input::FilesLost { conversation, .. } => {
                says(self.told_recovered, WhyRejected::RecoveryOver);
                says(self.conversation(*conversation).is_none(), WhyRejected::UnknownConversation);
            }
            Input::Recovered => says(self.told_recovered, WhyRejected::RecoveryOver),
            Input::Reconfigure(config) => {
                says(self.is_bad_config(config), WhyRejected::BadConfig);
            }
            Input::Reply { .. } | Input::Drain { .. } | Input::Reconcile => {}
        }
        why
    }

    /// Whether the design leaves open if the input makes sense: an execute in doubt is reported to be
    /// in doubt once more.
    pub(crate) fn may_be_rejected(&self, input: &Input) -> bool {
        let Input::FinishExecute { conversation, outcome, .. } = input else { return false };
        *outcome == ExecuteOutcome::Unreachable
            && self.conversation(*conversation).is_some_and(|it| {
                let progress = it.execute.as_ref().map(|execute| execute.progress);
                progress == Some(Progress::Unresolved)
            })
    }

    fn is_bad_config(&self, config: &Config) -> bool {
        let names = |config: &Config| -> Vec<String> {
            config.classes.iter().map(|class| class.name.clone()).collect()
        };
        !config.conflicts().is_empty()
            || config.classes.len() > 64
            || !names(config).starts_with(&names(&self.config))
    }

    /// Takes note of an accepted input, before its outputs are looked at.
    pub(crate) fn accept(&mut self, input: &Input, asked: Option<Operation>) -> Checked {
        let now = self.now;
        match input {
            Input::OpenConversation { conversation, account } => {
                self.conversations.push(Conversation {
                    id: *conversation,
                    account: *account,
                    turn: None,
                    wants: ClassId(0),
                    last_turn: 0,
                    execute: None,
                    last_execute: 0,
                });
            }
            Input::BeginTurn { conversation, class, .. } => {
                self.expect(*conversation)?.wants = *class;
            }
            Input::StartExecute { conversation, execute, patience, .. } => {
                let configured = self.config.sandbox_wait;
                let it = self.expect(*conversation)?;
                it.last_execute = execute.0;
                it.execute = Some(Execute {
                    id: *execute,
                    progress: Progress::Waiting,
                    asked_at: now,
                    busy_at: now,
                    patience: patience.unwrap_or(configured),
                });
                if let Some(turn) = &mut it.turn {
                    turn.active_at = now;
                }
            }
            Input::FinishExecute { conversation, outcome: ExecuteOutcome::Unreachable, .. } => {
                if let Some(execute) = &mut self.expect(*conversation)?.execute {
                    execute.progress = Progress::Unresolved;
                }
            }
            Input::CancelExecute { conversation, .. }
            | Input::CloseConversation { conversation, cancel: true }
            | Input::EndTurn { conversation, cancel: true, .. } => {
                self.cancelled.push(*conversation);
            }
            Input::Reply { reply: Reply::Failed(Failure::RateLimited { retry_after }), .. }
                if asked.is_some_and(|operation| operation.verb == Verb::Create) =>
            {
                self.paused_until = self.paused_until.max(now.plus(*retry_after));
                let longest = self.config.retry_max.max(*retry_after);
                self.may_pause_until = self.may_pause_until.max(now.plus(longest));
            }
            Input::Restore { conversation, sandbox, .. } => {
                self.restored.push((*conversation, *sandbox));
            }
            Input::Reply { reply: Reply::Failed(Failure::Full { .. }), .. }
                if asked.is_some_and(|operation| operation.verb == Verb::Create) =>
            {
                let longest = now.plus(self.config.retry_max);
                self.may_pause_until = self.may_pause_until.max(longest);
            }
            Input::Recovered => self.told_recovered = true,
            Input::Reconfigure(config) => {
                let earlier = std::mem::replace(&mut self.config, (**config).clone());
                self.earlier_configs.push(earlier);
                self.warm_targets.resize(self.config.classes.len(), 0);
            }
            // A second call may take back the wish to leave the sandboxes, not make it.
            Input::Drain { leave_sandboxes } if self.phase != Phase::Drained => {
                let first = self.phase != Phase::Draining;
                self.leaves_sandboxes = *leave_sandboxes && (first || self.leaves_sandboxes);
                self.phase = Phase::Draining;
            }
            _ => {}
        }
        Ok(())
    }

    fn expect(&mut self, id: ConversationId) -> Result<&mut Conversation, String> {
        self.conversation_mut(id).ok_or(format!("conversation {id} is not open"))
    }

    /// Takes note that an input was rejected.
    pub(crate) fn check_rejection(
        &self,
        input: &Input,
        expected: &[WhyRejected],
        said: &[WhyRejected],
        other_outputs: usize,
    ) -> Checked {
        if self.may_be_rejected(input) {
            return Ok(());
        }
        ensure!(
            expected.is_empty() == said.is_empty(),
            "{input:?} should be rejected for one of {expected:?}, was for {said:?}"
        );
        if let Some(why) = said.first() {
            ensure!(
                expected.contains(why),
                "{input:?} was rejected for {why:?}, right would be {expected:?}"
            );
            ensure!(
                said.len() == 1 && other_outputs == 0,
                "the rejected {input:?} changed something ({other_outputs} other outputs)"
            );
        }
        Ok(())
    }
}

/// Whether the span is too long to be reached.
pub(crate) fn is_for_ever(span: Span) -> bool {
    span >= Span::from_secs(1 << 30)
}
