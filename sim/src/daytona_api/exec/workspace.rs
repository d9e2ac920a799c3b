//! What one sandbox has on this machine: its directory and its processes.

use super::directory::{Directory, remove_tree};
use super::environment::environment;
use super::leftovers::{Wanted, kill_leftovers};
use super::process_group::{ProcessGroups, kill_group};
use super::session::Session;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is beside the sandbox's own files.
const PRIVATE: &str = "private";

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
    /// The stops of its sandbox up to which everything was killed, once one was looked at.
    followed_stops: Mutex<Option<u32>>,
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
        std::fs::create_dir(base.join(PRIVATE))?;
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
            followed_stops: Mutex::default(),
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
        self.base.join(PRIVATE)
    }

    /// The stops of its sandbox up to which everything was killed. While it is held, nobody is let
    /// in who would run something that the killing under way takes for older.
    pub(super) fn followed_stops(&self) -> MutexGuard<'_, Option<u32>> {
        self.followed_stops.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A process was started that leads a group. `stops` is how often the workspace had been stopped
    /// when it was let in. Says whether there was a stop since: then it is killed already, and
    /// [`Workspace::kill_marked`] must follow.
    ///
    /// Either a stop sees the group, or the stop is seen here.
    #[must_use]
    pub(super) fn has_started(&self, leader: i32, stops: u64) -> bool {
        self.groups.add(leader);
        self.has_run.store(true, Ordering::SeqCst);
        let is_late = self.stops() != stops;
        if is_late {
            kill_group(leader);
        }
        is_late
    }

    /// Kills every process that bears the sandbox's mark: what started too late for a stop may have
    /// left its group, and nobody may look again. Blocks.
    pub(super) fn kill_marked(&self) {
        kill_leftovers(&Wanted {
            root: &self.base,
            mark: &self.mark,
            sandbox: &|rest| rest.is_empty(),
            had_group: &|_, _| false,
        });
    }

    /// Its sessions.
    pub(in crate::daytona_api) fn sessions(
        &self,
    ) -> MutexGuard<'_, BTreeMap<String, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Kills the commands under way with their process groups, but nothing that they left behind.
    pub(super) fn stop_groups(&self) {
        self.stops.fetch_add(1, Ordering::SeqCst);
        self.sessions().clear();
        self.groups.kill_all();
    }

    /// Whether it has run anything since this was asked last, so that something may be left of it.
    pub(super) fn take_has_run(&self) -> bool {
        self.has_run.swap(false, Ordering::SeqCst)
    }

    /// Removes its directory. Blocks.
    pub(super) fn remove_directory(&self) -> io::Result<()> {
        remove_tree(&self.base)
    }
}
