//! Reading what a command writes, up to a limit.

use std::io;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Most output of one command that is kept, bytes; the rest is read and thrown away, so that the
/// command is not blocked by it.
pub(super) const OUTPUT_MOST: usize = 8 * 1024 * 1024;

/// What follows output that was cut.
pub(super) const CUT_NOTE: &str = "\n[output cut after 8388608 bytes]\n";

/// Output as it comes in.
#[derive(Debug, Default)]
pub(super) struct Captured {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl Captured {
    /// Reads until whoever writes has closed its end.
    pub(super) async fn read_all(&mut self, mut from: impl AsyncRead + Unpin) -> io::Result<()> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let count = from.read(&mut buffer).await?;
            if count == 0 {
                return Ok(());
            }
            let kept = count.min(OUTPUT_MOST - self.bytes.len());
            self.bytes.extend_from_slice(&buffer[..kept]);
            self.is_cut |= kept < count;
        }
    }

    /// The output as text; what is not UTF-8 is replaced.
    pub(super) fn into_text(self) -> String {
        let mut text = match String::from_utf8(self.bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        if self.is_cut {
            text.push_str(CUT_NOTE);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn output_beyond_the_limit_is_read_and_cut() {
        let mut captured = Captured::default();
        let much = vec![b'x'; OUTPUT_MOST + 1];
        captured.read_all(&much[..]).await.expect("memory can be read");
        let text = captured.into_text();
        assert_eq!(text.len(), OUTPUT_MOST + CUT_NOTE.len());
        assert!(text.ends_with(CUT_NOTE));
    }

    #[tokio::test]
    async fn output_of_just_the_limit_is_not_cut() {
        let mut captured = Captured::default();
        let much = vec![b'x'; OUTPUT_MOST];
        captured.read_all(&much[..]).await.expect("memory can be read");
        assert_eq!(captured.into_text().len(), OUTPUT_MOST);
    }

    #[tokio::test]
    async fn what_is_not_text_is_replaced() {
        let mut captured = Captured::default();
        captured.read_all(&b"a\xffb"[..]).await.expect("memory can be read");
        assert_eq!(captured.into_text(), "a\u{fffd}b");
    }
}
