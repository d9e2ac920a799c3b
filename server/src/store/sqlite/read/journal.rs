//! The journal of the scheduler's inputs.

use super::all;
use crate::store::types::page_limit;
use crate::store::{JournalLine, StoreError};
use rusqlite::{Connection, params};

pub(in super::super) fn journal(
    connection: &Connection,
    after: u64,
    limit: u32,
) -> Result<Vec<JournalLine>, StoreError> {
    let sql = "SELECT sequence, epoch, at_ns, kind, body FROM journal
               WHERE sequence > ?1 ORDER BY sequence LIMIT ?2";
    let after = after.min(i64::MAX as u64);
    all(connection, sql, params![after, page_limit(limit)], |row| {
        Ok(JournalLine {
            sequence: row.get(0)?,
            epoch: row.get(1)?,
            at_ns: row.get(2)?,
            kind: row.get(3)?,
            body: row.get(4)?,
        })
    })
}
