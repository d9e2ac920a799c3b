//! What a command of a session writes, on its way from a named pipe to a file that has a limit.
//!
//! The command writes to a pipe that is always read, so that it is never blocked and never told
//! that nobody reads, however much it writes; the file keeps the beginning. What the command left
//! behind in the background may go on writing.

use super::capture::OUTPUT_MOST;
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

/// So much can stand in a pipe at most (pipe(7): 16 pages since Linux 2.6.11).
const PIPE_BYTES: usize = 64 * 1024;

/// The output of one command.
#[derive(Debug)]
pub(super) struct Log {
    /// Holds the pipe open until the command has ended: before it begins, nobody writes either.
    holder: File,
    ended: oneshot::Sender<()>,
    drained: oneshot::Receiver<()>,
}

impl Log {
    /// Makes the pipe, and copies what comes through it to `file`, as far as the limit goes. Must be
    /// called within a tokio runtime.
    pub(super) fn open(path: &Path, file: PathBuf) -> io::Result<Self> {
        mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR)?;
        let mut options = OpenOptions::new();
        options.custom_flags(OFlag::O_NONBLOCK.bits());
        let own = options.clone().read(true).open(path)?;
        let reader = pipe::Receiver::from_file(own.try_clone()?)?;
        let holder = options.write(true).open(path)?;
        let (ended, on_end) = oneshot::channel();
        let (all_read, drained) = oneshot::channel();
        tokio::spawn(copy(reader, own, Kept::new(file), on_end, all_read));
        Ok(Self { holder, ended, drained })
    }

    /// The command has ended: waits until all that it wrote is in the file.
    pub(super) async fn drain(self) {
        // If the copying has ended, there is nothing to wait for.
        let _ = self.ended.send(());
        let _ = self.drained.await;
        drop(self.holder);
    }
}

/// Reads until nobody holds the pipe open for writing any more. `own` is the same end of the pipe as
/// `reader`, for looks that do not ask the runtime.
async fn copy(
    reader: pipe::Receiver,
    mut own: File,
    mut kept: Kept,
    mut on_end: oneshot::Receiver<()>,
    all_read: oneshot::Sender<()>,
) {
    let mut buffer = vec![0; PIPE_BYTES];
    let mut all_read = Some(all_read);
    loop {
        let readable = tokio::select! {
            _ = &mut on_end, if all_read.is_some() => None,
            readable = reader.readable() => Some(readable),
        };
        match readable {
            None => {
                // What the command wrote is in the pipe, whether the runtime has heard of it or not.
                let mut seen = 0;
                while seen < PIPE_BYTES
                    && let Ok(count @ 1..) = own.read(&mut buffer)
                {
                    kept.keep(&buffer[..count]);
                    seen += count;
                }
                if let Some(all_read) = all_read.take() {
                    // The session may be gone, and nobody wait for it.
                    let _ = all_read.send(());
                }
            }
            Some(Err(_)) => return,
            Some(Ok(())) => match reader.try_read(&mut buffer) {
                Ok(0) => return,
                Ok(count) => kept.keep(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            },
        }
    }
}

/// The beginning of an output, in a file that is made when there is something to keep.
#[derive(Debug)]
struct Kept {
    path: PathBuf,
    file: Option<File>,
    /// One byte more than is shown is kept: it tells that there was more.
    room: usize,
}

impl Kept {
    fn new(path: PathBuf) -> Self {
        Self { path, file: None, room: OUTPUT_MOST + 1 }
    }

    /// Keeps what there is room for. A file that cannot be written keeps no more: the command is
    /// not to blame for it.
    fn keep(&mut self, bytes: &[u8]) {
        let bytes = &bytes[..bytes.len().min(self.room)];
        if bytes.is_empty() {
            return;
        }
        let opened = match self.file.take() {
            Some(file) => Ok(file),
            None => File::create_new(&self.path),
        };
        let written = opened.and_then(|mut file| file.write_all(bytes).map(|()| file));
        match written {
            Ok(file) => {
                self.room -= bytes.len();
                self.file = Some(file);
            }
            Err(_) => self.room = 0,
        }
    }
}
