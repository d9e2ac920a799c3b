//! All sandboxes' directories and processes on this machine, and how they are cleaned up.

use super::directory::remove_tree;
use super::guardian::Guardian;
use super::leftovers::{Wanted, kill_leftovers};
use super::workspace::Workspace;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What becomes of commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommandExecution {
    /// They run as processes of this machine, with the rights of whoever runs the server.
    #[default]
    Local,
    /// They do not run; each ends at once with exit code 0 and no output. Files are kept all the
    /// same.
    None,
}

/// Why sandboxes cannot have directories here.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The directory for all of them cannot be made.
    #[error("cannot make a directory in {}", parent.display())]
    Directory {
        /// Where.
        parent: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The process that cleans up behind a killed server cannot be started.
    #[error("cannot start the shell that cleans up behind a killed server")]
    Guardian(#[source] io::Error),
}

/// All directories and processes of all sandboxes. When it is dropped they are gone.
#[derive(Debug)]
pub(in crate::daytona_api) struct Host {
    root: PathBuf,
    /// The start of every sandbox's mark: the name of the directory, which is unique.
    mark: String,
    execution: CommandExecution,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    workspaces: BTreeMap<String, Arc<Workspace>>,
    /// `None` once everything is cleaned up.
    guardian: Option<Guardian>,
}

impl Host {
    /// Makes the directory for all of them, in that for temporary files.
    pub(in crate::daytona_api) fn start(execution: CommandExecution) -> Result<Self, HostError> {
        let parent = std::env::temp_dir();
        let root = tempfile::Builder::new()
            .prefix("sandpool-daytona-")
            .tempdir_in(&parent)
            .and_then(|made| made.path().canonicalize().map(|_| made.keep()))
            .and_then(|kept| kept.canonicalize())
            .map_err(|source| HostError::Directory { parent, source })?;
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
        let mark = format!("{}/", name.unwrap_or_default());
        let guardian = Guardian::start(&mark, &root).map_err(|error| {
            // It is empty, and there is nothing to be done if it stays.
            let _ = remove_tree(&root);
            HostError::Guardian(error)
        })?;
        let state = State { workspaces: BTreeMap::new(), guardian: Some(guardian) };
        Ok(Self { root, mark, execution, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where all of them lie.
    pub(in crate::daytona_api) fn root(&self) -> &Path {
        &self.root
    }

    /// What a sandbox has here, made now if it had nothing yet. Blocks.
    ///
    /// # Errors
    /// When its directory cannot be made, or everything has been cleaned up already.
    pub(in crate::daytona_api) fn workspace(
        &self,
        id: &str,
        env: &BTreeMap<String, String>,
    ) -> io::Result<Arc<Workspace>> {
        let mut state = self.state();
        if let Some(workspace) = state.workspaces.get(id) {
            return Ok(Arc::clone(workspace));
        }
        if state.guardian.is_none() {
            return Err(io::Error::other("the server is stopping"));
        }
        let workspace = Arc::new(Workspace::create(
            self.root.join(id),
            id,
            format!("{}{id}", self.mark),
            env.clone(),
            self.execution == CommandExecution::Local,
        )?);
        state.workspaces.insert(id.to_owned(), Arc::clone(&workspace));
        Ok(workspace)
    }

    /// What every sandbox has that has anything here.
    pub(in crate::daytona_api) fn workspaces(&self) -> Vec<Arc<Workspace>> {
        self.state().workspaces.values().cloned().collect()
    }

    /// Sandboxes have ended: what they ran is killed, and of those that are gone the directories are
    /// removed. Blocks.
    ///
    /// # Errors
    /// When a directory cannot be removed; the others are all the same.
    pub(in crate::daytona_api) fn end(
        &self,
        stopped: &[Arc<Workspace>],
        gone: &[Arc<Workspace>],
    ) -> io::Result<()> {
        let mut ran = BTreeSet::new();
        for workspace in stopped.iter().chain(gone) {
            workspace.stop_groups();
            if workspace.take_has_run() {
                ran.insert(workspace.id());
            }
        }
        if !ran.is_empty() {
            let all = || stopped.iter().chain(gone);
            self.kill_leftovers(&|id| ran.contains(id), &|id, group| {
                all().any(|workspace| workspace.id() == id && workspace.groups.had(group))
            });
        }
        let mut ended = Ok(());
        for workspace in gone {
            let removed = workspace.remove_directory();
            if removed.is_ok() {
                self.state().workspaces.remove(workspace.id());
            }
            ended = ended.and(removed);
        }
        ended
    }

    fn kill_leftovers(
        &self,
        sandbox: &dyn Fn(&str) -> bool,
        had_group: &dyn Fn(&str, i32) -> bool,
    ) {
        kill_leftovers(&Wanted { root: &self.root, mark: &self.mark, sandbox, had_group });
    }

    /// A sandbox that is started has been stopped so often: what was started in it before the last
    /// of these stops is killed, whether anybody saw that stop or not. Says whether there was such
    /// a stop. Blocks.
    pub(in crate::daytona_api) fn follow(&self, workspace: &Arc<Workspace>, stops: u32) -> bool {
        let mut followed = workspace.followed_stops();
        let is_over = followed.is_some_and(|followed| followed != stops);
        if is_over {
            // Nothing is removed, so nothing can fail.
            let _ = self.end(&[Arc::clone(workspace)], &[]);
        }
        *followed = Some(stops);
        is_over
    }

    /// Kills every process and removes every directory. Blocks. Nothing can be made afterwards.
    pub(in crate::daytona_api) fn shut_down(&self) {
        let mut state = self.state();
        let Some(mut guardian) = state.guardian.take() else { return };
        for workspace in state.workspaces.values() {
            workspace.stop_groups();
        }
        let workspaces = std::mem::take(&mut state.workspaces);
        // Every mark starts with this one: all that is left is found in one look.
        self.kill_leftovers(&|_| true, &|id, group| {
            workspaces.get(id).is_some_and(|workspace| workspace.groups.had(group))
        });
        match remove_tree(&self.root) {
            Ok(()) => guardian.dismiss(),
            // It tries again when it is let go without a word.
            Err(_) => drop(guardian),
        }
    }
}

impl Drop for Host {
    /// As [`Host::shut_down`]: blocks until everything is gone.
    fn drop(&mut self) {
        self.shut_down();
    }
}
