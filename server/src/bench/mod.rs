//! How fast the server is: an execute through it and directly at the provider, in turn, and what
//! many open conversations cost.

mod load;
mod many;
mod report;
mod targets;

pub(crate) use report::{json, table};

use crate::rig::{Child, ChildError, ConnectionError, Daytona};
use load::Latencies;
use many::Many;
use sandpool_sim::{AccountSettings, CommandExecution, Profile, StartError, WorkLatencies};
use std::path::Path;
use std::time::Duration;
use targets::Targets;

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BenchOptions {
    /// Executes a second while latencies are measured; 1 and more.
    pub(crate) rate: u32,
    /// How long each part of a pair is measured, seconds; 1 and more.
    pub(crate) seconds: u32,
    /// How many times it is measured through the server and directly, one after the other.
    pub(crate) pairs: u32,
    /// Conversations that execute at the same time, each in a sandbox of its own.
    pub(crate) callers: u32,
    /// Conversations that are open while memory and the restart are measured; 0: not measured.
    pub(crate) conversations: u32,
}

/// One part of a pair.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// At the rate that was asked for.
    pub(crate) at_rate: Latencies,
    /// As many as can be had: each caller sends the next one as soon as it has its answer.
    pub(crate) most: Latencies,
    /// Processor time of the server per execute of [`Part::most`].
    pub(crate) processor: Option<Duration>,
}

/// Everything that was measured.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) options: BenchOptions,
    /// Direct and through, in the order in which they were measured.
    pub(crate) pairs: Vec<(Part, Part)>,
    /// None if it was not asked for.
    pub(crate) many: Option<Many>,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    /// A temporary folder, or a file in it.
    #[error("cannot keep the server's files: {0}")]
    Files(#[from] std::io::Error),
    /// There is no simulated Daytona.
    #[error(transparent)]
    Daytona(#[from] StartError),
    /// There is no server.
    #[error(transparent)]
    Server(#[from] ChildError),
    /// A call failed.
    #[error(transparent)]
    Call(#[from] ConnectionError),
    /// An answer says something else than that the command ended well.
    #[error("an execute was answered: {0}")]
    Answer(String),
    /// A part of the benchmark ended in a defect.
    #[error("a defect: {0}")]
    Defect(#[from] tokio::task::JoinError),
}

/// Measures. `told` hears what begins.
pub(crate) async fn run(
    options: BenchOptions,
    folder: &Path,
    told: impl Fn(&str),
) -> Result<Measured, BenchError> {
    // Commands do not run: what remains is the way to them and back.
    let daytona = Daytona::start(at_once(), CommandExecution::None, 1.0).await?;
    let config = config(options.callers, &daytona);
    std::fs::write(folder.join("pool.toml"), &config)?;
    told(&format!("{} conversations get their sandboxes", options.callers));
    let child = Child::start(folder, &daytona)?;
    let key = child.keys.last().cloned().unwrap_or_default();
    let through = Targets::through(child.address, &key, options.callers).await?;
    let direct = Targets::direct(&daytona, options.callers).await?;
    let mut pairs = Vec::new();
    for pair in 1..=options.pairs {
        told(&format!("pair {pair} of {}: directly at the provider", options.pairs));
        let without = part(&direct, options, None).await?;
        told(&format!("pair {pair} of {}: through the server", options.pairs));
        pairs.push((without, part(&through, options, Some(&child)).await?));
    }
    drop(through);
    child.kill();
    let many = match options.conversations {
        0 => None,
        conversations => {
            told(&format!("{conversations} conversations are opened"));
            let fresh = folder.join("many");
            std::fs::create_dir(&fresh)?;
            std::fs::write(fresh.join("pool.toml"), config)?;
            Some(many::measure(&fresh, &daytona, conversations).await?)
        }
    };
    daytona.stop().await;
    Ok(Measured { options, pairs, many })
}

async fn part(
    targets: &Targets,
    options: BenchOptions,
    child: Option<&Child>,
) -> Result<Part, BenchError> {
    let long = Duration::from_secs(u64::from(options.seconds));
    let at_rate = load::at_rate(targets, options.rate, long).await?;
    let used_before = child.and_then(Child::processor_time);
    let most = load::as_many_as_can_be(targets, long).await?;
    let used = child.and_then(Child::processor_time).zip(used_before);
    let processor = used.and_then(|(after, before)| {
        (after - before).checked_div(u32::try_from(most.count()).unwrap_or(u32::MAX))
    });
    Ok(Part { at_rate, most, processor })
}

/// A provider that does everything at once and without bound.
fn at_once() -> AccountSettings {
    AccountSettings {
        profile: Profile::instant(),
        work: WorkLatencies::quick(),
        api_key: String::new(),
        ..AccountSettings::default()
    }
}

/// Room for everybody at once.
fn config(callers: u32, daytona: &Daytona) -> String {
    format!(
        "[server]\nmax_sandboxes = {callers}\nmax_memory_gb = {callers}\n\
         max_sandboxes_per_account = {callers}\nborrow_keep_free = 0\nwarm_sandboxes = 0\n\
         idle_seconds = 86400\nturn_timeout_seconds = 86400\n\n\
         [classes.default]\nprepare = false\n\n[http]\nmax_requests = 65536\n\n\
         [daytona]\napi_url = \"{}\"\n",
        daytona.url()
    )
}
