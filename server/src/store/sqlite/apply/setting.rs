//! Settings and the epoch.

use super::super::counters::Counters;
use super::change;
use crate::store::StoreError;
use rusqlite::{Connection, params};

pub(super) fn begin_epoch(counters: &mut Counters, epoch: u32) -> Result<(), StoreError> {
    let expected = u64::from(counters.epoch) + 1;
    if u64::from(epoch) != expected {
        return Err(StoreError::OutOfOrder { what: "epoch", expected, got: epoch.into() });
    }
    counters.epoch = epoch;
    Ok(())
}

pub(super) fn set(connection: &Connection, name: &str, value: &str) -> Result<(), StoreError> {
    let sql = "INSERT INTO settings (name, value) VALUES (?1, ?2)
               ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    change(connection, sql, params![name, value]).map(|_| ())
}
