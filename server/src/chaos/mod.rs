//! Servers that are killed in the middle of their work, again and again, while the provider fails:
//! nothing that was answered may be lost, nothing leaked, and the books must agree.

mod book;
mod caller;
mod check;
mod faults;
mod settled;

pub(crate) use book::Counts;

use crate::rig::{Child, ChildError, Connection, ConnectionError, Daytona};
use caller::Caller;
use sandpool_sim::{
    AccountSettings, CommandExecution, Distribution, Latencies, Profile, Purpose, StartError,
    Stream, WorkLatencies,
};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// What is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChaosOptions {
    /// Servers that are started and killed; 1 and more.
    pub(crate) rounds: u32,
    /// Callers at once, half of them of one account and half of another; 1 and more.
    pub(crate) callers: u32,
    /// The longest that a server lives, milliseconds; 1 and more.
    pub(crate) longest_ms: u64,
    /// Decides what callers do, what fails, and when a server is killed. Not how the operating
    /// system schedules: a run is alike under the same seed, not the same.
    pub(crate) seed: u64,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Survived {
    pub(crate) counts: Counts,
    pub(crate) conversations: u64,
    pub(crate) rounds: u32,
}

/// Why it did not go to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChaosError {
    /// The files of the server cannot be kept.
    #[error("cannot keep the server's files: {0}")]
    Files(#[from] std::io::Error),
    /// There is no simulated Daytona.
    #[error(transparent)]
    Daytona(#[from] StartError),
    /// The rig itself failed.
    #[error("the rig failed: {0}")]
    Rig(#[from] ConnectionError),
    /// A server did not start.
    #[error("round {round}: {error}")]
    Server {
        /// In which round.
        round: u32,
        /// What it says.
        error: ChildError,
    },
    /// The server broke a promise.
    #[error("round {round}: {what}")]
    Broken {
        /// In which round.
        round: u32,
        /// Which promise.
        what: String,
    },
}

/// The books are compared with the provider's every so many rounds, and at the end.
const AGREE_EVERY: u32 = 10;

/// Kills one server after the other. `told` hears of each round.
pub(crate) async fn run(
    options: ChaosOptions,
    folder: &Path,
    told: impl Fn(u32),
) -> Result<Survived, ChaosError> {
    let daytona = Daytona::start(provider(options.seed), CommandExecution::None, 1.0).await?;
    let broken = |round: u32| move |what: String| ChaosError::Broken { round, what };
    let mut counts = Counts::default();
    let mut callers: Vec<Caller> = Vec::new();
    let mut keys: Vec<String> = Vec::new();
    for round in 1..=options.rounds {
        told(round);
        let mut luck = Stream::new(options.seed, round, Purpose::Fault, 0);
        let recovery = if luck.chance(0.5) { "adopt" } else { "destroy" };
        std::fs::write(folder.join("pool.toml"), config(recovery, &daytona))?;
        let child =
            Child::start(folder, &daytona).map_err(|error| ChaosError::Server { round, error })?;
        if callers.is_empty() {
            keys.clone_from(&child.keys);
            callers = new_callers(options.callers, &child, &keys).await?;
        }
        for caller in &mut callers {
            check::check(caller, child.address).await.map_err(broken(round))?;
        }
        lists(&callers, &child).await.map_err(broken(round))?;
        if round % AGREE_EVERY == 0 {
            settled::books_agree(&child, &keys[1], &daytona).await.map_err(broken(round))?;
        }
        let lives = Duration::from_millis(1 + luck.below(options.longest_ms));
        let (back, wrong, caused) =
            under_load(callers, child, &daytona, options.seed, round, lives).await;
        callers = back;
        counts.faults += caused;
        faults::end(&daytona).await?;
        if let Some(what) = wrong {
            return Err(broken(round)(what));
        }
    }
    end(&mut callers, folder, &daytona, &keys, options.rounds).await?;
    let conversations = callers.iter().map(|caller| caller.book.len() as u64).sum();
    callers.iter().for_each(|caller| counts.add(&caller.counts));
    daytona.stop().await;
    Ok(Survived { counts, conversations, rounds: options.rounds })
}

/// Lets callers and faults loose on a server and kills it. Gives the callers back, with what the
/// server must not have answered, and how many faults there were.
async fn under_load(
    callers: Vec<Caller>,
    child: Child,
    daytona: &Daytona,
    seed: u64,
    round: u32,
    lives: Duration,
) -> (Vec<Caller>, Option<String>, u64) {
    let address = child.address;
    let tasks: Vec<_> = callers
        .into_iter()
        .map(|mut caller| {
            let mut luck = Stream::new(seed, round, Purpose::Executes, caller.number);
            tokio::spawn(async move {
                let wrong = caller.run(address, &mut luck).await;
                (caller, wrong)
            })
        })
        .collect();
    let mut luck = Stream::new(seed, round, Purpose::Fault, 1);
    let mut caused = 0;
    tokio::select! {
        () = faults::cause(daytona, &mut luck, &mut caused) => {}
        () = tokio::time::sleep(lives) => {}
    }
    // In the background, so that the callers go on until it is really dead.
    let killed = tokio::task::spawn_blocking(move || child.kill());
    let (mut back, mut wrong) = (Vec::new(), None);
    for task in tasks {
        match task.await {
            Ok((caller, what)) => {
                back.push(caller);
                wrong = wrong.or(what);
            }
            Err(defect) => wrong = wrong.or(Some(defect.to_string())),
        }
    }
    let _ = killed.await;
    (back, wrong, caused)
}

/// The last server: nothing fails any more, the books agree, and after its orderly end nothing is
/// left at the provider.
async fn end(
    callers: &mut [Caller],
    folder: &Path,
    daytona: &Daytona,
    keys: &[String],
    rounds: u32,
) -> Result<(), ChaosError> {
    let round = rounds + 1;
    let broken = |what: String| ChaosError::Broken { round, what };
    std::fs::write(folder.join("pool.toml"), config("destroy", daytona))?;
    let child =
        Child::start(folder, daytona).map_err(|error| ChaosError::Server { round, error })?;
    for caller in callers.iter_mut() {
        check::check(caller, child.address).await.map_err(broken)?;
    }
    lists(callers, &child).await.map_err(broken)?;
    settled::books_agree(&child, &keys[1], daytona).await.map_err(broken)?;
    let code = tokio::task::spawn_blocking(move || child.end(Duration::from_secs(60))).await;
    if !matches!(code, Ok(Some(0))) {
        return Err(broken(format!("the last server did not end well: {code:?}")));
    }
    let leaked = settled::leaked(daytona).await?;
    if leaked.is_empty() {
        return Ok(());
    }
    Err(broken(format!("leaked at the provider: {}", leaked.join(", "))))
}

/// Each account's list has its own conversations and no other's.
async fn lists(callers: &[Caller], child: &Child) -> Result<(), String> {
    let of = |odd: u64| -> Vec<&Caller> {
        callers.iter().filter(|caller| caller.number % 2 == odd).collect()
    };
    check::check_list(&of(0), &of(1), child.address).await?;
    check::check_list(&of(1), &of(0), child.address).await
}

async fn new_callers(
    count: u32,
    child: &Child,
    keys: &[String],
) -> Result<Vec<Caller>, ConnectionError> {
    let mut operator = Connection::open(child.address, &keys[0]).await?;
    let added = operator.json("POST", "/v1/admin/accounts", &json!({ "name": "second" })).await?;
    let number = added["number"].as_u64().unwrap_or_default();
    let path = format!("/v1/admin/accounts/{number}/keys");
    let made = operator.json("POST", &path, &json!({ "label": "chaos" })).await?;
    let second = made["key"].as_str().unwrap_or_default().to_owned();
    Ok((0..u64::from(count))
        .map(|number| {
            let key = if number % 2 == 0 { keys[1].clone() } else { second.clone() };
            Caller::new(number, key)
        })
        .collect())
}

/// A provider that takes some hundredths of a second for everything, in real time.
fn provider(seed: u64) -> AccountSettings {
    let soon = Distribution::Uniform { min: 0.005, max: 0.04 };
    let profile = Profile {
        latencies: Latencies { create: soon.clone(), delete: soon, ..Latencies::zero() },
        list_lag: sandpool_core::Span::from_millis(100),
        ..AccountSettings::default().profile
    };
    AccountSettings {
        profile,
        work: WorkLatencies::quick(),
        seed,
        api_key: String::new(),
        ..AccountSettings::default()
    }
}

/// A small pool in a hurry, so that everything happens: borrowing, waiting, reclaiming, idling.
fn config(recovery: &str, daytona: &Daytona) -> String {
    format!(
        "[server]\nmax_sandboxes = 6\nmax_sandboxes_per_account = 2\nborrow_keep_free = 1\n\
         warm_sandboxes = 1\nsandbox_wait_seconds = 1\nidle_seconds = 0.4\n\
         reclaim_idle_seconds = 0.05\nstart_timeout_seconds = 1\nlimbo_hold_seconds = 1\n\
         operation_timeout_seconds = 0.5\nreconcile_seconds = 1\norphan_grace_seconds = 0.5\n\
         full_hold_seconds = 0.5\nbreaker_open_seconds = 0.1\nretry_base_seconds = 0.02\n\
         retry_max_seconds = 0.2\nkeep_alive_seconds = 1\ndrain_grace_seconds = 5\n\
         recovery = \"{recovery}\"\n\n[classes.default]\nprepare = false\n\n\
         [daytona]\napi_url = \"{}\"\npool = \"chaos\"\n",
        daytona.url()
    )
}
