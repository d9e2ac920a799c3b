//! `daytona`: the simulated Daytona, served over HTTP.

use super::examples;
use super::failure::Failure;
use super::input::{load_one, variant_index};
use clap::{Args, ValueEnum};
use sandpool_sim::{
    AccountSettings, ApiLimit, ApiLimits, CommandExecution, DaytonaApi, DaytonaApiOptions,
    StartError, WorkLatencies,
};
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use tokio::signal::unix::{SignalKind, signal};

/// Serve the simulated Daytona over Daytona's own HTTP API
///
/// WARNING: commands of its sandboxes really run, as processes of this machine and with the rights
/// of whoever starts this. It is a tool for development and no security boundary: run nothing in it
/// that you would not run in a terminal. Whoever has the key can run commands.
#[derive(Args, Debug)]
#[command(after_help = examples!("  sandpool-sim daytona
  sandpool-sim daytona --listen 127.0.0.1:0 --api-key dtn_test --exec none
  sandpool-sim daytona --scenario scenarios/rush-hour.toml --speed 10
  DAYTONA_API_URL=http://127.0.0.1:3986/api DAYTONA_API_KEY=dtn_test python3 my_agent.py"))]
pub(crate) struct Arguments {
    /// Where to listen; port 0 is any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:3986")]
    listen: SocketAddr,
    /// Listen also where other machines can reach it: whoever has the key can then run commands
    /// on this one
    #[arg(long)]
    allow_any_address: bool,
    /// Take latencies, faults and quota from a scenario's `[provider]`; without one all is quick
    /// and nothing fails
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// The variant of the scenario; without one the first
    #[arg(long, value_name = "NAME", requires = "scenario")]
    variant: Option<String>,
    /// So many times as fast as the clock on the wall; commands run no faster
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    speed: f64,
    /// The key that opens it; without one it is made up and printed
    #[arg(long, value_name = "KEY", env = "SANDPOOL_DAYTONA_KEY", hide_env_values = true)]
    api_key: Option<String>,
    /// What becomes of commands
    #[arg(long, value_enum, default_value_t = Exec::Local)]
    exec: Exec,
    /// Creates, life-cycle calls, other calls and failed logins a minute, in this order
    #[arg(long, value_name = "N,N,N,N", value_parser = four_numbers)]
    limits: Option<[u32; 4]>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Exec {
    /// They run on this machine
    Local,
    /// They do not run: each ends at once with exit code 0 and no output
    None,
}

pub(crate) fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let mut account = AccountSettings::default();
    if let Some(path) = &arguments.scenario {
        let scenario = load_one(path, &[])?.scenario;
        account.seed = scenario.seed;
        let variant = variant_index(&scenario.variants, arguments.variant.as_deref())?;
        let profile = scenario.variants[variant].provider.clone();
        account.limits = ApiLimits {
            create: per_minute(profile.rate_limits.creates),
            lifecycle: per_minute(profile.rate_limits.lifecycle),
            ..ApiLimits::default()
        };
        account.profile = profile;
        account.work = WorkLatencies::default();
    }
    if let Some([create, lifecycle, authenticated, failed_auth]) = arguments.limits {
        account.limits = ApiLimits {
            create: per_minute(create),
            lifecycle: per_minute(lifecycle),
            authenticated: per_minute(authenticated),
            failed_auth: per_minute(failed_auth),
            anonymous: None,
        };
    }
    account.api_key = arguments.api_key.clone().unwrap_or_default();
    let execution = match arguments.exec {
        Exec::Local => CommandExecution::Local,
        Exec::None => CommandExecution::None,
    };
    let options = DaytonaApiOptions {
        listen: arguments.listen,
        allow_any_address: arguments.allow_any_address,
        speed: arguments.speed,
        execution,
        account,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve(options, out))
}

async fn serve(options: DaytonaApiOptions, out: &mut dyn Write) -> Result<(), Failure> {
    let execution = options.execution;
    // Asked for before anybody can know that it runs: from then on a signal must not just end it.
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let api = DaytonaApi::start(options).await.map_err(failure)?;
    let what = match execution {
        CommandExecution::Local => {
            "COMMANDS RUN ON THIS MACHINE, with your rights: no security boundary"
        }
        CommandExecution::None => "commands do not run",
    };
    writeln!(out, "SIMULATED Daytona at {} ({what})", api.url())?;
    writeln!(out, "DAYTONA_API_URL={}", api.url())?;
    writeln!(out, "DAYTONA_API_KEY={}", api.api_key())?;
    out.flush()?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = hang_up.recv() => {}
        _ = interrupt.recv() => {}
    }
    api.stop().await;
    Ok(())
}

fn failure(error: StartError) -> Failure {
    let hint = match &error {
        StartError::NotLoopback(_) => {
            "\n  hint: --allow-any-address insists; whoever has the key can then run commands here"
        }
        StartError::Listen { .. } => "\n  hint: --listen 127.0.0.1:0 takes any free port",
        _ => "",
    };
    let text = format!("{}{hint}", describe(&error));
    match error {
        StartError::NotLoopback(_) | StartError::Speed(_) => Failure::Usage(text),
        _ => Failure::Machine(text),
    }
}

fn four_numbers(text: &str) -> Result<[u32; 4], String> {
    let numbers: Result<Vec<u32>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let numbers = numbers.map_err(|error| error.to_string())?;
    numbers.try_into().map_err(|_| "wants four numbers with commas between".to_owned())
}

fn per_minute(limit: u32) -> Option<ApiLimit> {
    (limit < u32::MAX).then_some(ApiLimit { limit, window_seconds: 60 })
}

/// An error with what caused it.
fn describe(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}
