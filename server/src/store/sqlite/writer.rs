//! The one thread that writes. It takes all batches that wait into one transaction, syncs once,
//! and only then answers each: the more callers there are, the fewer syncs each one costs.

use super::apply::apply;
use super::counters::Counters;
use super::failure::{failed, is_uncertain};
use super::lock::Lock;
use crate::store::committing::Answer;
use crate::store::{Batch, Committing, Receipt, StoreError};
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

/// The most batches in one transaction: it bounds how long the first one waits for the last.
const MAX_GROUP: usize = 1_024;

#[derive(Debug)]
struct Job {
    batch: Batch,
    answer: Answer,
}

#[derive(Debug)]
pub(super) struct Writer {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(
        path: &Path,
        connection: Connection,
        queue: usize,
        lock: Arc<Lock>,
    ) -> Result<Self, StoreError> {
        let counters = Counters::load(&connection)?;
        let (jobs, waiting) = sync_channel(queue);
        let group = GroupCommit { connection, counters, broken: None, end: commit };
        let thread = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || {
                // The lock outlives the connection.
                let _lock = lock;
                group.run(&waiting);
            })
            .map_err(|error| StoreError::Open { path: path.to_owned(), why: error.to_string() })?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    pub(super) fn commit(&self, batch: Batch) -> Committing {
        let (answer, committing) = Committing::channel();
        match self.jobs.as_ref().map(|jobs| jobs.try_send(Job { batch, answer })) {
            Some(Ok(())) => {}
            Some(Err(TrySendError::Full(job))) => job.answer.give(Err(StoreError::Overloaded)),
            Some(Err(TrySendError::Disconnected(job))) => job.answer.give(Err(StoreError::Stopped)),
            // The answer was dropped with the job, which says the same.
            None => {}
        }
        committing
    }
}

impl Drop for Writer {
    /// Waits until everything taken in line is on the disk.
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the store's writer died");
        }
    }
}

struct GroupCommit {
    connection: Connection,
    counters: Counters,
    /// Set once what is on the disk is not known.
    broken: Option<StoreError>,
    /// Ends the transaction; tests put a failing disk in its place.
    end: fn(&Connection) -> rusqlite::Result<()>,
}

fn commit(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("COMMIT")
}

impl GroupCommit {
    fn run(mut self, waiting: &Receiver<Job>) {
        while let Ok(first) = waiting.recv() {
            let mut group = vec![first];
            while group.len() < MAX_GROUP
                && let Ok(job) = waiting.try_recv()
            {
                group.push(job);
            }
            self.commit(group);
        }
    }

    fn commit(&mut self, group: Vec<Job>) {
        let (batches, answers): (Vec<_>, Vec<_>) =
            group.into_iter().map(|job| (job.batch, job.answer)).unzip();
        match self.write(&batches) {
            Ok(verdicts) => {
                let shared_by = verdicts.iter().filter(|verdict| verdict.is_ok()).count();
                for (answer, verdict) in answers.into_iter().zip(verdicts) {
                    answer.give(verdict.map(|()| Receipt { shared_by }));
                }
            }
            Err(error) => {
                for answer in answers {
                    answer.give(Err(error.clone()));
                }
            }
        }
    }

    /// Writes and syncs the group: a verdict for each batch, or the one error that undid all.
    fn write(&mut self, batches: &[Batch]) -> Result<Vec<Result<(), StoreError>>, StoreError> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        // A savepoint for each batch makes SQLite copy every page that it changes. Refused batches
        // are rare, so that only a group with one in it is done again with savepoints.
        match self.transaction(|group| group.write_all(batches))? {
            Some(verdicts) => Ok(verdicts),
            None => {
                self.transaction(|group| group.write_each(batches)).map(Option::unwrap_or_default)
            }
        }
    }

    /// Commits what `work` writes; rolls it back if that fails or has no verdicts.
    fn transaction(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<Option<Vec<Result<(), StoreError>>>, StoreError>,
    ) -> Result<Option<Vec<Result<(), StoreError>>>, StoreError> {
        let before = self.counters;
        self.statement("BEGIN IMMEDIATE")?;
        let done = match work(self) {
            Ok(Some(verdicts)) => self.finish(before).map(|()| Some(verdicts)),
            other => other,
        };
        if !matches!(done, Ok(Some(_))) {
            self.counters = before;
            // SQLite may have rolled back on its own, as it does when the disk is full.
            if !self.connection.is_autocommit()
                && let Err(error) = self.connection.execute_batch("ROLLBACK")
            {
                let broken = StoreError::Broken { why: error.to_string() };
                tracing::error!(%error, "a transaction was not undone; nothing more is committed");
                self.broken = Some(broken.clone());
                return Err(broken);
            }
        }
        done
    }

    /// Keeps the counters if they moved, and syncs.
    fn finish(&mut self, before: Counters) -> Result<(), StoreError> {
        if self.counters != before {
            self.counters.save(&self.connection).map_err(failed)?;
        }
        (self.end)(&self.connection).map_err(|error| {
            if !is_uncertain(&error) {
                return failed(error);
            }
            let broken = StoreError::Broken { why: error.to_string() };
            tracing::error!(%error, "a commit failed; nothing more is committed");
            self.broken = Some(broken.clone());
            broken
        })
    }

    /// All batches without savepoints; no verdicts if one of them is refused.
    fn write_all(
        &mut self,
        batches: &[Batch],
    ) -> Result<Option<Vec<Result<(), StoreError>>>, StoreError> {
        for batch in batches {
            match self.apply(batch) {
                Ok(()) => {}
                Err(error) if is_of_the_database(&error) => return Err(error),
                // Alone in its group, it has nobody to spare, and its verdict is the group's.
                Err(error) if batches.len() == 1 => return Err(error),
                Err(_) => return Ok(None),
            }
        }
        Ok(Some(vec![Ok(()); batches.len()]))
    }

    /// Each batch as a whole, or undone alone when it is refused.
    fn write_each(
        &mut self,
        batches: &[Batch],
    ) -> Result<Option<Vec<Result<(), StoreError>>>, StoreError> {
        let mut verdicts = Vec::with_capacity(batches.len());
        for batch in batches {
            let before = self.counters;
            self.statement("SAVEPOINT batch")?;
            let verdict = self.apply(batch);
            if let Err(error) = &verdict {
                if is_of_the_database(error) {
                    return Err(error.clone());
                }
                self.counters = before;
                self.statement("ROLLBACK TO batch")?;
            }
            self.statement("RELEASE batch")?;
            verdicts.push(verdict);
        }
        Ok(Some(verdicts))
    }

    fn apply(&mut self, batch: &Batch) -> Result<(), StoreError> {
        batch.writes.iter().try_for_each(|write| apply(&self.connection, &mut self.counters, write))
    }

    fn statement(&self, sql: &str) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        statement.execute([]).map(|_| ()).map_err(failed)
    }
}

/// Whether the database failed, which undoes the whole group, or only the batch was refused.
fn is_of_the_database(error: &StoreError) -> bool {
    matches!(error, StoreError::Failed { .. } | StoreError::DiskFull)
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
