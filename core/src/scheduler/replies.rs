//! The provider's replies, led to the rule they belong to.

use super::state::PendingOperation;
use super::{Phase, Scheduler};
use crate::event::{Actor, EventKind, Reason};
use crate::id::{OpId, SandboxId};
use crate::lifecycle::SandboxState;
use crate::provider::{Failure, FoundState, Reply, Verb};
use crate::time::Span;

impl Scheduler {
    pub(super) fn reply(&mut self, op: OpId, reply: Reply) {
        let Some(pending) = self.operations.remove(op) else {
            return self.tell(EventKind::LateReply, Reason::None, Actor::Provider, Span::ZERO);
        };
        // What was left is the next instance's: nothing that is learned of it now is acted upon.
        if self.phase == Phase::Drained && pending.verb != Verb::Destroy {
            if self.inventory == Some(op) {
                self.inventory = None;
            }
            return self.tell(EventKind::LateReply, Reason::None, Actor::Provider, Span::ZERO);
        }
        match pending.sandbox {
            None => self.inventory_reply(op, &pending, reply),
            Some(id) => self.sandbox_reply(op, &pending, id, reply),
        }
    }

    fn sandbox_reply(&mut self, op: OpId, pending: &PendingOperation, id: SandboxId, reply: Reply) {
        if self.sandboxes.get(id).is_none() {
            return self.tell(EventKind::LateReply, Reason::None, Actor::Provider, Span::ZERO);
        }
        if self.sandboxes[id].op == Some(op) {
            self.sandboxes[id].op = None;
        }
        let state = self.sandboxes[id].state;
        match pending.verb {
            Verb::Create => self.create_reply(id, state, reply),
            Verb::Prepare => match (state, reply) {
                (SandboxState::Preparing, Reply::Prepared) => self.ready(id),
                (SandboxState::Preparing, Reply::Gone) => self.died(id, Actor::Provider),
                (SandboxState::Preparing, Reply::Failed(failure)) => {
                    self.prepare_failed(id, failure)
                }
                (SandboxState::Preparing, _) => self.prepare_failed(id, Failure::Errored),
                _ => self.late(id),
            },
            Verb::Destroy => match (state, reply) {
                (SandboxState::Destroying, Reply::Destroyed) => self.destroyed(id),
                (SandboxState::Destroying, Reply::Failed(failure)) => {
                    self.destroy_failed(id, failure)
                }
                (SandboxState::Destroying, _) => self.destroy_failed(id, Failure::Lost),
                _ => self.late(id),
            },
            Verb::Find => match (state, reply) {
                (SandboxState::Limbo, Reply::Absent) => self.absent(id, pending.submitted_at),
                (SandboxState::Limbo, Reply::Found { provider, state }) => {
                    self.found(id, provider, state);
                }
                (SandboxState::Limbo, Reply::Failed(Failure::RateLimited { retry_after })) => {
                    self.look_again(id, retry_after);
                }
                (SandboxState::Limbo, _) => self.look_again(id, Span::ZERO),
                _ => self.late(id),
            },
            Verb::Probe => match reply {
                _ if !(state.is_leased() || state == SandboxState::Warm) => self.late(id),
                Reply::Alive { quiet } => self.alive(id, quiet),
                Reply::Gone => self.died(id, Actor::Provider),
                _ => self.no_verdict(id),
            },
            Verb::KeepAlive => {
                let failed = matches!(reply, Reply::Failed(_));
                self.keep_alive_over(id, failed);
                if reply == Reply::Gone {
                    self.died(id, Actor::Provider);
                }
            }
            // Labels are for people and for the next instance's convenience: the name decides.
            Verb::Relabel => {}
            Verb::FindAll => unreachable!("an inventory concerns no single sandbox"),
        }
    }

    fn create_reply(&mut self, id: SandboxId, state: SandboxState, reply: Reply) {
        match (state, reply) {
            (SandboxState::Creating, Reply::Created { provider }) => self.created(id, provider),
            (SandboxState::Creating, Reply::Failed(failure)) => self.create_failed(id, failure),
            (SandboxState::Creating, _) => self.create_failed(id, Failure::Lost),
            (SandboxState::Limbo, Reply::Created { provider }) => {
                self.found(id, provider, FoundState::Running);
            }
            (SandboxState::Limbo, Reply::Failed(Failure::RateLimited { retry_after })) => {
                // Too late to tell whether the sandbox exists, but not too late to heed.
                self.pause_creates(retry_after);
                self.late(id);
            }
            // A late answer that nothing was created is not believed on its own: the look-up by
            // name decides. Any other late answer changes nothing.
            _ => self.late(id),
        }
    }

    fn late(&mut self, id: SandboxId) {
        self.tell_sandbox(
            EventKind::LateReply,
            Reason::None,
            Actor::Provider,
            id,
            None,
            Span::ZERO,
        );
    }

    /// No answer in time. The call may have been carried out.
    pub(super) fn operation_took_too_long(&mut self, op: OpId) {
        let Some(pending) = self.operations.remove(op) else { return };
        match pending.sandbox {
            None => self.inventory_reply(op, &pending, Reply::Failed(Failure::Lost)),
            Some(id) => self.sandbox_reply(op, &pending, id, Reply::Failed(Failure::Lost)),
        }
    }
}
