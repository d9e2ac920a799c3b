//! Writing an uploaded file: beside its place first, then moved there, so that nobody sees half.

use super::entered::Entered;
use super::error::{DaemonError, words};
use axum::body::Body;
use axum::extract::multipart::Field;
use bytes::Bytes;
use cap_std::fs::{Dir, OpenOptions, Permissions, PermissionsExt};
use http_body_util::BodyExt;
use std::io;
use std::path::{Path, PathBuf};
use tokio::io::AsyncWriteExt;

/// What an upload is read from, piece by piece.
pub(super) enum Source<'a> {
    /// A part of a form.
    Part(Field<'a>),
    /// The body itself.
    Raw(Body),
}

impl Source<'_> {
    async fn next(&mut self) -> Result<Option<Bytes>, String> {
        match self {
            Source::Part(part) => part.chunk().await.map_err(|error| error.body_text()),
            Source::Raw(body) => loop {
                match body.frame().await {
                    None => return Ok(None),
                    Some(Err(error)) => return Err(error.to_string()),
                    Some(Ok(frame)) => match frame.into_data() {
                        Ok(data) => return Ok(Some(data)),
                        // Trailers are nobody's content.
                        Err(_) => continue,
                    },
                }
            },
        }
    }
}

/// Where an upload is kept until it is complete. Removes it if it is not.
struct Unfinished {
    dir: Dir,
    beside: PathBuf,
    place: PathBuf,
    is_finished: bool,
}

impl Unfinished {
    fn begin(dir: Dir, inside: &Path) -> io::Result<(Self, cap_std::fs::File)> {
        // Through a link, the file that it leads to is replaced, if that is the sandbox's.
        let place = dir.canonicalize(inside).unwrap_or_else(|_| inside.to_owned());
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let name = format!(".daytona-upload-{:016x}", u64::from_le_bytes(bytes));
        let beside = place.parent().unwrap_or(Path::new("")).join(name);
        let file = dir.open_with(&beside, OpenOptions::new().write(true).create_new(true))?;
        Ok((Self { dir, beside, place, is_finished: false }, file))
    }

    fn finish(mut self) -> io::Result<()> {
        self.dir.set_permissions(&self.beside, Permissions::from_mode(0o644))?;
        self.dir.rename(&self.beside, &self.dir, &self.place)?;
        self.is_finished = true;
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.is_finished {
            // It may never have been there.
            let _ = self.dir.remove_file(&self.beside);
        }
    }
}

/// Writes a file with the directories above it; the answer is its length, bytes. `Err` is a text
/// that says what did not work.
pub(super) async fn write_file(
    entered: &Entered,
    path: &str,
    mut from: Source<'_>,
) -> Result<u64, String> {
    let told = |step: &'static str| move |error: io::Error| format!("{step}: {}", words(&error));
    let path = path.to_owned();
    let begun = entered.with_files(move |directory| {
        let inside = directory.inside(&path);
        let begin = || {
            let parent = inside.parent().filter(|parent| !parent.as_os_str().is_empty());
            if let Some(parent) = parent {
                directory.create_dir_all(parent, 0o755).map_err(told("mkdir"))?;
            }
            let dir = directory.open().map_err(told("open"))?;
            Unfinished::begin(dir, &inside).map_err(told("create temp"))
        };
        begin().map_err(DaemonError::bad_request)
    });
    let (unfinished, file) = begun.await.map_err(|error| error.message)?;
    let mut file = tokio::fs::File::from_std(file.into_std());
    let mut length = 0;
    while let Some(piece) = from.next().await? {
        file.write_all(&piece).await.map_err(told("write"))?;
        length += piece.len() as u64;
    }
    file.flush().await.map_err(told("write"))?;
    drop(file);
    let finished = tokio::task::spawn_blocking(move || unfinished.finish()).await;
    finished.map_err(|error| error.to_string())?.map_err(told("rename"))?;
    Ok(length)
}
