//! Drives the account in real time: the only file of the simulated Daytona that reads a clock.

use crate::daytona::{Account, ApiOutcome, Ticket};
use sandpool_core::Time;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::{Notify, watch};

/// Milliseconds since 1970 now.
#[expect(clippy::disallowed_methods, reason = "this is the edge where time is real")]
pub(super) fn wall_clock_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// An account whose time passes by itself, so many times as fast as the clock on the wall.
#[derive(Debug)]
pub struct Live {
    account: Mutex<Account>,
    started: Instant,
    speed: f64,
    /// Rises with every change that somebody may wait for.
    changes: watch::Sender<u64>,
    /// Somebody has changed the account: what is due next may be sooner now.
    disturbed: Notify,
}

impl Live {
    /// An account whose time begins now. `speed` 10: a minute of the account's is six seconds.
    #[expect(clippy::disallowed_methods, reason = "this is the edge where time is real")]
    pub(super) fn new(account: Account, speed: f64) -> Self {
        Self {
            account: Mutex::new(account),
            started: Instant::now(),
            speed,
            changes: watch::Sender::new(0),
            disturbed: Notify::new(),
        }
    }

    /// The account's time.
    fn now(&self) -> Time {
        let seconds = self.started.elapsed().as_secs_f64() * self.speed;
        Time::from_nanos((seconds * 1e9) as u64)
    }

    fn lock(&self) -> MutexGuard<'_, Account> {
        // A panic while the lock was held is a bug that has been reported; the books may be used.
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the account at its present time. Nobody else can meanwhile: be brief.
    pub fn with<T>(&self, act: impl FnOnce(&mut Account, Time) -> T) -> T {
        let mut account = self.lock();
        // Taken under the lock, so that it never goes back.
        let now = self.now();
        let done = act(&mut account, now);
        let changes = account.changes();
        drop(account);
        self.changes.send_if_modified(|told| std::mem::replace(told, changes) != changes);
        self.disturbed.notify_one();
        done
    }

    /// Tells of every change that somebody may wait for.
    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// How long a span of the account's time lasts on the wall.
    pub(super) fn on_the_wall(&self, span: sandpool_core::Span) -> Duration {
        Duration::from_secs_f64(span.as_secs_f64() / self.speed)
    }

    /// The answer to a call that has to wait, once there is one.
    pub(super) async fn wait(&self, ticket: &Ticket) -> ApiOutcome {
        let mut changes = self.changes.subscribe();
        loop {
            changes.mark_unchanged();
            let (outcome, now) = self.with(|account, now| (account.redeem(now, ticket), now));
            if let Some(outcome) = outcome {
                return outcome;
            }
            let left = if ticket.until > now { ticket.until.since(now) } else { continue };
            let patience = self.on_the_wall(left).max(Duration::from_millis(1));
            // Either is a reason to ask again; the sender lives as long as the account.
            let _ = tokio::time::timeout(patience, changes.changed()).await;
        }
    }

    /// Lets happen what is due, for ever.
    pub(super) async fn drive(self: Arc<Self>) {
        loop {
            let disturbed = self.disturbed.notified();
            let next = self.with_quietly();
            match next {
                None => disturbed.await,
                Some(wait) => {
                    // Either is a reason to look again.
                    let _ = tokio::time::timeout(wait, disturbed).await;
                }
            }
        }
    }

    /// Advances the account and says how long nothing will happen then.
    fn with_quietly(&self) -> Option<Duration> {
        let mut account = self.lock();
        let now = self.now();
        account.advance(now);
        // Nobody sends bills here.
        account.take_finished();
        let next = account.next_at();
        let changes = account.changes();
        drop(account);
        self.changes.send_if_modified(|told| std::mem::replace(told, changes) != changes);
        let at = next?;
        let left = if at > now { self.on_the_wall(at.since(now)) } else { Duration::ZERO };
        Some(left.max(Duration::from_millis(1)))
    }
}
