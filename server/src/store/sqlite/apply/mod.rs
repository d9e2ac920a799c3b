//! One write of a batch, within the writer's transaction. An error undoes the whole batch.

mod account;
mod conversation;
mod event;
mod execute;
mod idempotency;
mod intent;
mod journal;
mod message;
mod sandbox;
mod setting;
mod turn;

use super::counters::Counters;
use super::failure::failed;
use crate::store::{StoreError, Write};
use rusqlite::{Connection, Params};

pub(super) fn apply(
    connection: &Connection,
    counters: &mut Counters,
    write: &Write,
) -> Result<(), StoreError> {
    match write {
        Write::BeginEpoch { epoch } => setting::begin_epoch(counters, *epoch),
        Write::SetSetting { name, value } => setting::set(connection, name, value),
        Write::AddAccount(account) => account::add(connection, account),
        Write::AddKey(key) => account::add_key(connection, key),
        Write::RevokeKey { account, id, at_ms } => {
            account::revoke_key(connection, *account, id, *at_ms)
        }
        Write::OpenConversation(new) => conversation::open(connection, counters, new),
        Write::SetConversationState { conversation, state } => {
            conversation::set_state(connection, *conversation, state)
        }
        Write::CloseConversation { conversation, at_ms } => {
            conversation::close(connection, *conversation, *at_ms)
        }
        Write::AppendMessage { conversation, message } => {
            message::append(connection, *conversation, message)
        }
        Write::BeginTurn { conversation, turn, class, at_ms } => {
            turn::begin(connection, *conversation, *turn, class, *at_ms)
        }
        Write::EndTurn { conversation, turn, reason, at_ms } => {
            turn::end(connection, *conversation, *turn, reason, *at_ms)
        }
        Write::StartExecute { conversation, turn, execute, at_ms } => {
            execute::start(connection, *conversation, *turn, *execute, *at_ms)
        }
        Write::FinishExecute { conversation, execute, outcome, result, at_ms } => {
            execute::finish(connection, *conversation, *execute, outcome, result, *at_ms)
        }
        Write::AppendEvent(event) => event::append(connection, counters, event),
        Write::AppendJournal(line) => journal::append(connection, counters, line),
        Write::PutSandbox(sandbox) => sandbox::put(connection, sandbox),
        Write::RemoveSandbox { name } => sandbox::remove(connection, *name),
        Write::AddIntent(intent) => intent::add(connection, intent),
        Write::ResolveIntent { epoch, operation } => {
            intent::resolve(connection, *epoch, *operation)
        }
        Write::BeginIdempotent(new) => idempotency::begin(connection, new),
        Write::FinishIdempotent { account, key, status, body } => {
            idempotency::finish(connection, *account, key, *status, body)
        }
        Write::ForgetIdempotent { account, key } => idempotency::forget(connection, *account, key),
        Write::ExpireIdempotent { by_ms } => idempotency::expire(connection, *by_ms),
    }
}

/// Runs a statement and tells how many rows it changed.
fn change(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
) -> Result<usize, StoreError> {
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute(parameters))
        .map_err(failed)
}

/// Runs a query that says yes or no.
fn holds(connection: &Connection, sql: &str, parameters: impl Params) -> Result<bool, StoreError> {
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.exists(parameters))
        .map_err(failed)
}
