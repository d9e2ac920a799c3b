//! Events.

use super::super::counters::{Counters, follow};
use super::super::failure::failed;
use super::change;
use crate::store::{EventRecord, StoreError};
use rusqlite::{Connection, OptionalExtension, params};

pub(super) fn append(
    connection: &Connection,
    counters: &mut Counters,
    event: &EventRecord,
) -> Result<(), StoreError> {
    follow(&mut counters.last_event, "event", event.sequence)?;
    if let Some((conversation, sequence)) = event.conversation {
        // An event may come after the conversation was closed: its sandbox is still to go.
        let count = "UPDATE conversations SET last_event = ?2
                     WHERE number = ?1 AND last_event = ?2 - 1 AND account IS ?3";
        if change(connection, count, params![conversation, sequence, event.account])? == 0 {
            return Err(why_not(connection, conversation, sequence, event.account)?);
        }
    }
    let sql = "INSERT INTO events
                   (sequence, account, conversation, conversation_sequence, kind, at_ms, body)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let row = params![
        event.sequence,
        event.account,
        event.conversation.map(|(conversation, _)| conversation),
        event.conversation.map(|(_, sequence)| sequence),
        event.kind,
        event.at_ms,
        event.body
    ];
    change(connection, sql, row).map(|_| ())
}

fn why_not(
    connection: &Connection,
    conversation: u64,
    got: u64,
    account: Option<u32>,
) -> Result<StoreError, StoreError> {
    let sql = "SELECT account, last_event FROM conversations WHERE number = ?1";
    let found = connection
        .prepare_cached(sql)
        .and_then(|mut statement| {
            statement
                .query_row([conversation], |row| Ok((row.get::<_, u32>(0)?, row.get::<_, u64>(1)?)))
                .optional()
        })
        .map_err(failed)?;
    Ok(match found {
        None => StoreError::NotFound,
        Some((owner, _)) if Some(owner) != account => {
            StoreError::Conflict { what: "the event's conversation is another account's" }
        }
        Some((_, last)) => {
            StoreError::OutOfOrder { what: "event of the conversation", expected: last + 1, got }
        }
    })
}
