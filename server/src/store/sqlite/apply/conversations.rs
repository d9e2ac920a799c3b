//! Conversations and their messages.

use super::{Counters, Writing};
use crate::store::StoreError;
use crate::store::types::{Message, NewConversation};
use rusqlite::params;
use sandpool_core::Reason;

const CLOSED: StoreError = StoreError::Conflict { what: "the conversation is closed" };

pub(super) fn open(
    c: &Writing<'_>,
    counters: &mut Counters,
    new: &NewConversation,
) -> Result<(), StoreError> {
    if new.number <= counters.last_conversation {
        return Err(StoreError::OutOfOrder {
            what: "conversation",
            expected: counters.last_conversation + 1,
            got: new.number,
        });
    }
    if c.number("SELECT 1 FROM accounts WHERE number = ?1", [new.account])?.is_none() {
        return Err(StoreError::NotFound);
    }
    c.run_unless(
        StoreError::Exists { what: "the conversation" },
        "INSERT INTO conversations (number, key, account, opened_ms) VALUES (?1, ?2, ?3, ?4)",
        params![new.number, new.key.as_str(), new.account, new.opened_ms],
    )?;
    counters.last_conversation = new.number;
    Ok(())
}

pub(super) fn set_state(c: &Writing<'_>, number: u64, state: &str) -> Result<(), StoreError> {
    c.one(
        "UPDATE conversations SET state = ?2 WHERE number = ?1 AND closed_ms IS NULL",
        params![number, state],
        || Ok(missing_or_closed(c, number)?.unwrap_or(CLOSED)),
    )
}

pub(super) fn set_files_lost(
    c: &Writing<'_>,
    number: u64,
    reason: Option<Reason>,
) -> Result<(), StoreError> {
    // Of a closed one as well: its sandbox goes after it.
    c.one(
        "UPDATE conversations SET files_lost = ?2 WHERE number = ?1",
        params![number, reason.map(Reason::name)],
        || Ok(StoreError::NotFound),
    )
}

pub(super) fn close(c: &Writing<'_>, number: u64, at_ms: i64) -> Result<(), StoreError> {
    let open_turn = "SELECT turn FROM turns WHERE conversation = ?1 AND ended_ms IS NULL";
    if c.number(open_turn, [number])?.is_some() {
        return Err(StoreError::Conflict { what: "the conversation has an open turn" });
    }
    c.one(
        "UPDATE conversations SET closed_ms = ?2 WHERE number = ?1 AND closed_ms IS NULL",
        params![number, at_ms],
        || Ok(missing_or_closed(c, number)?.unwrap_or(CLOSED)),
    )
}

pub(super) fn append_message(
    c: &Writing<'_>,
    number: u64,
    message: &Message,
) -> Result<(), StoreError> {
    c.one(
        "UPDATE conversations SET last_message = ?2 \
         WHERE number = ?1 AND last_message = ?2 - 1 AND closed_ms IS NULL",
        params![number, message.sequence],
        || {
            if let Some(error) = missing_or_closed(c, number)? {
                return Ok(error);
            }
            let last = "SELECT last_message FROM conversations WHERE number = ?1";
            let expected = 1 + c.number(last, [number])?.unwrap_or(0);
            Ok(StoreError::OutOfOrder { what: "message", expected, got: message.sequence })
        },
    )?;
    c.run_unless(
        StoreError::Exists { what: "the message" },
        "INSERT INTO messages (conversation, sequence, turn, kind, call, at_ms, text) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            number,
            message.sequence,
            message.turn,
            message.kind.name(),
            message.call,
            message.at_ms,
            message.text
        ],
    )?;
    Ok(())
}

/// Why an open conversation was not found under the number, if it was not.
pub(super) fn missing_or_closed(
    c: &Writing<'_>,
    number: u64,
) -> Result<Option<StoreError>, StoreError> {
    let sql = "SELECT closed_ms IS NOT NULL FROM conversations WHERE number = ?1";
    Ok(match c.number(sql, [number])? {
        None => Some(StoreError::NotFound),
        Some(0) => None,
        Some(_) => Some(CLOSED),
    })
}
