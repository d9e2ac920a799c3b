//! All that a server needs to go on after a restart. Each list comes from an index that holds
//! only what is open, so that the call takes as long as there is work, not history.

use super::super::counters::Counters;
use super::{all, word};
use crate::store::{
    Account, ConversationKey, Intent, OpenConversation, OpenExecute, OpenRequest, OpenTurn,
    Recovery, SandboxRef, StoreError,
};
use rusqlite::{Connection, Row};
use sandpool_core::{SandboxName, SandboxState, Verb};

pub(in super::super) fn recovery(connection: &Connection) -> Result<Recovery, StoreError> {
    let counters = Counters::load(connection)?;
    Ok(Recovery {
        epoch: counters.epoch,
        last_conversation: counters.last_conversation,
        last_event: counters.last_event,
        last_journal: counters.last_journal,
        accounts: all(
            connection,
            "SELECT number, name, added_ms FROM accounts ORDER BY number",
            [],
            |row| Ok(Account { number: row.get(0)?, name: row.get(1)?, added_ms: row.get(2)? }),
        )?,
        conversations: all(
            connection,
            "SELECT number, key, account, last_message, last_event, last_turn, last_execute
             FROM conversations WHERE closed_ms IS NULL ORDER BY number",
            [],
            open_conversation,
        )?,
        turns: all(
            connection,
            "SELECT conversation, turn, class, began_ms FROM turns
             WHERE ended_ms IS NULL ORDER BY conversation",
            [],
            |row| {
                Ok(OpenTurn {
                    conversation: row.get(0)?,
                    turn: row.get(1)?,
                    class: row.get(2)?,
                    began_ms: row.get(3)?,
                })
            },
        )?,
        executes: all(
            connection,
            "SELECT conversation, execute, turn, started_ms FROM executes
             WHERE finished_ms IS NULL ORDER BY conversation, execute",
            [],
            |row| {
                Ok(OpenExecute {
                    conversation: row.get(0)?,
                    execute: row.get(1)?,
                    turn: row.get(2)?,
                    started_ms: row.get(3)?,
                })
            },
        )?,
        sandboxes: all(
            connection,
            "SELECT epoch, sequence, class, provider_id, conversation, state, at_ms
             FROM sandboxes ORDER BY epoch, sequence",
            [],
            sandbox,
        )?,
        intents: all(
            connection,
            "SELECT epoch, operation, verb, sandbox_epoch, sandbox_sequence, at_ms
             FROM intents ORDER BY epoch, operation",
            [],
            intent,
        )?,
        requests: all(
            connection,
            "SELECT account, key FROM idempotency WHERE status IS NULL ORDER BY account, key",
            [],
            |row| Ok(OpenRequest { account: row.get(0)?, key: row.get(1)? }),
        )?,
    })
}

fn open_conversation(row: &Row<'_>) -> rusqlite::Result<OpenConversation> {
    Ok(OpenConversation {
        number: row.get(0)?,
        key: word(row, 1, ConversationKey::parse)?,
        account: row.get(2)?,
        last_message: row.get(3)?,
        last_event: row.get(4)?,
        last_turn: row.get(5)?,
        last_execute: row.get(6)?,
    })
}

fn sandbox(row: &Row<'_>) -> rusqlite::Result<SandboxRef> {
    Ok(SandboxRef {
        name: SandboxName { epoch: row.get(0)?, sequence: row.get(1)? },
        class: row.get(2)?,
        provider_id: row.get(3)?,
        conversation: row.get(4)?,
        state: word(row, 5, |text| SandboxState::ALL.into_iter().find(|it| it.name() == text))?,
        at_ms: row.get(6)?,
    })
}

fn intent(row: &Row<'_>) -> rusqlite::Result<Intent> {
    Ok(Intent {
        epoch: row.get(0)?,
        operation: row.get(1)?,
        verb: word(row, 2, |text| Verb::ALL.into_iter().find(|it| it.name() == text))?,
        sandbox: SandboxName { epoch: row.get(3)?, sequence: row.get(4)? },
        at_ms: row.get(5)?,
    })
}
