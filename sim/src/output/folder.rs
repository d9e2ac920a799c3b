//! Writes a whole result folder at once, or nothing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

/// The file by which a result folder is known.
pub const MANIFEST: &str = "results.json";

/// Lists what was written, so that a later run can tell its own files from the user's.
const WRITTEN: &str = ".written";

/// One file of a result folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    name: String,
    bytes: Vec<u8>,
}

impl OutputFile {
    /// A file of this name (no folders in it) and content.
    #[must_use]
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), bytes: bytes.into() }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its content.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Why a result folder cannot be written. Whatever was there before is still there.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// There is a file where the folder should be.
    #[error("{} is a file, not a folder; hint: remove it or choose another output folder", .0.display())]
    IsAFile(PathBuf),
    /// There is a folder that no result was written to.
    #[error("{} is not a result folder (it has no {MANIFEST}), so it is not replaced; hint: choose another output folder", .0.display())]
    NotOurs(PathBuf),
    /// There is a result folder, with something in it that was not written as part of the result.
    #[error("{} holds `{entry}`, which is not part of the result and would be lost; hint: move it away or choose another output folder", .folder.display())]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// What is in it.
        entry: String,
    },
    /// The disk is full.
    #[error("no space left to write {}; hint: free some space or choose another output folder", .0.display())]
    Full(PathBuf),
    /// The place cannot be written to.
    #[error("{} cannot be written to: {source}; hint: check the folder's permissions or choose another output folder", .path.display())]
    NotWritable {
        /// The path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The path has no last part that could name a folder.
    #[error("{} does not name a folder; hint: give a path that ends with the folder's name", .0.display())]
    NoName(PathBuf),
    /// The files given do not make a result folder.
    #[error("a result folder cannot be made of these files: {0}")]
    Files(String),
    /// Anything else that the system refuses.
    #[error("cannot write {}: {source}", .path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl FolderError {
    fn new(path: &Path, source: io::Error) -> FolderError {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => FolderError::Full(path),
            io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::NotADirectory => FolderError::NotWritable { path, source },
            _ => FolderError::Io { path, source },
        }
    }
}

/// Turns a system error about `path` into ours.
fn about(path: &Path) -> impl FnOnce(io::Error) -> FolderError + '_ {
    move |source| FolderError::new(path, source)
}

/// Where a result folder and what is needed to replace it are.
struct Places {
    target: PathBuf,
    parent: PathBuf,
    /// Being written; never looks like a result folder to a reader, for its name begins with a dot.
    partial: PathBuf,
    /// The result that is being replaced, for the moment between two renames.
    previous: PathBuf,
}

impl Places {
    fn of(target: &Path) -> Result<Places, FolderError> {
        // A link is followed, so that what it names is replaced and not the link.
        let target = match fs::symlink_metadata(target) {
            Ok(found) if found.is_symlink() => fs::canonicalize(target).map_err(about(target))?,
            _ => target.to_owned(),
        };
        let name = match target.components().next_back() {
            Some(Component::Normal(name)) => name.to_string_lossy().into_owned(),
            _ => return Err(FolderError::NoName(target)),
        };
        let parent = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let partial = parent.join(format!(".{name}.partial"));
        let previous = parent.join(format!(".{name}.previous"));
        Ok(Places { target, parent, partial, previous })
    }
}

/// Whether a result could be written to `target`, tried out with a file without a name that leaves
/// nothing behind: so that a long simulation does not end with an error that was there from the
/// start.
///
/// # Errors
/// As [`write_folder`].
pub fn check_target(target: &Path) -> Result<(), FolderError> {
    let places = Places::of(target)?;
    replaceable(&places.target)?;
    // The nearest ancestor that exists must be a folder.
    for ancestor in places.parent.ancestors().filter(|path| !path.as_os_str().is_empty()) {
        match fs::metadata(ancestor) {
            Ok(found) if found.is_dir() => return try_out(ancestor),
            Ok(_) => return Err(FolderError::IsAFile(ancestor.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // Below a file: the next ancestor is that file.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {}
            Err(error) => return Err(FolderError::new(ancestor, error)),
        }
    }
    // Every part of a relative path is still to be made.
    try_out(Path::new("."))
}

fn try_out(folder: &Path) -> Result<(), FolderError> {
    tempfile::tempfile_in(folder).map(drop).map_err(about(folder))
}

/// Writes `files` as the folder `target`, whole or not at all.
///
/// Everything is written into a sibling whose name begins with a dot, flushed to the disk, and
/// renamed. Folders above `target` are made. An empty folder and an earlier result are replaced;
/// anything else is left alone. The earlier result is put aside first and removed last, and put
/// back when the rename fails; what an interrupted run left behind is cleared up, an earlier result
/// put aside by it included. Runs that write below the same parent wait for each other.
///
/// # Errors
/// [`FolderError`], naming the path and what to do; then `target` is as it was.
pub fn write_folder(target: &Path, files: &[OutputFile]) -> Result<(), FolderError> {
    check_files(files)?;
    check_target(target)?;
    let places = Places::of(target)?;
    fs::create_dir_all(&places.parent).map_err(about(&places.parent))?;
    let _lock = lock(&places.parent)?;
    clear_leftovers(&places)?;
    // Once more under the lock: another run may have written there.
    replaceable(&places.target)?;
    let written = fill(&places.partial, files).and_then(|()| swap(&places));
    if written.is_err() {
        // Best effort: the first error is the one to tell, and the next run clears up as well.
        let _ = remove(&places.partial);
    }
    written
}

fn check_files(files: &[OutputFile]) -> Result<(), FolderError> {
    for (index, file) in files.iter().enumerate() {
        let mut parts = Path::new(&file.name).components();
        let plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
        if !plain || file.name == WRITTEN || file.name.contains(['/', '\\', '\n']) {
            return Err(FolderError::Files(format!("`{}` is not a file name", file.name)));
        }
        if files[..index].iter().any(|earlier| earlier.name == file.name) {
            return Err(FolderError::Files(format!("`{}` is there twice", file.name)));
        }
    }
    if files.iter().any(|file| file.name == MANIFEST) {
        Ok(())
    } else {
        Err(FolderError::Files(format!("`{MANIFEST}` is missing")))
    }
}

/// Whether what is at `target`, if anything, may be replaced.
fn replaceable(target: &Path) -> Result<(), FolderError> {
    match fs::metadata(target) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err(FolderError::IsAFile(target.to_owned())),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(());
        }
        Err(error) => return Err(FolderError::new(target, error)),
    }
    let mut entries = Vec::new();
    for entry in fs::read_dir(target).map_err(about(target))? {
        let name = entry.map_err(about(target))?.file_name();
        entries.push(name.to_string_lossy().into_owned());
    }
    entries.sort();
    if entries.is_empty() {
        return Ok(());
    }
    if !target.join(MANIFEST).is_file() {
        return Err(FolderError::NotOurs(target.to_owned()));
    }
    let written = match fs::read_to_string(target.join(WRITTEN)) {
        Ok(written) => written,
        // A results.json of another program, or one whose list was lost: nothing can be told apart.
        Err(error) if error.kind() == io::ErrorKind::NotFound => MANIFEST.to_owned(),
        Err(error) => return Err(FolderError::new(&target.join(WRITTEN), error)),
    };
    match entries.into_iter().find(|e| e != WRITTEN && !written.lines().any(|line| line == e)) {
        Some(entry) => Err(FolderError::Foreign { folder: target.to_owned(), entry }),
        None => Ok(()),
    }
}

/// Keeps other runs out of `parent` until it is dropped. Where folders cannot be locked, there is
/// no lock; the renames still keep every result whole.
fn lock(parent: &Path) -> Result<Option<File>, FolderError> {
    let folder = match File::open(parent) {
        Ok(folder) => folder,
        Err(error) if cfg!(unix) => return Err(FolderError::new(parent, error)),
        Err(_) => return Ok(None),
    };
    Ok(folder.lock().is_ok().then_some(folder))
}

/// Clears up after an interrupted run.
fn clear_leftovers(places: &Places) -> Result<(), FolderError> {
    remove(&places.partial)?;
    if places.previous.exists() {
        if places.target.exists() {
            remove(&places.previous)?;
        } else {
            // It was interrupted between its two renames.
            fs::rename(&places.previous, &places.target).map_err(about(&places.target))?;
        }
    }
    Ok(())
}

fn remove(folder: &Path) -> Result<(), FolderError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(FolderError::new(folder, error))
        }
        _ => Ok(()),
    }
}

fn fill(partial: &Path, files: &[OutputFile]) -> Result<(), FolderError> {
    fs::create_dir(partial).map_err(about(partial))?;
    let mut names: Vec<&str> = files.iter().map(OutputFile::name).collect();
    names.sort_unstable();
    write_file(&partial.join(WRITTEN), (names.join("\n") + "\n").as_bytes())?;
    for file in files {
        write_file(&partial.join(&file.name), &file.bytes)?;
    }
    sync_folder(partial)
}

/// Writes a file and waits until it is on the disk.
fn write_file(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)
        .map_err(about(path))?;
    file.write_all(bytes).map_err(about(path))?;
    file.sync_all().map_err(about(path))
}

/// Waits until a folder's list of names is on the disk. Only Unix lets a folder be opened for that.
fn sync_folder(folder: &Path) -> Result<(), FolderError> {
    if cfg!(unix) {
        File::open(folder).and_then(|opened| opened.sync_all()).map_err(about(folder))?;
    }
    Ok(())
}

/// Puts the new folder in the place of the earlier one.
fn swap(places: &Places) -> Result<(), FolderError> {
    let replaces = places.target.exists();
    if replaces {
        fs::rename(&places.target, &places.previous).map_err(about(&places.target))?;
    }
    if let Err(error) = fs::rename(&places.partial, &places.target) {
        if replaces {
            fs::rename(&places.previous, &places.target).map_err(about(&places.previous))?;
        }
        return Err(FolderError::new(&places.target, error));
    }
    sync_folder(&places.parent)?;
    remove(&places.previous)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(text: &str) -> Vec<OutputFile> {
        vec![OutputFile::new(MANIFEST, text), OutputFile::new("measures.csv", "a,b\n")]
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_result_is_written_and_replaced_whole() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("out").join("busy day");
        write_folder(&target, &files("1")).unwrap();
        assert_eq!(names(&target), [".written", "measures.csv", "results.json"]);
        let fewer = vec![OutputFile::new(MANIFEST, "2")];
        write_folder(&target, &fewer).unwrap();
        assert_eq!(names(&target), [".written", "results.json"], "no stale file stays");
        assert_eq!(fs::read_to_string(target.join(MANIFEST)).unwrap(), "2");
        assert_eq!(names(target.parent().unwrap()), ["busy day"], "nothing is left beside it");
    }

    #[test]
    fn an_empty_folder_is_taken_over() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("empty");
        fs::create_dir(&target).unwrap();
        write_folder(&target, &files("1")).unwrap();
        assert!(target.join(MANIFEST).is_file());
    }

    #[test]
    fn a_folder_that_is_not_ours_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("thesis.tex"), "years of work").unwrap();
        let error = write_folder(root.path(), &files("1")).unwrap_err();
        assert!(matches!(error, FolderError::NotOurs(_)), "{error}");
        assert!(error.to_string().contains(&root.path().display().to_string()), "{error}");
        assert!(error.to_string().contains("hint: choose another output folder"), "{error}");
        assert_eq!(names(root.path()), ["thesis.tex"]);
        assert!(matches!(check_target(root.path()), Err(FolderError::NotOurs(_))));
    }

    #[test]
    fn a_users_file_in_a_result_folder_is_not_lost() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("result");
        write_folder(&target, &files("1")).unwrap();
        fs::write(target.join("notes.md"), "my conclusions").unwrap();
        let error = write_folder(&target, &files("2")).unwrap_err();
        assert!(error.to_string().contains("holds `notes.md`"), "{error}");
        assert_eq!(fs::read_to_string(target.join(MANIFEST)).unwrap(), "1");
        fs::remove_file(target.join("notes.md")).unwrap();
        write_folder(&target, &files("2")).unwrap();
        assert_eq!(fs::read_to_string(target.join(MANIFEST)).unwrap(), "2");
    }

    #[test]
    fn a_file_in_place_of_the_folder_is_named() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("taken");
        fs::write(&file, "text").unwrap();
        let error = write_folder(&file, &files("1")).unwrap_err();
        assert!(matches!(error, FolderError::IsAFile(_)), "{error}");
        // Below a file nothing can be made, whoever runs this.
        let below = file.join("deep").join("result");
        let error = write_folder(&below, &files("1")).unwrap_err();
        assert!(matches!(&error, FolderError::IsAFile(path) if *path == file), "{error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "text");
        assert_eq!(names(root.path()), ["taken"]);
    }

    #[test]
    fn a_full_disk_is_named() {
        let full = Path::new("/dev/full");
        if !full.exists() {
            println!("skipped, not verified: this system has no /dev/full");
            return;
        }
        let error = write_file(full, b"anything").unwrap_err();
        assert!(matches!(error, FolderError::Full(_)), "{error}");
        assert!(error.to_string().starts_with("no space left to write /dev/full; hint:"));
    }

    #[test]
    fn a_disk_that_fills_up_leaves_no_half_result() {
        // A small file system needs rights to mount it, so it is given from outside.
        let Some(disk) = std::env::var_os("SANDPOOL_SMALL_DISK") else {
            println!("skipped, not verified: SANDPOOL_SMALL_DISK names no small file system");
            return;
        };
        let target = Path::new(&disk).join("result");
        write_folder(&target, &files("1")).unwrap();
        let mut large = files("2");
        large.push(OutputFile::new("large", vec![7_u8; 64 << 20]));
        let error = write_folder(&target, &large).unwrap_err();
        assert!(matches!(error, FolderError::Full(_)), "{error}");
        assert_eq!(fs::read_to_string(target.join(MANIFEST)).unwrap(), "1");
        assert_eq!(names(Path::new(&disk)), ["result"]);
    }

    #[test]
    fn a_place_that_cannot_be_written_to_is_known_beforehand() {
        // Nothing can be made there, whoever runs this.
        let forbidden = Path::new("/proc/self/result");
        if !Path::new("/proc/self").is_dir() {
            println!("skipped, not verified: this system has no /proc");
            return;
        }
        let error = check_target(forbidden).unwrap_err();
        assert!(error.to_string().contains("/proc/self"), "{error}");
        let root = tempfile::tempdir().unwrap();
        check_target(&root.path().join("a").join("b")).unwrap();
        check_target(Path::new("not-made-yet")).unwrap();
        assert!(names(root.path()).is_empty(), "trying out leaves nothing behind");
    }

    #[test]
    fn a_write_that_fails_halfway_leaves_what_was_there() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("result");
        write_folder(&target, &files("1")).unwrap();
        // A name longer than file systems allow fails after the first file was written.
        let too_long = OutputFile::new("x".repeat(300), "late");
        let mut broken = files("2");
        broken.push(too_long);
        assert!(write_folder(&target, &broken).is_err());
        assert_eq!(fs::read_to_string(target.join(MANIFEST)).unwrap(), "1");
        assert_eq!(names(root.path()), ["result"], "the half-written folder is gone");
    }

    #[test]
    fn leftovers_of_an_interrupted_run_are_cleared() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("result");
        fs::create_dir(root.path().join(".result.partial")).unwrap();
        fs::write(root.path().join(".result.partial").join(MANIFEST), "half").unwrap();
        write_folder(&target, &files("1")).unwrap();
        assert_eq!(names(root.path()), ["result"]);
        // Interrupted between the two renames: the earlier result comes back, then is replaced.
        fs::rename(&target, root.path().join(".result.previous")).unwrap();
        let mut broken = files("2");
        broken.push(OutputFile::new("x".repeat(300), "late"));
        assert!(write_folder(&target, &broken).is_err());
        assert_eq!(fs::read_to_string(target.join(MANIFEST)).unwrap(), "1");
        // Interrupted after both: the earlier result is removed.
        fs::create_dir(root.path().join(".result.previous")).unwrap();
        write_folder(&target, &files("3")).unwrap();
        assert_eq!(names(root.path()), ["result"]);
    }

    #[test]
    fn a_rename_that_fails_puts_the_earlier_result_back() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("result");
        write_folder(&target, &files("1")).unwrap();
        // Nothing was filled, so the second rename has nothing to move.
        let places = Places::of(&target).unwrap();
        assert!(swap(&places).is_err());
        assert_eq!(fs::read_to_string(target.join(MANIFEST)).unwrap(), "1");
        assert_eq!(names(root.path()), ["result"]);
    }

    #[test]
    fn files_that_make_no_result_are_refused() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("result");
        for (bad, says) in [
            (vec![OutputFile::new("a.csv", "")], "missing"),
            (vec![OutputFile::new(MANIFEST, ""), OutputFile::new(MANIFEST, "")], "twice"),
            (vec![OutputFile::new(MANIFEST, ""), OutputFile::new("../x", "")], "not a file name"),
            (vec![OutputFile::new(MANIFEST, ""), OutputFile::new("", "")], "not a file name"),
        ] {
            let error = write_folder(&target, &bad).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
        assert!(names(root.path()).is_empty());
        assert!(matches!(write_folder(Path::new("/"), &files("1")), Err(FolderError::NoName(_))));
        assert!(matches!(check_target(Path::new("..")), Err(FolderError::NoName(_))));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed() {
        let root = tempfile::tempdir().unwrap();
        let real = root.path().join("real");
        write_folder(&real, &files("1")).unwrap();
        let link = root.path().join("latest");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_folder(&link, &files("2")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(real.join(MANIFEST)).unwrap(), "2");
    }

    #[test]
    fn runs_that_write_at_once_leave_one_whole_result() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("result");
        std::thread::scope(|scope| {
            for text in ["a", "b", "c", "d"] {
                let target = &target;
                scope.spawn(move || {
                    let both = [OutputFile::new(MANIFEST, text), OutputFile::new("copy", text)];
                    write_folder(target, &both).unwrap();
                });
            }
        });
        let text = fs::read_to_string(target.join(MANIFEST)).unwrap();
        assert_eq!(fs::read_to_string(target.join("copy")).unwrap(), text);
        assert_eq!(names(root.path()), ["result"]);
    }
}
