//! The journal of the scheduler's inputs.

use super::super::counters::{Counters, follow};
use super::change;
use crate::store::{JournalLine, StoreError};
use rusqlite::{Connection, params};

pub(super) fn append(
    connection: &Connection,
    counters: &mut Counters,
    line: &JournalLine,
) -> Result<(), StoreError> {
    follow(&mut counters.last_journal, "journal line", line.sequence)?;
    let sql = "INSERT INTO journal (sequence, epoch, at_ns, kind, body)
               VALUES (?1, ?2, ?3, ?4, ?5)";
    let row = params![line.sequence, line.epoch, line.at_ns, line.kind, line.body];
    change(connection, sql, row).map(|_| ())
}
