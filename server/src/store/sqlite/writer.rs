//! The one thread that writes: what waits goes into one transaction and one sync.

use super::apply::apply;
use super::counters::Counters;
use super::failure::{failed, is_uncertain};
use super::lock::Lock;
use crate::store::committing::Answer;
use crate::store::{Batch, Receipt, StoreError};
use rusqlite::Connection;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

/// The most batches of one transaction. More would make the first of them wait for the last.
const MAX_GROUP: usize = 1_024;

/// A batch and whom to tell.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) batch: Batch,
    pub(super) answer: Answer,
}

pub(super) struct Writer {
    connection: Connection,
    /// As committed.
    counters: Counters,
    /// Why nothing is written any more.
    broken: Option<String>,
    /// Ends the transaction; tests put a failing disk in its place.
    end: fn(&Connection) -> rusqlite::Result<()>,
    /// After the connection: the lock outlasts it.
    _lock: Arc<Lock>,
}

impl Writer {
    pub(super) fn new(connection: Connection, counters: Counters, lock: Arc<Lock>) -> Self {
        let end = |connection: &Connection| run(connection, "COMMIT");
        Self { connection, counters, broken: None, end, _lock: lock }
    }

    /// Works until nobody can send any more and everything that waited has been answered.
    pub(super) fn run(mut self, waiting: &Receiver<Job>) {
        while let Ok(first) = waiting.recv() {
            let mut group = vec![first];
            group.extend(waiting.try_iter().take(MAX_GROUP - 1));
            self.commit(group);
        }
    }

    fn commit(&mut self, group: Vec<Job>) {
        let (batches, answers): (Vec<Batch>, Vec<Answer>) =
            group.into_iter().map(|job| (job.batch, job.answer)).unzip();
        match self.try_commit(&batches) {
            Ok(results) => {
                let shared_by = results.iter().filter(|result| result.is_ok()).count();
                for (answer, result) in answers.into_iter().zip(results) {
                    answer.give(result.map(|()| Receipt { shared_by }));
                }
            }
            Err(error) => {
                tracing::error!(%error, batches = batches.len(), "the store could not commit");
                for answer in answers {
                    answer.give(Err(error.clone()));
                }
            }
        }
    }

    /// One result a batch when the transaction was committed; an error when it was not, which
    /// then holds for every batch.
    fn try_commit(&mut self, batches: &[Batch]) -> Result<Vec<Result<(), StoreError>>, StoreError> {
        if let Some(why) = &self.broken {
            return Err(StoreError::Broken { why: why.clone() });
        }
        run(&self.connection, "BEGIN IMMEDIATE").map_err(failed)?;
        let mut counters = self.counters;
        let written = self.write(batches, &mut counters);
        let (results, ended) = match written {
            Ok(results) => (results, (self.end)(&self.connection)),
            Err(error) => {
                self.roll_back();
                return Err(error);
            }
        };
        match ended {
            Ok(()) => {
                self.counters = counters;
                Ok(results)
            }
            Err(error) if is_uncertain(&error) => {
                // Whether the transaction reached the disk shows only when it is read anew. To
                // go on would let a later commit make durable what was reported as lost.
                let why = error.to_string();
                self.roll_back();
                self.broken = Some(why.clone());
                Err(StoreError::Broken { why })
            }
            Err(error) => {
                self.roll_back();
                Err(failed(error))
            }
        }
    }

    fn write(
        &self,
        batches: &[Batch],
        counters: &mut Counters,
    ) -> Result<Vec<Result<(), StoreError>>, StoreError> {
        let mut results = Vec::with_capacity(batches.len());
        for batch in batches {
            results.push(self.write_one(batch, counters)?);
        }
        if *counters != self.counters {
            counters.save(&self.connection).map_err(failed)?;
        }
        Ok(results)
    }

    /// The inner error undoes this batch alone, the outer one the whole transaction.
    fn write_one(
        &self,
        batch: &Batch,
        counters: &mut Counters,
    ) -> Result<Result<(), StoreError>, StoreError> {
        let before = *counters;
        run(&self.connection, "SAVEPOINT batch").map_err(failed)?;
        let result =
            batch.writes.iter().try_for_each(|write| apply(&self.connection, counters, write));
        if let Err(error) = result {
            // A full disk makes SQLite undo the whole transaction by itself.
            if self.connection.is_autocommit() {
                return Err(error);
            }
            run(&self.connection, "ROLLBACK TO batch").map_err(failed)?;
            run(&self.connection, "RELEASE batch").map_err(failed)?;
            *counters = before;
            return Ok(Err(error));
        }
        run(&self.connection, "RELEASE batch").map_err(failed)?;
        Ok(Ok(()))
    }

    fn roll_back(&mut self) {
        if self.connection.is_autocommit() {
            return;
        }
        if let Err(error) = run(&self.connection, "ROLLBACK") {
            self.broken = Some(error.to_string());
        }
    }
}

fn run(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(|_| ())
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
