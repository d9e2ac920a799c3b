//! Reconcile: the provider's inventory against the ledger. A list is never trusted alone: a
//! sandbox that it misses is probed after two complete lists, one that it has too many is removed
//! after a grace.

use super::state::PendingOperation;
use super::timers::Timer;
use super::{Phase, Scheduler};
use crate::event::{Actor, EventKind, Reason};
use crate::id::{OpId, ProviderId, SandboxId};
use crate::lifecycle::SandboxState;
use crate::provider::{FoundState, Inventory, InventoryItem, Reply, SandboxName};
use crate::time::{Span, Time};
use std::collections::BTreeMap;

/// Complete inventories in a row that must miss a sandbox before it is probed.
const MISSES_BEFORE_PROBE: u32 = 2;

impl Scheduler {
    /// Sets the one instant at which inventories are compared next.
    pub(super) fn reconcile_next_at(&mut self, at: Time) {
        self.reconcile_at = at;
        self.timers.set(at, Timer::Reconcile);
    }

    pub(super) fn reconcile_is_due(&mut self) {
        // Whatever the settings say, time passes between two of them.
        let pause = self.config.reconcile.max(Span::from_millis(1));
        self.reconcile_next_at(self.now.plus(pause));
        if self.inventory.is_none() && !matches!(self.phase, Phase::Restoring | Phase::Drained) {
            self.submit_find_all();
        }
        if self.warm_target_moves() {
            self.dirty = true;
        }
    }

    pub(super) fn inventory_reply(&mut self, op: OpId, pending: &PendingOperation, reply: Reply) {
        if self.inventory != Some(op) {
            return;
        }
        self.inventory = None;
        match (self.phase, reply) {
            (Phase::Recovering, Reply::Inventory(inventory)) if inventory.complete => {
                self.recover_from(&inventory);
            }
            (Phase::Recovering, _) => self.recovery_failed(),
            (_, Reply::Inventory(inventory)) => self.compare(&inventory, pending.submitted_at),
            _ => {}
        }
    }

    /// Our own sandboxes by name, as far as they may exist.
    pub(super) fn by_name(&self) -> BTreeMap<SandboxName, SandboxId> {
        self.sandboxes.iter().map(|(id, sandbox)| (sandbox.name, id)).collect()
    }

    fn by_provider(&self) -> BTreeMap<ProviderId, SandboxId> {
        self.sandboxes.iter().filter_map(|(id, sandbox)| Some((sandbox.provider?, id))).collect()
    }

    fn compare(&mut self, inventory: &Inventory, asked_at: Time) {
        let (by_name, by_provider) = (self.by_name(), self.by_provider());
        let mut seen: BTreeMap<SandboxId, FoundState> = BTreeMap::new();
        let mut unknown: Vec<InventoryItem> = Vec::new();
        for item in &inventory.items {
            let known = by_provider
                .get(&item.provider)
                .or_else(|| item.name.as_ref().and_then(|name| by_name.get(name)));
            match known {
                Some(&id) => {
                    seen.insert(id, item.state);
                    if self.sandboxes[id].state == SandboxState::Limbo {
                        self.found(id, item.provider, item.state);
                    }
                }
                None => unknown.push(*item),
            }
        }
        self.look_at_unknown(&unknown, inventory.complete);
        if inventory.complete {
            let ids: Vec<_> = self.sandboxes.iter().map(|(id, _)| id).collect();
            for id in ids {
                self.look_at_known(id, seen.get(&id).copied(), asked_at);
            }
        }
        self.tell(EventKind::Reconciled, Reason::None, Actor::Scheduler, Span::ZERO);
    }

    /// Sandboxes labelled ours that the ledger does not have.
    fn look_at_unknown(&mut self, unknown: &[InventoryItem], complete: bool) {
        let now = self.now;
        for item in unknown {
            let first_seen = *self.sightings.entry(item.provider).or_insert(now);
            // One on its way out was most likely just confirmed gone, and the list is late; one that
            // stays hangs, and nobody else follows it.
            let grace = match item.state {
                FoundState::Destroying => {
                    self.config.orphan_grace.max(self.config.operation_timeout)
                }
                _ => self.config.orphan_grace,
            };
            if now.since(first_seen) >= grace {
                self.sightings.remove(&item.provider);
                self.tell(
                    EventKind::DriftDetected,
                    Reason::UnknownAtProvider,
                    Actor::Provider,
                    Span::ZERO,
                );
                self.remove_orphan(item, Reason::Orphan);
            }
        }
        if complete {
            let listed: std::collections::BTreeSet<_> =
                unknown.iter().map(|item| item.provider).collect();
            self.sightings.retain(|provider, _| listed.contains(provider));
        }
    }

    /// Puts a sandbox that nobody owns on the books, so that its capacity counts, and deletes it.
    pub(super) fn remove_orphan(&mut self, item: &InventoryItem, reason: Reason) {
        let class = if usize::from(item.class.0) < self.classes.len() {
            item.class
        } else {
            crate::id::ClassId(0)
        };
        let mut sandbox = self.blank_sandbox(class);
        sandbox.provider = Some(item.provider);
        sandbox.orphan = true;
        if let Some(name) = item.name {
            sandbox.name = name;
        }
        let id = self.sandboxes.insert_with(|_| sandbox);
        self.take_resources(id);
        self.tell_sandbox(EventKind::OrphanFound, reason, Actor::Provider, id, None, Span::ZERO);
        self.destroy(id, reason, Actor::Scheduler);
    }

    /// One of ours, against a complete list.
    fn look_at_known(&mut self, id: SandboxId, seen: Option<FoundState>, asked_at: Time) {
        let Some(sandbox) = self.sandboxes.get_mut(id) else { return };
        let expected = sandbox.state.is_leased() || sandbox.state == SandboxState::Warm;
        // One that became ready only after the list was asked for may rightly be missing.
        if !expected || sandbox.ready_at > asked_at {
            return;
        }
        if seen == Some(FoundState::Running) || seen == Some(FoundState::Starting) {
            sandbox.missed = 0;
            return;
        }
        sandbox.missed += 1;
        if sandbox.missed < MISSES_BEFORE_PROBE {
            return;
        }
        sandbox.missed = 0;
        self.tell_sandbox(
            EventKind::DriftDetected,
            Reason::MissingAtProvider,
            Actor::Provider,
            id,
            None,
            Span::ZERO,
        );
        self.probe(id);
    }
}
