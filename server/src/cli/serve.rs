//! Serving: put together from the configuration, and taken apart again at the end.

use super::Failure;
use super::first_start::first_start;
use crate::api::{App, router};
use crate::clock::InstanceClock;
use crate::config::Settings;
use crate::context::ContextRules;
use crate::engine::{Commit, Engine, ProviderHands};
use crate::metrics::{Fold, Metrics};
use crate::provider::{Daytona, DaytonaOptions, Pool, SandboxProvider};
use crate::service::{Service, retain};
use crate::store::{Recovery, SqliteOptions, SqliteStore, Store};
use axum::serve::ListenerExt;
use clap::Args;
use sandpool_core::{ClassId, SandboxName};
use sandpool_sim::DaytonaApi;
use secrecy::SecretString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

#[derive(Args, Debug)]
pub(super) struct Arguments {
    /// The configuration file; without one everything has its default
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where to listen, in place of the file's `[http] listen`
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// The store, in place of the file's `[store] file`
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Log lines as JSON
    #[arg(long)]
    log_json: bool,
}

/// Where sandboxes come from.
enum Source {
    Real(SecretString),
    Simulated(DaytonaApi),
}

pub(super) fn execute(arguments: &Arguments) -> Result<(), Failure> {
    let mut settings = super::settings(arguments.config.as_ref())?;
    if let Some(listen) = arguments.listen {
        settings.http.listen = listen;
    }
    if let Some(file) = &arguments.store {
        settings.store.file.clone_from(file);
    }
    start_logging(arguments.log_json);
    // The ring provider is installed once, before any client is made.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::CannotStart(error.to_string()))?;
    let done = runtime.block_on(serve(settings));
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    done
}

fn start_logging(json: bool) {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn,sandpool_server=info"));
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // Only the first call of a process counts.
    let _ = if json { lines.json().try_init() } else { lines.try_init() };
}

/// The key: from `DAYTONA_API_KEY`, or from the file that `DAYTONA_API_KEY_FILE` names. Never from
/// a flag, which other users of the machine can see.
fn daytona_key() -> Result<Option<SecretString>, Failure> {
    if let Ok(key) = std::env::var("DAYTONA_API_KEY")
        && !key.trim().is_empty()
    {
        return Ok(Some(key.trim().to_owned().into()));
    }
    let Some(file) = std::env::var_os("DAYTONA_API_KEY_FILE") else { return Ok(None) };
    let text = std::fs::read_to_string(&file).map_err(|error| {
        Failure::CannotStart(format!("cannot read {}: {error}", PathBuf::from(file).display()))
    })?;
    let key = text.trim();
    if key.is_empty() {
        return Err(Failure::CannotStart("DAYTONA_API_KEY_FILE names an empty file".to_owned()));
    }
    Ok(Some(key.to_owned().into()))
}

async fn serve(settings: Settings) -> Result<(), Failure> {
    let cannot = |text: String| Failure::CannotStart(text);
    let mut terminate = signal(SignalKind::terminate()).map_err(|e| cannot(e.to_string()))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|e| cannot(e.to_string()))?;
    let source = source(&settings).await?;
    let templates = crate::provider_templates(&settings).map_err(Failure::Mistakes)?;
    let pool = Pool::new(&settings.daytona.pool).map_err(|e| cannot(e.to_string()))?;
    let (url, key) = match &source {
        Source::Real(key) => (settings.daytona.api_url.clone(), key.clone()),
        Source::Simulated(api) => (api.url().to_owned(), api.api_key().to_owned().into()),
    };
    let mut options = DaytonaOptions::new(url, key, pool, templates);
    options.target.clone_from(&settings.daytona.target);
    let provider: Arc<dyn SandboxProvider> =
        Arc::new(Daytona::new(options).map_err(|error| cannot(error.to_string()))?);

    let store = SqliteStore::open(&settings.store.file, SqliteOptions::default())
        .map_err(|error| cannot(with_hint(&error)))?;
    let store: Arc<dyn Store> = Arc::new(store);
    let recovery = store.recovery().await.map_err(|error| cannot(with_hint(&error)))?;
    let first = first_start(store.as_ref(), &recovery).await.map_err(cannot)?;
    let commit: Commit = Box::new({
        let store = Arc::clone(&store);
        move |batch| store.commit(batch)
    });
    let config = settings.policy.config.clone();
    let classes: Vec<String> = config.classes.iter().map(|class| class.name.clone()).collect();
    let left = left_by_earlier(&recovery, &classes);
    let metrics = Metrics::new();
    let fold = Fold::new(Arc::clone(&metrics), settings.prices, config.clone());
    let hands =
        ProviderHands::new(Arc::clone(&provider), Arc::clone(&metrics), recovery.epoch + 1, left);
    let clock = InstanceClock::start();
    let started = Engine::start(config, &recovery, commit, Arc::new(hands), clock, fold);
    // Nobody sees what the last instance left open as if it still were.
    started.engine.safe().await.map_err(|error| cannot(error.to_string()))?;
    let rules = ContextRules { tool_output_bytes: settings.history.tool_output_bytes as usize };
    let retaining = tokio::spawn(retain(Arc::clone(&store), settings.store.keep_journal_lines));
    let service =
        Service::new(started.engine.clone(), store, provider, started.open, classes, rules);
    let app = App::new(service, settings.http.clone(), metrics);
    let is_draining = Arc::clone(&app.is_draining);

    let listener = TcpListener::bind(settings.http.listen)
        .await
        .map_err(|error| cannot(format!("cannot listen on {}: {error}", settings.http.listen)))?;
    let address = listener.local_addr().map_err(|error| cannot(error.to_string()))?;
    announce(address, &source, settings.simulated.run_commands, first.as_ref());

    let engine = started.engine;
    let mut running = started.running;
    let shutdown = Arc::new(tokio::sync::Notify::new());
    let stopped = Arc::clone(&shutdown);
    let server = tokio::spawn(async move {
        // An answer is one small packet: it is not held back to be sent with the next one.
        let listener = listener.tap_io(|stream| {
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "cannot set TCP_NODELAY");
            }
        });
        axum::serve(listener, router(app))
            .with_graceful_shutdown(async move { stopped.notified().await })
            .await
    });
    let failed = tokio::select! {
        _ = terminate.recv() => None,
        _ = interrupt.recv() => None,
        ended = &mut running => Some(ended),
    };
    if let Some(ended) = failed {
        let why = match ended {
            Ok(Ok(())) => "the engine ended by itself".to_owned(),
            Ok(Err(error)) => with_hint(&error),
            Err(defect) => defect.to_string(),
        };
        return Err(Failure::Failed(why));
    }
    eprintln!("shutting down: nothing new is taken on, everybody is answered");
    is_draining.store(true, Ordering::Release);
    let leave = settings.policy.config.recovery == sandpool_core::Recovery::Adopt;
    let drained = engine.drain(leave);
    let longest = settings.policy.config.drain_grace.as_secs_f64() + 30.0;
    let in_time = tokio::time::timeout(std::time::Duration::from_secs_f64(longest), drained).await;
    shutdown.notify_one();
    retaining.abort();
    drop(engine);
    // Streams have no end of their own.
    let _ = tokio::time::timeout(std::time::Duration::from_secs(2), server).await;
    if let Source::Simulated(api) = source {
        api.stop().await;
    }
    match in_time {
        Ok(_) => Ok(()),
        Err(_) => Err(Failure::Failed(
            "the provider did not confirm every delete in time; the next start sees to the rest"
                .to_owned(),
        )),
    }
}

async fn source(settings: &Settings) -> Result<Source, Failure> {
    if let Some(key) = daytona_key()? {
        return Ok(Source::Real(key));
    }
    if !settings.http.listen.ip().is_loopback() {
        return Err(Failure::CannotStart(format!(
            "no DAYTONA_API_KEY, and {} can be reached by other machines\n  \
             hint: without a key commands would run on this machine; set DAYTONA_API_KEY, or \
             listen on loopback",
            settings.http.listen
        )));
    }
    let options = settings.simulated.options().map_err(Failure::Mistakes)?;
    let api = DaytonaApi::start(options)
        .await
        .map_err(|error| Failure::CannotStart(error.to_string()))?;
    Ok(Source::Simulated(api))
}

/// Sandboxes of earlier instances that may exist, and their classes as they are numbered now.
fn left_by_earlier(recovery: &Recovery, classes: &[String]) -> Vec<(SandboxName, ClassId)> {
    let class = |name: &str| {
        let index = classes.iter().position(|class| class == name).unwrap_or(0);
        ClassId(u16::try_from(index).unwrap_or(0))
    };
    recovery.sandboxes.iter().map(|sandbox| (sandbox.name, class(&sandbox.class))).collect()
}

fn with_hint(error: &crate::store::StoreError) -> String {
    match error.hint() {
        Some(hint) => format!("{error}\n  hint: {hint}"),
        None => error.to_string(),
    }
}

fn announce(
    address: SocketAddr,
    source: &Source,
    runs_commands: bool,
    first: Option<&super::first_start::FirstKeys>,
) {
    if let Source::Simulated(api) = source {
        println!(
            "SIMULATED Daytona at {}: {}",
            api.url(),
            if runs_commands {
                "COMMANDS RUN ON THIS MACHINE, with your rights."
            } else {
                "commands do not run."
            }
        );
        println!(
            "It is for trying things out and no security boundary. Set DAYTONA_API_KEY for the real one."
        );
    }
    println!("sandpool-server listens on http://{address}");
    let Some(first) = first else { return };
    println!("\nThe first start made two keys, which are shown this once:");
    println!("  operator  {}", first.operator.reveal());
    println!("  default   {}", first.account.reveal());
    println!("\nTry it:");
    println!("  KEY={}", first.account.reveal());
    println!(
        "  ID=$(curl -s -XPOST http://{address}/v1/conversations -H \"Authorization: Bearer $KEY\" -H 'Content-Type: application/json' -d '{{}}' | sed 's/.*\"id\":\"\\([^\"]*\\)\".*/\\1/')"
    );
    println!(
        "  curl -s -XPOST http://{address}/v1/conversations/$ID/execute -H \"Authorization: Bearer $KEY\" -H 'Content-Type: application/json' -d '{{\"command\":\"echo hello\"}}'"
    );
}
