//! The counters that are never reused, as the writer last saw them.

use super::failure::failed;
use crate::store::StoreError;
use rusqlite::{Connection, params};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counters {
    pub(super) epoch: u32,
    pub(super) last_conversation: u64,
    pub(super) last_event: u64,
    pub(super) last_journal: u64,
}

impl Counters {
    pub(super) fn load(connection: &Connection) -> Result<Self, StoreError> {
        let sql = "SELECT epoch, last_conversation, last_event, last_journal FROM store_state";
        connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement.query_row([], |row| {
                    Ok(Self {
                        epoch: row.get(0)?,
                        last_conversation: row.get(1)?,
                        last_event: row.get(2)?,
                        last_journal: row.get(3)?,
                    })
                })
            })
            .map_err(failed)
    }

    pub(super) fn save(&self, connection: &Connection) -> rusqlite::Result<()> {
        connection
            .prepare_cached(
                "UPDATE store_state SET epoch = ?1, last_conversation = ?2, last_event = ?3, \
                 last_journal = ?4",
            )?
            .execute(params![
                self.epoch,
                self.last_conversation,
                self.last_event,
                self.last_journal
            ])?;
        Ok(())
    }
}

/// Moves a counter on by one, to what the engine says it is.
pub(super) fn follow(counter: &mut u64, what: &'static str, got: u64) -> Result<(), StoreError> {
    let expected = *counter + 1;
    if got != expected {
        return Err(StoreError::OutOfOrder { what, expected, got });
    }
    *counter = got;
    Ok(())
}
