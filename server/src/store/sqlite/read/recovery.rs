//! What a server needs to go on after a restart.

use super::accounts::accounts;
use super::conversations::key;
use super::{rows, unknown};
use crate::store::StoreError;
use crate::store::sqlite::counters::Counters;
use crate::store::types::{
    Intent, OpenConversation, OpenExecute, OpenRequest, OpenTurn, Recovery, SandboxRef,
};
use rusqlite::Connection;
use sandpool_core::{Reason, SandboxName, SandboxState, Verb};

pub(in crate::store::sqlite) fn recovery(connection: &Connection) -> Result<Recovery, StoreError> {
    let counters = Counters::load(connection)?;
    Ok(Recovery {
        epoch: counters.epoch,
        last_conversation: counters.last_conversation,
        last_event: counters.last_event,
        last_journal: counters.last_journal,
        accounts: accounts(connection)?,
        conversations: open_conversations(connection)?,
        turns: rows(
            connection,
            "SELECT conversation, turn, class, began_ms FROM turns WHERE ended_ms IS NULL \
             ORDER BY conversation",
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
        executes: rows(
            connection,
            "SELECT conversation, execute, turn, started_ms FROM executes \
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
        sandboxes: sandboxes(connection)?,
        intents: intents(connection)?,
        requests: rows(
            connection,
            "SELECT account, key FROM idempotency WHERE status IS NULL ORDER BY account, key",
            [],
            |row| Ok(OpenRequest { account: row.get(0)?, key: row.get(1)? }),
        )?,
    })
}

fn open_conversations(connection: &Connection) -> Result<Vec<OpenConversation>, StoreError> {
    rows(
        connection,
        "SELECT number, key, account, last_message, last_event, last_turn, last_execute, files_lost \
         FROM conversations WHERE closed_ms IS NULL ORDER BY number",
        [],
        |row| {
            Ok(OpenConversation {
                number: row.get(0)?,
                key: key(row, 1)?,
                account: row.get(2)?,
                last_message: row.get(3)?,
                last_event: row.get(4)?,
                last_turn: row.get(5)?,
                last_execute: row.get(6)?,
                files_lost: reason(row.get(7)?)?,
            })
        },
    )
}

fn reason(kept: Option<String>) -> rusqlite::Result<Option<Reason>> {
    let known = |name: String| {
        Reason::ALL
            .iter()
            .copied()
            .find(|reason| reason.name() == name)
            .ok_or_else(|| unknown(7, &name))
    };
    kept.map(known).transpose()
}

fn sandboxes(connection: &Connection) -> Result<Vec<SandboxRef>, StoreError> {
    rows(
        connection,
        "SELECT epoch, sequence, class, provider_id, conversation, state, at_ms FROM sandboxes \
         ORDER BY epoch, sequence",
        [],
        |row| {
            let state: String = row.get(5)?;
            Ok(SandboxRef {
                name: SandboxName { epoch: row.get(0)?, sequence: row.get(1)? },
                class: row.get(2)?,
                provider_id: row.get(3)?,
                conversation: row.get(4)?,
                state: SandboxState::ALL
                    .into_iter()
                    .find(|known| known.name() == state)
                    .ok_or_else(|| unknown(5, &state))?,
                at_ms: row.get(6)?,
            })
        },
    )
}

fn intents(connection: &Connection) -> Result<Vec<Intent>, StoreError> {
    rows(
        connection,
        "SELECT epoch, operation, verb, sandbox_epoch, sandbox_sequence, at_ms FROM intents \
         ORDER BY epoch, operation",
        [],
        |row| {
            let verb: String = row.get(2)?;
            Ok(Intent {
                epoch: row.get(0)?,
                operation: row.get(1)?,
                verb: Verb::ALL
                    .into_iter()
                    .find(|known| known.name() == verb)
                    .ok_or_else(|| unknown(2, &verb))?,
                sandbox: SandboxName { epoch: row.get(3)?, sequence: row.get(4)? },
                at_ms: row.get(5)?,
            })
        },
    )
}
