//! Sandbox references and intents.

use super::Writing;
use crate::store::StoreError;
use crate::store::types::{Intent, SandboxRef};
use rusqlite::params;
use sandpool_core::{SandboxName, SandboxState};

pub(super) fn put(c: &Writing<'_>, sandbox: &SandboxRef) -> Result<(), StoreError> {
    if sandbox.state == SandboxState::Deleted {
        let what = "a deleted sandbox is removed, not kept".to_owned();
        return Err(StoreError::Invalid { what });
    }
    if let Some(conversation) = sandbox.conversation {
        let there = "SELECT 1 FROM conversations WHERE number = ?1";
        if c.number(there, [conversation])?.is_none() {
            return Err(StoreError::NotFound);
        }
    }
    c.run_unless(
        StoreError::Conflict { what: "the conversation has another sandbox" },
        "INSERT INTO sandboxes \
         (epoch, sequence, class, provider_id, conversation, state, at_ms) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
         ON CONFLICT (epoch, sequence) DO UPDATE SET class = excluded.class, \
         provider_id = excluded.provider_id, conversation = excluded.conversation, \
         state = excluded.state, at_ms = excluded.at_ms",
        params![
            sandbox.name.epoch,
            sandbox.name.sequence,
            sandbox.class,
            sandbox.provider_id,
            sandbox.conversation,
            sandbox.state.name(),
            sandbox.at_ms
        ],
    )?;
    Ok(())
}

pub(super) fn remove(c: &Writing<'_>, name: SandboxName) -> Result<(), StoreError> {
    c.remove(
        "DELETE FROM sandboxes WHERE epoch = ?1 AND sequence = ?2",
        params![name.epoch, name.sequence],
    )
}

pub(super) fn add_intent(c: &Writing<'_>, intent: &Intent) -> Result<(), StoreError> {
    c.run_unless(
        StoreError::Exists { what: "the intent" },
        "INSERT INTO intents \
         (epoch, operation, verb, sandbox_epoch, sandbox_sequence, at_ms) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            intent.epoch,
            intent.operation,
            intent.verb.name(),
            intent.sandbox.epoch,
            intent.sandbox.sequence,
            intent.at_ms
        ],
    )?;
    Ok(())
}

pub(super) fn resolve_intent(
    c: &Writing<'_>,
    epoch: u32,
    operation: u64,
) -> Result<(), StoreError> {
    c.remove("DELETE FROM intents WHERE epoch = ?1 AND operation = ?2", params![epoch, operation])
}
