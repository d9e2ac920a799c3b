//! A process that outlives the server by an instant and cleans up behind it, however it ended.
//!
//! A server that is killed with SIGKILL, or aborts, can do nothing any more. The guardian holds
//! the other end of a pipe: when that closes without a word, the server is gone, and it kills what
//! the sandboxes left running and removes their directories.

use super::environment::MARK;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What is written to the pipe when there is nothing left to clean up.
const DONE: &[u8] = b"done\n";

/// `$1` is the start of every sandbox's mark, `$2` the directory of all of them.
const SCRIPT: &str = r#"trap '' INT TERM HUP
word=
read -r word
[ "$word" = done ] && exit 0
round=0
while [ $round -lt 20 ]; do
  found=
  for process in /proc/[0-9]*; do
    if tr '\0' '\n' < "$process/environ" 2>/dev/null | grep -qF -- "$1"; then
      found=yes
      kill -9 "${process#/proc/}" 2>/dev/null
    fi
  done
  [ -z "$found" ] && break
  round=$((round + 1))
done
rm -rf -- "$2"
"#;

/// The process. Call [`Guardian::dismiss`] once there is nothing left for it to do.
#[derive(Debug)]
pub(super) struct Guardian(Child);

impl Guardian {
    /// Starts it. `mark` is the start of every sandbox's mark.
    pub(super) fn start(mark: &str, directory: &Path) -> io::Result<Self> {
        Command::new("/bin/sh")
            .args(["-c", SCRIPT, "guardian"])
            .arg(format!("{MARK}={mark}"))
            .arg(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .current_dir("/")
            // A key press that ends the server must not end the guardian first.
            .process_group(0)
            .spawn()
            .map(Self)
    }

    /// Lets it go: everything is cleaned up. Blocks until its process has ended, which takes as long
    /// as a shell takes to read a word.
    pub(super) fn dismiss(&mut self) {
        if let Some(mut pipe) = self.0.stdin.take() {
            // If it is gone already it needs no word.
            let _ = pipe.write_all(DONE);
        }
        let _ = self.0.wait();
    }
}
