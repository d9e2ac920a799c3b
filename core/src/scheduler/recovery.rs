//! After a restart: nothing is created before everything that bears this pool's label is known.

use super::{Phase, Scheduler};
use crate::config::Recovery;
use crate::event::{Actor, EventKind, Reason};
use crate::id::{ClassId, ConversationId, ExecuteId, ProviderId, SandboxId, TurnId};
use crate::lifecycle::SandboxState;
use crate::output::WhyRejected;
use crate::provider::{Inventory, SandboxName, Verb};
use crate::time::{Span, Time};
use std::collections::BTreeSet;

impl Scheduler {
    /// The store maps a sandbox of an earlier instance to an open conversation. It may exist, so
    /// it takes its resources now, whatever the provider's list will say.
    pub(super) fn restore(
        &mut self,
        conversation: ConversationId,
        name: SandboxName,
        provider: Option<ProviderId>,
        class: ClassId,
        unresolved: bool,
    ) {
        let why = if self.phase != Phase::Restoring {
            Some(WhyRejected::RecoveryOver)
        } else if usize::from(class.0) >= self.classes.len() {
            Some(WhyRejected::UnknownClass)
        } else {
            match self.conversation_ref(conversation) {
                None => Some(WhyRejected::UnknownConversation),
                Some(open) if open.turn.is_some() => Some(WhyRejected::TurnOpen),
                Some(open) if open.sandbox.is_some() => Some(WhyRejected::SandboxBound),
                // One sandbox belongs to one conversation, whatever the store says.
                Some(_) if self.restored.contains(&name) => Some(WhyRejected::SandboxBound),
                Some(_) => None,
            }
        };
        if let Some(why) = why {
            return self.reject_with(why, Some(conversation), TurnId(0), ExecuteId(0));
        }
        self.restored.insert(name);
        let mut sandbox = self.blank_sandbox(class);
        sandbox.name = name;
        sandbox.provider = provider;
        sandbox.used = true;
        sandbox.ready_at = self.now;
        let id = self.sandboxes.insert_with(|_| sandbox);
        self.take_resources(id);
        if self.config.recovery == Recovery::Destroy {
            self.known_conversation(conversation).lost = Some(Reason::Recovery);
            // Not yet: nothing is asked of the provider before the store is read.
            return;
        }
        self.sandboxes[id].conversation = Some(conversation);
        self.sandboxes[id].unresolved = unresolved;
        let open = self.known_conversation(conversation);
        open.sandbox = Some(id);
        let account = open.account;
        self.hold(account, class);
        let state = if unresolved { SandboxState::Busy } else { SandboxState::Idle };
        self.transition(id, state);
        self.tell_sandbox(
            EventKind::SandboxAdopted,
            Reason::Recovery,
            Actor::Scheduler,
            id,
            None,
            Span::ZERO,
        );
    }

    /// The store knows of files that were lost under an earlier instance and never told of.
    pub(super) fn files_lost(&mut self, conversation: ConversationId, reason: Reason) {
        let why = if self.phase != Phase::Restoring {
            Some(WhyRejected::RecoveryOver)
        } else if self.conversation_ref(conversation).is_none() {
            Some(WhyRejected::UnknownConversation)
        } else {
            None
        };
        match why {
            Some(why) => self.reject_with(why, Some(conversation), TurnId(0), ExecuteId(0)),
            None => self.known_conversation(conversation).lost = Some(reason),
        }
    }

    /// The store is read: ask for the inventory, and settle what was restored.
    pub(super) fn recovered(&mut self) {
        if self.phase != Phase::Restoring {
            return self.reject_with(WhyRejected::RecoveryOver, None, TurnId(0), ExecuteId(0));
        }
        self.phase = Phase::Recovering;
        self.restored = BTreeSet::new();
        let ids: Vec<SandboxId> = self.sandboxes.iter().map(|(id, _)| id).collect();
        for id in ids {
            match self.sandboxes[id].state {
                SandboxState::New => self.destroy(id, Reason::Recovery, Actor::Scheduler),
                SandboxState::Idle | SandboxState::Busy => {
                    self.watch_life(id);
                    let deadline = self.now.plus(self.config.operation_timeout);
                    self.submit(Verb::Relabel, id, deadline);
                    self.probe(id);
                    let turn = self.sandboxes[id]
                        .conversation
                        .and_then(|conversation| self.known_conversation(conversation).turn);
                    if self.sandboxes[id].state == SandboxState::Idle && turn.is_none() {
                        self.start_idling(id, true);
                    }
                }
                _ => {}
            }
        }
        self.submit_find_all();
    }

    pub(super) fn recovery_failed(&mut self) {
        // The next reconcile asks again; sooner if that is far away.
        let soon = self.now.plus(self.config.reconcile.min(self.config.retry_max));
        self.reconcile_next_at(soon);
    }

    /// The complete inventory: what is not on the books is an earlier instance's and goes.
    pub(super) fn recover_from(&mut self, inventory: &Inventory) {
        let by_name = self.by_name();
        let known: BTreeSet<_> =
            self.sandboxes.iter().filter_map(|(_, sandbox)| sandbox.provider).collect();
        for item in &inventory.items {
            let ours = known.contains(&item.provider)
                || item.name.is_some_and(|name| by_name.contains_key(&name));
            if let Some(&id) = item.name.as_ref().and_then(|name| by_name.get(name)) {
                self.sandboxes[id].provider.get_or_insert(item.provider);
            }
            // Also one that is on its way out: its delete may hang, and it takes its place meanwhile.
            if !ours {
                self.remove_orphan(item, Reason::Recovery);
            }
        }
        self.phase = Phase::Running;
        self.tell(EventKind::RecoveryEnded, Reason::None, Actor::Scheduler, Span::ZERO);
        self.dirty = true;
    }

    /// Whether the scheduler has begun its business.
    #[must_use]
    pub fn is_recovering(&self) -> bool {
        matches!(self.phase, Phase::Restoring | Phase::Recovering)
    }

    /// The instant before which nothing is known of the provider: for views.
    pub(super) fn recovery_blocks(&self) -> Option<Time> {
        self.is_recovering().then_some(self.now)
    }
}
