//! Messages.

use super::change;
use super::conversation::why_not_counted;
use crate::store::{Message, StoreError};
use rusqlite::{Connection, params};

pub(super) fn append(
    connection: &Connection,
    conversation: u64,
    message: &Message,
) -> Result<(), StoreError> {
    let count = "UPDATE conversations SET last_message = ?2
                 WHERE number = ?1 AND last_message = ?2 - 1 AND closed_ms IS NULL";
    if change(connection, count, params![conversation, message.sequence])? == 0 {
        let got = message.sequence;
        return Err(why_not_counted(connection, conversation, "last_message", "message", got)?);
    }
    let sql = "INSERT INTO messages (conversation, sequence, turn, kind, call, at_ms, text)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let row = params![
        conversation,
        message.sequence,
        message.turn,
        message.kind.name(),
        message.call,
        message.at_ms,
        message.text
    ];
    change(connection, sql, row).map(|_| ())
}
