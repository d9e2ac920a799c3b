//! This program once more, as a server that can be killed.

use std::io::{BufRead, BufReader, Lines};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};
use std::time::Duration;
use tokio::time::Instant;

/// A server that runs. Killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Child {
    process: std::process::Child,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// The operator's key and the first account's, which only the first start on a store shows.
    pub(crate) keys: Vec<String>,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChildError {
    /// The operating system refuses.
    #[error("cannot start a server: {0}")]
    Start(#[from] std::io::Error),
    /// It ended before it listened.
    #[error("the server ended before it listened: {0}")]
    Ended(String),
    /// It said something that is no address.
    #[error("the server listens on {0:?}, which is no address")]
    Address(String),
}

impl Child {
    /// Starts a server on a free port of this machine, with `pool.toml` of the folder as its
    /// configuration, and its store and its log beside it. It speaks to the simulated Daytona.
    ///
    /// Blocks until the server listens.
    pub(crate) fn start(folder: &Path, daytona: &super::Daytona) -> Result<Self, ChildError> {
        let store = folder.join("pool.sqlite");
        let is_first = !store.exists();
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(folder.join("server.log"))?;
        let mut process = Command::new(std::env::current_exe()?)
            .args(["--listen", "127.0.0.1:0", "--config"])
            .arg(folder.join("pool.toml"))
            .arg("--store")
            .arg(store)
            .env("DAYTONA_API_KEY", daytona.key())
            .env_remove("DAYTONA_API_KEY_FILE")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()?;
        let output = process.stdout.take().ok_or_else(|| ended(folder))?;
        let mut lines = BufReader::new(output).lines();
        let told = first_words(&mut lines, is_first, folder);
        let (address, keys) = match told {
            Ok(told) => told,
            Err(error) => {
                let _ = process.kill();
                let _ = process.wait();
                return Err(error);
            }
        };
        // Whatever else it says must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Self { process, address, keys })
    }

    /// Ends it in the middle of whatever it does (SIGKILL), and waits until it is gone.
    pub(crate) fn kill(mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Asks it to end (SIGTERM), and gives its exit code, `None` if it had to be killed because it
    /// took longer than `patience`.
    #[expect(clippy::disallowed_methods, reason = "a real process is waited for")]
    pub(crate) fn end(mut self, patience: Duration) -> Option<i32> {
        let id = i32::try_from(self.process.id()).ok()?;
        let pid = nix::unistd::Pid::from_raw(id);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).ok()?;
        let until = Instant::now() + patience;
        while Instant::now() < until {
            if let Ok(Some(status)) = self.process.try_wait() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }

    /// Memory that it holds now, in bytes (resident set, of `/proc`); `None` where there is no
    /// such file.
    pub(crate) fn memory_bytes(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes * 1_024)
    }

    /// Processor time that it has used.
    pub(crate) fn processor_time(&self) -> Option<Duration> {
        // Fields 14 and 15 of proc_pid_stat(5), counted behind the name in parentheses; in ticks
        // of a hundredth of a second, as Linux has them on every machine of today.
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id())).ok()?;
        let (_, behind) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = behind.split_whitespace().collect();
        let ticks: u64 =
            fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
        Some(Duration::from_millis(ticks * 10))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn first_words(
    lines: &mut Lines<BufReader<ChildStdout>>,
    is_first: bool,
    folder: &Path,
) -> Result<(SocketAddr, Vec<String>), ChildError> {
    let mut address = None;
    let mut keys = Vec::new();
    for line in lines {
        let line = line?;
        if let Some(url) = line.strip_prefix("sandpool-server listens on http://") {
            let at = url.parse().map_err(|_| ChildError::Address(url.to_owned()))?;
            address = Some(at);
        }
        // "  operator  sp_...": the lines that show how to use them have more in front.
        let mut words = line.split_whitespace().skip(1);
        keys.extend(words.next().filter(|word| word.starts_with("sp_")).map(str::to_owned));
        if let Some(address) = address
            && (!is_first || keys.len() == 2)
        {
            return Ok((address, keys));
        }
    }
    Err(ended(folder))
}

/// What the log says at its end.
fn ended(folder: &Path) -> ChildError {
    let log = std::fs::read_to_string(folder.join("server.log")).unwrap_or_default();
    let tail: Vec<&str> = log.lines().rev().take(5).collect();
    ChildError::Ended(tail.into_iter().rev().collect::<Vec<_>>().join("\n"))
}
