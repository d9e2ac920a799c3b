//! Starting and stopping the simulated Daytona in this process.

use super::connection::serve;
use super::control_plane::ControlPlane;
use super::exec::{CommandExecution, Host, HostError};
use super::real_time::{Live, wall_clock_ms};
use super::routes::router;
use super::toolbox::{self, Toolbox, watch};
use crate::daytona::{Account, AccountSettings};
use axum::extract::DefaultBodyLimit;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// How to start it.
#[derive(Clone, Debug)]
pub struct DaytonaApiOptions {
    /// Where to listen; port 0 is any free one.
    pub listen: SocketAddr,
    /// Listen on an address that other machines can reach. Whoever has the key can then run commands
    /// on this one.
    pub allow_any_address: bool,
    /// So many times as fast as the clock on the wall its time passes; more than 0.
    pub speed: f64,
    /// What becomes of commands.
    pub execution: CommandExecution,
    /// The account. Its `epoch_ms` is set to the time at which it is started; an empty `api_key` is
    /// replaced by a random one.
    pub account: AccountSettings,
}

impl Default for DaytonaApiOptions {
    /// A free port of this machine alone, in real time.
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            allow_any_address: false,
            speed: 1.0,
            execution: CommandExecution::default(),
            account: AccountSettings { api_key: String::new(), ..AccountSettings::default() },
        }
    }
}

/// Why it could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// Which.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Other machines could reach the address, and that was not asked for.
    #[error("{0} can be reached from other machines")]
    NotLoopback(SocketAddr),
    /// The operating system gives no random numbers for a key.
    #[error("cannot make a random key")]
    Key(#[source] io::Error),
    /// Sandboxes cannot have directories here.
    #[error("cannot keep the files of sandboxes")]
    Host(#[from] HostError),
    /// Time that stands still or runs backwards.
    #[error("speed {0} is not more than 0")]
    Speed(f64),
}

/// A simulated Daytona that is being served. Dropping it stops it.
#[derive(Debug)]
pub struct DaytonaApi {
    address: SocketAddr,
    api_key: String,
    live: Arc<Live>,
    host: Arc<Host>,
    tasks: Vec<JoinHandle<()>>,
}

impl DaytonaApi {
    /// Starts it. It is reachable when this returns.
    ///
    /// # Errors
    /// When the address cannot be listened on or is not this machine's alone, the speed is not more
    /// than zero, or there is no place for the sandboxes' files.
    pub async fn start(options: DaytonaApiOptions) -> Result<Self, StartError> {
        let address = options.listen;
        if options.speed.is_nan() || options.speed <= 0.0 {
            return Err(StartError::Speed(options.speed));
        }
        let listen = |source| StartError::Listen { address, source };
        if !address.ip().is_loopback() && !options.allow_any_address {
            return Err(StartError::NotLoopback(address));
        }
        let api_key = match options.account.api_key.as_str() {
            "" => Self::random_key().map_err(StartError::Key)?,
            key => key.to_owned(),
        };
        let host = Arc::new(Host::start(options.execution)?);
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let settings = AccountSettings {
            api_key: api_key.clone(),
            epoch_ms: wall_clock_ms(),
            ..options.account
        };
        let mut account = Account::new(settings);
        account.set_base_urls(
            format!("http://{address}/toolbox"),
            format!("http://{address}/preview"),
        );
        let live = Arc::new(Live::new(account, options.speed));
        let driver = tokio::spawn(Arc::clone(&live).drive());
        let control_plane: Arc<dyn ControlPlane> = Arc::clone(&live) as Arc<dyn ControlPlane>;
        let toolbox = Arc::new(Toolbox { control_plane, host: Arc::clone(&host) });
        let watcher = tokio::spawn(watch(Arc::clone(&toolbox)));
        let routes = router(Arc::clone(&live))
            .nest("/toolbox/{sandbox}", toolbox::router(toolbox))
            .layer(DefaultBodyLimit::disable());
        let server = tokio::spawn(serve(listener, routes));
        Ok(Self { address, api_key, live, host, tasks: vec![driver, watcher, server] })
    }

    /// A key that nobody can guess.
    fn random_key() -> Result<String, io::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(format!("dtn_{}", hex.concat()))
    }

    /// Where it is reachable.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL that a client of Daytona is given.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/api", self.address)
    }

    /// The key that opens it.
    #[must_use]
    pub fn api_key(&self) -> &str {
        &self.api_key
    }

    /// The account behind it, as tests want to see and change it.
    #[must_use]
    pub fn live(&self) -> &Arc<Live> {
        &self.live
    }

    /// Where the files of its sandboxes are while it runs.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.host.root()
    }

    /// Stops it and waits until it is not reachable any more and nothing of its
    /// sandboxes is left.
    pub async fn stop(mut self) {
        for task in std::mem::take(&mut self.tasks) {
            task.abort();
            // It was aborted, which is what it answers.
            let _ = task.await;
        }
        let host = Arc::clone(&self.host);
        // It panics only where it has been reported, and dropping it cleans up too.
        let _ = tokio::task::spawn_blocking(move || host.shut_down()).await;
    }
}

impl Drop for DaytonaApi {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
        // Requests under way may hold the host for a while yet: its processes must go now.
        self.host.shut_down();
    }
}
