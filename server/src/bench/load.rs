//! Two kinds of load: so many executes a second, and as many as can be had.

use super::BenchError;
use super::targets::Targets;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// How long executes took.
#[derive(Clone, Debug)]
pub(crate) struct Latencies {
    /// Ascending.
    sorted: Vec<Duration>,
    /// From the first to the last answer.
    wall: Duration,
}

impl Latencies {
    fn new(mut latencies: Vec<Duration>, wall: Duration) -> Self {
        latencies.sort_unstable();
        Self { sorted: latencies, wall }
    }

    pub(crate) fn count(&self) -> usize {
        self.sorted.len()
    }

    /// The order statistic of rank `ceil(q n)`; `q` from 0 to 1.
    pub(crate) fn quantile(&self, q: f64) -> Duration {
        let rank = (q * self.sorted.len() as f64).ceil() as usize;
        self.sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
    }

    /// Executes a second.
    pub(crate) fn rate(&self) -> f64 {
        self.sorted.len() as f64 / self.wall.as_secs_f64().max(1e-9)
    }
}

/// `rate` executes a second, at even distances. Each is timed from the moment at which it was due,
/// also when its caller was still waiting for the one before: a server that stalls does not make
/// its own stall unseen.
pub(super) async fn at_rate(
    targets: &Targets,
    rate: u32,
    long: Duration,
) -> Result<Latencies, BenchError> {
    let callers = targets.each.len();
    let total = (f64::from(rate) * long.as_secs_f64()) as usize;
    let began = Instant::now() + Duration::from_millis(50);
    let tasks: Vec<_> = (0..callers)
        .map(|caller| {
            let targets = targets.clone();
            tokio::spawn(async move {
                let mut latencies = Vec::new();
                for turn in (caller..total).step_by(callers) {
                    let due = began + Duration::from_secs_f64(turn as f64 / f64::from(rate));
                    sleep_until(due).await;
                    // The timer is as coarse as a millisecond, and wakes late, never early: what
                    // it adds is not the server's.
                    let sent = if Instant::now() < due + TIMER { Instant::now() } else { due };
                    targets.each[caller].execute().await?;
                    latencies.push(sent.elapsed());
                }
                Ok::<_, BenchError>(latencies)
            })
        })
        .collect();
    gather(tasks, began).await
}

/// So late the timer of tokio may wake somebody: its resolution, and as much for the machine.
const TIMER: Duration = Duration::from_millis(2);

/// Every caller sends the next execute as soon as it has its answer.
pub(super) async fn as_many_as_can_be(
    targets: &Targets,
    long: Duration,
) -> Result<Latencies, BenchError> {
    let began = Instant::now();
    let tasks: Vec<_> = (0..targets.each.len())
        .map(|caller| {
            let targets = targets.clone();
            tokio::spawn(async move {
                let mut latencies = Vec::new();
                while began.elapsed() < long {
                    let sent = Instant::now();
                    targets.each[caller].execute().await?;
                    latencies.push(sent.elapsed());
                }
                Ok::<_, BenchError>(latencies)
            })
        })
        .collect();
    gather(tasks, began).await
}

async fn gather(
    tasks: Vec<tokio::task::JoinHandle<Result<Vec<Duration>, BenchError>>>,
    began: Instant,
) -> Result<Latencies, BenchError> {
    let mut latencies = Vec::new();
    for task in tasks {
        latencies.extend(task.await??);
    }
    Ok(Latencies::new(latencies, began.elapsed()))
}
