//! `daytona`: the simulated Daytona, served over HTTP.

use super::examples;
use super::failure::Failure;
use super::input::{load_one, variant_index};
use clap::Args;
use sandpool_sim::{
    AccountSettings, ApiLimit, ApiLimits, DaytonaApi, DaytonaApiOptions, WorkLatencies,
};
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Serve the simulated Daytona over Daytona's own HTTP API
#[derive(Args, Debug)]
#[command(after_help = examples!("  sandpool-sim daytona --listen 127.0.0.1:3986 --api-key dtn_test
  sandpool-sim daytona --scenario scenarios/rush-hour.toml --speed 10"))]
pub(crate) struct Arguments {
    /// Where to listen; port 0 is any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:3986")]
    listen: SocketAddr,
    /// Take latencies, faults and quota from a scenario's `[provider]`; without one all is quick
    /// and nothing fails
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// The variant of the scenario; without one the first
    #[arg(long, value_name = "NAME", requires = "scenario")]
    variant: Option<String>,
    /// So many times as fast as the clock on the wall
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    speed: f64,
    /// The key that opens it; without one it is made up and printed
    #[arg(long, value_name = "KEY")]
    api_key: Option<String>,
    /// Creates, life-cycle calls, other calls and failed logins a minute, in this order
    #[arg(long, value_name = "N,N,N,N", value_parser = four_numbers)]
    limits: Option<[u32; 4]>,
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
    account.api_key = match &arguments.api_key {
        Some(key) => key.clone(),
        None => DaytonaApi::random_key().map_err(|error| Failure::Machine(error.to_string()))?,
    };
    let options = DaytonaApiOptions { listen: arguments.listen, speed: arguments.speed, account };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let api =
            DaytonaApi::start(options).await.map_err(|error| Failure::Machine(describe(&error)))?;
        writeln!(out, "a simulated Daytona is served at {}", api.url())?;
        writeln!(out, "DAYTONA_API_URL={}", api.url())?;
        writeln!(out, "DAYTONA_API_KEY={}", api.api_key())?;
        out.flush()?;
        tokio::signal::ctrl_c().await?;
        api.stop().await;
        Ok(())
    })
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
