//! Sessions: a shell that stays, and takes one command after the other.
//!
//! The shell reads commands from its standard input and reports each one's exit code on its
//! standard output, which the commands themselves do not see: theirs go through named pipes to
//! files that have a limit, and they read from a named pipe that requests can write to.

use super::capture::{CUT_NOTE, OUTPUT_MOST};
use super::command::code_of;
use super::log::Log;
use super::process_group::kill_group;
use super::workspace::Workspace;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{Mutex as AsyncMutex, watch};

/// Why a session does not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(in crate::daytona_api) enum SessionError {
    /// Its shell has ended.
    #[error("session has ended")]
    Ended,
    /// The command has ended: nothing reads its input.
    #[error("command has already completed")]
    CommandEnded,
    /// There is no such command.
    #[error("command not found")]
    UnknownCommand,
    /// The machine refuses.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A command of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::daytona_api) struct SessionCommand {
    /// Its id.
    pub(in crate::daytona_api) id: String,
    /// As it was asked for.
    pub(in crate::daytona_api) text: String,
    /// `None` while it runs or waits for its turn.
    pub(in crate::daytona_api) exit_code: Option<i32>,
}

#[derive(Debug, Default)]
struct State {
    commands: Vec<SessionCommand>,
    /// The other ends of the commands' inputs, until they end.
    inputs: BTreeMap<String, File>,
    /// What the commands write, to their output and to their error output, until they end.
    logs: BTreeMap<String, [Log; 2]>,
    has_ended: bool,
}

#[derive(Debug)]
struct Shell {
    leader: i32,
    stdin: AsyncMutex<ChildStdin>,
}

/// A shell that stays.
#[derive(Debug)]
pub(in crate::daytona_api) struct Session {
    /// Where the files of its commands are.
    files: PathBuf,
    /// `None` where commands do not run.
    shell: Option<Shell>,
    state: Mutex<State>,
    /// Changes whenever a command or the shell ends.
    ended: watch::Sender<u64>,
}

impl Session {
    /// Starts its shell in the sandbox's home. Blocks. `stops` is how often the sandbox had been stopped
    /// when the request was let in.
    pub(in crate::daytona_api) fn start(
        workspace: &Arc<Workspace>,
        stops: u64,
    ) -> Result<Arc<Self>, SessionError> {
        let files = workspace.private().join(random_id()?);
        let (state, ended) = (Mutex::default(), watch::Sender::new(0));
        if !workspace.runs_commands() {
            return Ok(Arc::new(Self { files, shell: None, state, ended }));
        }
        // Not those above it: where they are gone, so is the sandbox.
        fs::create_dir(&files)?;
        let mut child = workspace
            .process(&workspace.directory().home(), &BTreeMap::new())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).unwrap_or_default();
        if workspace.has_started(leader, stops) {
            workspace.kill_marked();
        }
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the shell has no pipes").into());
        };
        let shell = Some(Shell { leader, stdin: AsyncMutex::new(stdin) });
        let session = Arc::new(Self { files, shell, state, ended });
        let (follower, workspace) = (Arc::clone(&session), Arc::clone(workspace));
        tokio::spawn(async move {
            follower.follow(stdout).await;
            let code = child.wait().await.map_or(-1, code_of);
            workspace.groups.remove(leader);
            follower.end(code).await;
        });
        Ok(session)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the exit codes of commands until the shell has ended.
    async fn follow(&self, stdout: ChildStdout) {
        let mut lines = BufReader::new(stdout).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let told = line.split_once(' ').and_then(|(id, code)| Some((id, code.parse().ok()?)));
            let Some((id, code)) = told else { continue };
            let logs = self.state().logs.remove(id);
            for log in logs.into_iter().flatten() {
                log.drain().await;
            }
            let mut state = self.state();
            state.inputs.remove(id);
            if let Some(command) = state.commands.iter_mut().find(|command| command.id == id) {
                command.exit_code = Some(code);
            }
            drop(state);
            self.ended.send_modify(|times| *times += 1);
        }
    }

    /// The shell has ended: whatever had not, has now.
    async fn end(&self, code: i32) {
        let logs = std::mem::take(&mut self.state().logs);
        for log in logs.into_values().flatten() {
            log.drain().await;
        }
        let mut state = self.state();
        state.has_ended = true;
        state.inputs.clear();
        for command in &mut state.commands {
            command.exit_code.get_or_insert(code);
        }
        drop(state);
        self.ended.send_modify(|times| *times += 1);
    }

    /// Gives the shell a command; the answer is its id.
    pub(in crate::daytona_api) async fn submit(&self, text: &str) -> Result<String, SessionError> {
        let id = random_id()?;
        let Some(shell) = &self.shell else {
            let command =
                SessionCommand { id: id.clone(), text: text.to_owned(), exit_code: Some(0) };
            self.state().commands.push(command);
            return Ok(id);
        };
        let input = self.file(&id, "in");
        mkfifo(&input, Mode::S_IRUSR | Mode::S_IWUSR).map_err(io::Error::from)?;
        // Open for both, so that it waits for nobody, and so that the command sees no end yet.
        let holder = OpenOptions::new().read(true).write(true).open(&input)?;
        let (out, err) = (self.file(&id, "out.pipe"), self.file(&id, "err.pipe"));
        let logs =
            [Log::open(&out, self.file(&id, "out"))?, Log::open(&err, self.file(&id, "err"))?];
        {
            let mut state = self.state();
            if state.has_ended {
                return Err(SessionError::Ended);
            }
            state.inputs.insert(id.clone(), holder);
            state.logs.insert(id.clone(), logs);
            let text = text.to_owned();
            state.commands.push(SessionCommand { id: id.clone(), text, exit_code: None });
        }
        let line = format!(
            "command eval {} <{} >{} 2>{}\necho {id} $?\n",
            quoted(text),
            quoted_path(&input),
            quoted_path(&out),
            quoted_path(&err),
        );
        let written = shell.stdin.lock().await.write_all(line.as_bytes()).await;
        written.map_err(|_| SessionError::Ended)?;
        Ok(id)
    }

    /// Waits until a command has ended; the answer is its exit code.
    pub(in crate::daytona_api) async fn wait_for(&self, id: &str) -> Result<i32, SessionError> {
        let mut ended = self.ended.subscribe();
        loop {
            ended.mark_unchanged();
            let command = self.command(id).ok_or(SessionError::UnknownCommand)?;
            if let Some(code) = command.exit_code {
                return Ok(code);
            }
            // The sender lives as long as the session.
            let _ = ended.changed().await;
        }
    }

    /// Whether its shell has ended.
    pub(in crate::daytona_api) fn has_ended(&self) -> bool {
        self.state().has_ended
    }

    /// Its commands, in the order in which they came.
    pub(in crate::daytona_api) fn commands(&self) -> Vec<SessionCommand> {
        self.state().commands.clone()
    }

    /// One of them.
    pub(in crate::daytona_api) fn command(&self, id: &str) -> Option<SessionCommand> {
        self.state().commands.iter().find(|command| command.id == id).cloned()
    }

    /// What a command wrote to its output and to its error output so far. Blocks.
    pub(in crate::daytona_api) fn output(&self, id: &str) -> io::Result<(String, String)> {
        Ok((read_limited(&self.file(id, "out"))?, read_limited(&self.file(id, "err"))?))
    }

    /// Gives a running command something to read. Waits while the command does not read, and ends
    /// with it.
    pub(in crate::daytona_api) async fn write_input(
        &self,
        id: &str,
        data: &str,
    ) -> Result<(), SessionError> {
        let mut pipe = {
            let state = self.state();
            if !state.inputs.contains_key(id) {
                let is_known = state.commands.iter().any(|command| command.id == id);
                return Err(match is_known {
                    true => SessionError::CommandEnded,
                    false => SessionError::UnknownCommand,
                });
            }
            // An end of its own that never blocks: nobody can be called back from a blocked write,
            // not even by the end of the command. The other end is held while the lock is.
            pipe::OpenOptions::new().open_sender(self.file(id, "in"))?
        };
        tokio::select! {
            written = pipe.write_all(data.as_bytes()) => match written {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    Err(SessionError::CommandEnded)
                }
                written => Ok(written?),
            },
            ended = self.wait_for(id) => Err(ended.err().unwrap_or(SessionError::CommandEnded)),
        }
    }

    /// Kills its shell and whatever runs in it.
    pub(in crate::daytona_api) fn kill(&self) {
        if let Some(shell) = self.shell.as_ref().filter(|_| !self.has_ended()) {
            kill_group(shell.leader);
        }
    }

    fn file(&self, id: &str, kind: &str) -> PathBuf {
        self.files.join(format!("{id}.{kind}"))
    }
}

fn read_limited(path: &Path) -> io::Result<String> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        opened => opened?,
    };
    let mut bytes = Vec::new();
    file.take(OUTPUT_MOST as u64 + 1).read_to_end(&mut bytes)?;
    let is_cut = bytes.len() > OUTPUT_MOST;
    bytes.truncate(OUTPUT_MOST);
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if is_cut {
        text.push_str(CUT_NOTE);
    }
    Ok(text)
}

/// A text as one word of the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn quoted_path(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

/// A random id in the form of a UUID.
fn random_id() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    // Version 4, variant 1, as RFC 9562 has it.
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    Ok(parts.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_text_is_one_word() {
        assert_eq!(quoted("echo 'a' $B"), r"'echo '\''a'\'' $B'");
    }

    #[test]
    fn ids_look_like_uuids_and_differ() {
        let (one, other) = (random_id().expect("random"), random_id().expect("random"));
        assert_ne!(one, other);
        assert_eq!(one.len(), 36);
        assert_eq!(one.as_bytes()[14], b'4');
    }
}
