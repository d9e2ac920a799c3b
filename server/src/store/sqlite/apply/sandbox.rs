//! Sandbox references: one a conversation.

use super::{change, holds};
use crate::store::{SandboxRef, StoreError};
use rusqlite::{Connection, params};
use sandpool_core::{SandboxName, SandboxState};

pub(super) fn put(connection: &Connection, sandbox: &SandboxRef) -> Result<(), StoreError> {
    if sandbox.state == SandboxState::Deleted {
        let what = "a deleted sandbox is removed, not kept".to_owned();
        return Err(StoreError::Invalid { what });
    }
    let SandboxName { epoch, sequence } = sandbox.name;
    if let Some(conversation) = sandbox.conversation {
        let there = "SELECT 1 FROM conversations WHERE number = ?1";
        if !holds(connection, there, params![conversation])? {
            return Err(StoreError::NotFound);
        }
        let other = "SELECT 1 FROM sandboxes
                     WHERE conversation = ?1 AND (epoch, sequence) <> (?2, ?3)";
        if holds(connection, other, params![conversation, epoch, sequence])? {
            return Err(StoreError::Conflict { what: "the conversation has another sandbox" });
        }
    }
    let sql = "INSERT INTO sandboxes
                   (epoch, sequence, class, provider_id, conversation, state, at_ms)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
               ON CONFLICT (epoch, sequence) DO UPDATE SET
                   class = excluded.class, provider_id = excluded.provider_id,
                   conversation = excluded.conversation, state = excluded.state,
                   at_ms = excluded.at_ms";
    let row = params![
        epoch,
        sequence,
        sandbox.class,
        sandbox.provider_id,
        sandbox.conversation,
        sandbox.state.name(),
        sandbox.at_ms
    ];
    change(connection, sql, row).map(|_| ())
}

pub(super) fn remove(connection: &Connection, name: SandboxName) -> Result<(), StoreError> {
    let sql = "DELETE FROM sandboxes WHERE epoch = ?1 AND sequence = ?2";
    change(connection, sql, params![name.epoch, name.sequence]).map(|_| ())
}
