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
        let before = self.counters;
        let done = self.try_write(batches);
        if done.is_err() {
            self.counters = before;
            // SQLite may have rolled back on its own, as it does when the disk is full.
            if !self.connection.is_autocommit()
                && let Err(error) = self.connection.execute_batch("ROLLBACK")
            {
                self.broken = Some(StoreError::Broken { why: error.to_string() });
            }
        }
        done
    }

    fn try_write(&mut self, batches: &[Batch]) -> Result<Vec<Result<(), StoreError>>, StoreError> {
        let before = self.counters;
        self.statement("BEGIN IMMEDIATE")?;
        let mut verdicts = Vec::with_capacity(batches.len());
        for batch in batches {
            verdicts.push(self.write_one(batch)?);
        }
        if self.counters != before {
            self.counters.save(&self.connection).map_err(failed)?;
        }
        if let Err(error) = (self.end)(&self.connection) {
            if is_uncertain(&error) {
                let broken = StoreError::Broken { why: error.to_string() };
                tracing::error!(%error, "a commit failed; nothing more is committed");
                self.broken = Some(broken.clone());
                return Err(broken);
            }
            return Err(failed(error));
        }
        Ok(verdicts)
    }

    /// One batch within the transaction: kept as a whole, or undone alone when it is refused. The
    /// outer error undoes the whole group: the database itself failed.
    fn write_one(&mut self, batch: &Batch) -> Result<Result<(), StoreError>, StoreError> {
        let before = self.counters;
        self.statement("SAVEPOINT batch")?;
        let mut verdict = Ok(());
        for write in &batch.writes {
            verdict = apply(&self.connection, &mut self.counters, write);
            if verdict.is_err() {
                break;
            }
        }
        match verdict {
            Ok(()) => {}
            Err(error @ (StoreError::Failed { .. } | StoreError::DiskFull)) => return Err(error),
            Err(_) => {
                self.counters = before;
                self.statement("ROLLBACK TO batch")?;
            }
        }
        self.statement("RELEASE batch")?;
        Ok(verdict)
    }

    fn statement(&self, sql: &str) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        statement.execute([]).map(|_| ()).map_err(failed)
    }
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
