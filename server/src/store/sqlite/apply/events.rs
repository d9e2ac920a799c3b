//! Events and the journal of inputs.

use super::{Counters, Writing, follow};
use crate::store::StoreError;
use crate::store::types::{EventRecord, JournalLine};
use rusqlite::params;

pub(super) fn append(
    c: &Writing<'_>,
    counters: &mut Counters,
    event: &EventRecord,
) -> Result<(), StoreError> {
    follow(&mut counters.last_event, "event", event.sequence)?;
    if let Some((conversation, sequence)) = event.conversation {
        // Naming the account as well keeps one account's event out of another's conversation.
        c.one(
            "UPDATE conversations SET last_event = ?3 \
             WHERE number = ?1 AND account = ?2 AND last_event = ?3 - 1",
            params![conversation, event.account, sequence],
            || {
                let last = c.number(
                    "SELECT last_event FROM conversations WHERE number = ?1 AND account = ?2",
                    params![conversation, event.account],
                )?;
                Ok(last.map_or(StoreError::NotFound, |last| StoreError::OutOfOrder {
                    what: "event of the conversation",
                    expected: last + 1,
                    got: sequence,
                }))
            },
        )?;
    }
    c.run_unless(
        StoreError::Exists { what: "the event" },
        "INSERT INTO events \
         (sequence, account, conversation, conversation_sequence, kind, at_ms, body) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            event.sequence,
            event.account,
            event.conversation.map(|(number, _)| number),
            event.conversation.map(|(_, sequence)| sequence),
            event.kind,
            event.at_ms,
            event.body
        ],
    )?;
    Ok(())
}

pub(super) fn append_journal(
    c: &Writing<'_>,
    counters: &mut Counters,
    line: &JournalLine,
) -> Result<(), StoreError> {
    follow(&mut counters.last_journal, "journal line", line.sequence)?;
    c.run_unless(
        StoreError::Exists { what: "the journal line" },
        "INSERT INTO journal (sequence, epoch, at_ns, kind, body) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![line.sequence, line.epoch, line.at_ns, line.kind, line.body],
    )?;
    Ok(())
}

pub(super) fn trim_journal(c: &Writing<'_>, through: u64) -> Result<(), StoreError> {
    c.remove("DELETE FROM journal WHERE sequence <= ?1", [through])
}
