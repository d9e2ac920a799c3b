//! What one sandbox has on this machine: its directory and its processes.

use super::directory::{Directory, remove_tree};
use super::environment::environment;
use super::leftovers::kill_leftovers;
use super::process_group::ProcessGroups;
use super::session::Session;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A sandbox's directory and processes.
#[derive(Debug)]
pub(in crate::daytona_api) struct Workspace {
    id: String,
    mark: String,
    base: PathBuf,
    directory: Directory,
    env: BTreeMap<String, String>,
    runs_commands: bool,
    pub(super) groups: ProcessGroups,
    /// Rises whenever its processes are killed: what was let in before must not start after.
    stops: AtomicU64,
    has_run: AtomicBool,
    sessions: Mutex<BTreeMap<String, Arc<Session>>>,
}

impl Workspace {
    /// Makes its directory below `base`. `mark` is in the environment of all its processes, `env`
    /// what the sandbox was created with.
    pub(super) fn create(
        base: PathBuf,
        id: &str,
        mark: String,
        env: BTreeMap<String, String>,
        runs_commands: bool,
    ) -> io::Result<Self> {
        let directory = Directory::create(base.join("fs"))?;
        Ok(Self {
            id: id.to_owned(),
            mark,
            base,
            directory,
            env,
            runs_commands,
            groups: ProcessGroups::default(),
            stops: AtomicU64::new(0),
            has_run: AtomicBool::new(false),
            sessions: Mutex::default(),
        })
    }

    /// The sandbox's id.
    pub(in crate::daytona_api) fn id(&self) -> &str {
        &self.id
    }

    /// Its files.
    pub(in crate::daytona_api) fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Whether commands really run. If not, they all end at once with nothing to say.
    pub(in crate::daytona_api) fn runs_commands(&self) -> bool {
        self.runs_commands
    }

    /// How often its processes have been killed.
    pub(in crate::daytona_api) fn stops(&self) -> u64 {
        self.stops.load(Ordering::SeqCst)
    }

    /// The environment of a command.
    pub(super) fn environment(
        &self,
        request: &BTreeMap<String, String>,
    ) -> BTreeMap<String, String> {
        let (home, temporary) = (self.directory.home(), self.directory.temporary());
        environment(&home, &temporary, &self.mark, &self.env, request)
    }

    /// The directory of this machine that a request names as the one to work in; home without one.
    ///
    /// A directory of the sandbox is preferred. One that the sandbox does not have but this machine
    /// has is taken as it is: commands are not locked in anyway.
    pub(super) fn working_directory(&self, asked: Option<&str>) -> PathBuf {
        let Some(asked) = asked.filter(|asked| !asked.is_empty()) else {
            return self.directory.home();
        };
        let own = self.directory.root().join(self.directory.inside(asked));
        if !own.is_dir() && asked.starts_with('/') { PathBuf::from(asked) } else { own }
    }

    /// Where files that are not the sandbox's own may be put, such as those of its sessions.
    pub(super) fn private(&self) -> PathBuf {
        self.base.join("private")
    }

    /// Remembers that it has run something.
    pub(super) fn note_run(&self) {
        self.has_run.store(true, Ordering::SeqCst);
    }

    /// Its sessions.
    pub(in crate::daytona_api) fn sessions(
        &self,
    ) -> MutexGuard<'_, BTreeMap<String, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Kills everything that it runs. Blocks for as long as that takes, which is not long.
    pub(super) fn stop(&self) {
        self.stop_groups();
        if self.has_run.swap(false, Ordering::SeqCst) {
            kill_leftovers(&self.mark, &self.base);
        }
    }

    /// Kills the commands under way with their process groups, but nothing that they left behind.
    pub(super) fn stop_groups(&self) {
        self.stops.fetch_add(1, Ordering::SeqCst);
        self.sessions().clear();
        self.groups.kill_all();
    }

    /// Kills everything that it runs and removes its directory.
    pub(super) fn remove(&self) -> io::Result<()> {
        self.stop();
        remove_tree(&self.base)
    }
}
