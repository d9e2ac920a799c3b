//! Each write as SQL. A write that contradicts what is kept is refused, which undoes its batch.

mod accounts;
mod conversations;
mod events;
mod idempotency;
mod sandboxes;
mod turns;

use super::counters::{Counters, follow};
use super::failure::failed;
use crate::store::{StoreError, Write};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Params};

pub(super) fn apply(
    connection: &Connection,
    counters: &mut Counters,
    write: &Write,
) -> Result<(), StoreError> {
    let c = Writing(connection);
    match write {
        Write::BeginEpoch { epoch } => {
            let mut last = u64::from(counters.epoch);
            follow(&mut last, "epoch", u64::from(*epoch))?;
            counters.epoch = *epoch;
            Ok(())
        }
        Write::SetSetting { name, value } => accounts::set_setting(&c, name, value),
        Write::AddAccount(account) => accounts::add(&c, account),
        Write::AddKey(key) => accounts::add_key(&c, key),
        Write::RevokeKey { account, id, at_ms } => accounts::revoke_key(&c, *account, id, *at_ms),
        Write::OpenConversation(new) => conversations::open(&c, counters, new),
        Write::SetConversationState { conversation, state } => {
            conversations::set_state(&c, *conversation, state)
        }
        Write::SetFilesLost { conversation, reason } => {
            conversations::set_files_lost(&c, *conversation, *reason)
        }
        Write::CloseConversation { conversation, at_ms } => {
            conversations::close(&c, *conversation, *at_ms)
        }
        Write::AppendMessage { conversation, message } => {
            conversations::append_message(&c, *conversation, message)
        }
        Write::BeginTurn { conversation, turn, class, at_ms } => {
            turns::begin(&c, *conversation, *turn, class, *at_ms)
        }
        Write::EndTurn { conversation, turn, reason, at_ms } => {
            turns::end(&c, *conversation, *turn, reason, *at_ms)
        }
        Write::StartExecute { conversation, turn, execute, at_ms } => {
            turns::start_execute(&c, *conversation, *turn, *execute, *at_ms)
        }
        Write::FinishExecute { conversation, execute, outcome, result, at_ms } => {
            turns::finish_execute(&c, *conversation, *execute, outcome, result, *at_ms)
        }
        Write::AppendEvent(event) => events::append(&c, counters, event),
        Write::AppendJournal(line) => events::append_journal(&c, counters, line),
        Write::TrimJournal { through } => events::trim_journal(&c, *through),
        Write::PutSandbox(sandbox) => sandboxes::put(&c, sandbox),
        Write::RemoveSandbox { name } => sandboxes::remove(&c, *name),
        Write::AddIntent(intent) => sandboxes::add_intent(&c, intent),
        Write::ResolveIntent { epoch, operation } => {
            sandboxes::resolve_intent(&c, *epoch, *operation)
        }
        Write::BeginIdempotent(new) => idempotency::begin(&c, new),
        Write::FinishIdempotent { account, key, status, body } => {
            idempotency::finish(&c, *account, key, *status, body)
        }
        Write::ForgetIdempotent { account, key } => idempotency::forget(&c, *account, key),
        Write::ExpireIdempotent { by_ms } => idempotency::expire(&c, *by_ms),
    }
}

/// Whether the value or the database is at fault.
fn refused(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::TooBig) => StoreError::Invalid { what: error.to_string() },
        // A number beyond SQLite's, which none of the counters reaches.
        _ if matches!(error, rusqlite::Error::ToSqlConversionFailure(_)) => {
            StoreError::Invalid { what: error.to_string() }
        }
        _ => failed(error),
    }
}

/// The connection within the group's transaction.
struct Writing<'a>(&'a Connection);

impl Writing<'_> {
    /// Runs a statement; tells how many rows it changed.
    fn run(&self, sql: &str, values: impl Params) -> rusqlite::Result<usize> {
        self.0.prepare_cached(sql)?.execute(values)
    }

    /// Runs a statement of which a broken constraint means `taken`.
    fn run_unless(
        &self,
        taken: StoreError,
        sql: &str,
        values: impl Params,
    ) -> Result<usize, StoreError> {
        self.run(sql, values).map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation) => taken,
            _ => refused(error),
        })
    }

    /// Runs a statement that changes one row, or is refused for the reason that `why` finds.
    fn one(
        &self,
        sql: &str,
        values: impl Params,
        why: impl FnOnce() -> Result<StoreError, StoreError>,
    ) -> Result<(), StoreError> {
        let unkept = StoreError::Conflict { what: "the write breaks a rule of the store" };
        match self.run_unless(unkept, sql, values)? {
            0 => Err(why()?),
            _ => Ok(()),
        }
    }

    /// Removes what may be gone already: a confirmation may come twice.
    fn remove(&self, sql: &str, values: impl Params) -> Result<(), StoreError> {
        self.run(sql, values).map(|_| ()).map_err(refused)
    }

    /// One number of a row, if there is the row.
    fn number(&self, sql: &str, values: impl Params) -> Result<Option<u64>, StoreError> {
        self.0
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row(values, |row| row.get(0)).optional())
            .map_err(refused)
    }
}
