//! The private directory of a sandbox, and which of its files a path of the API names.
//!
//! The API's paths are those of the sandbox: its home is `/home/daytona`, and `/tmp` is its own.
//! Here they lie below one directory of this machine. Every access goes through a handle of that
//! directory that cannot be left: not by `..`, not by an absolute path, not by a symbolic link.

use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt, Metadata, Permissions, PermissionsExt};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

/// The home of a sandbox in the eyes of the API.
const API_HOME: &str = "/home/daytona";

/// Directories that every sandbox begins with.
const FIRST: [&str; 2] = ["home/daytona", "tmp"];

/// The private directory of one sandbox. Its methods block.
#[derive(Clone, Debug)]
pub(in crate::daytona_api) struct Directory {
    root: PathBuf,
}

impl Directory {
    /// Makes it, with a home and a directory for temporary files.
    pub(super) fn create(root: PathBuf) -> io::Result<Self> {
        for first in FIRST {
            fs::create_dir_all(root.join(first))?;
        }
        Ok(Self { root })
    }

    /// Where on this machine it lies.
    pub(in crate::daytona_api) fn root(&self) -> &Path {
        &self.root
    }

    /// Where on this machine the sandbox's home lies.
    pub(in crate::daytona_api) fn home(&self) -> PathBuf {
        self.root.join(&API_HOME[1..])
    }

    /// Where on this machine the sandbox's temporary files lie.
    pub(super) fn temporary(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// A path of the API, relative to the private directory. Relative ones start at home; `..` ends
    /// at the root. A path that already points into the private directory, as a command sees it,
    /// is taken as such.
    pub(in crate::daytona_api) fn inside(&self, path: &str) -> PathBuf {
        let path = Path::new(path);
        let absolute = match path.strip_prefix(&self.root) {
            Ok(inside) => inside.to_owned(),
            Err(_) if path.is_absolute() => path.to_owned(),
            Err(_) => Path::new(API_HOME).join(path),
        };
        let mut inside = PathBuf::new();
        for component in absolute.components() {
            match component {
                Component::Normal(name) => inside.push(name),
                Component::ParentDir => {
                    inside.pop();
                }
                Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
            }
        }
        if inside.as_os_str().is_empty() { PathBuf::from(".") } else { inside }
    }

    /// A path relative to the private directory as the API writes it.
    pub(in crate::daytona_api) fn shown(inside: &Path) -> String {
        if inside == Path::new(".") {
            return "/".to_owned();
        }
        format!("/{}", inside.display())
    }

    /// A handle that cannot be left.
    pub(in crate::daytona_api) fn open(&self) -> io::Result<Dir> {
        Dir::open_ambient_dir(&self.root, ambient_authority())
    }

    /// What is known of a file, symbolic links followed.
    pub(in crate::daytona_api) fn metadata(&self, inside: &Path) -> io::Result<Metadata> {
        self.open()?.metadata(inside)
    }

    /// Makes a directory and those above it. `mode` is that of new ones.
    pub(in crate::daytona_api) fn create_dir_all(
        &self,
        inside: &Path,
        mode: u32,
    ) -> io::Result<()> {
        let dir = self.open()?;
        if dir.is_dir(inside) {
            return Ok(());
        }
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(mode);
        dir.create_dir_with(inside, &builder)?;
        // The mode of the process masked the one that was asked for.
        dir.set_permissions(inside, Permissions::from_mode(mode))
    }
}

/// Removes a directory with everything in it, also what its owner may not enter.
pub(super) fn remove_tree(root: &Path) -> io::Result<()> {
    match fs::remove_dir_all(root) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(root);
            fs::remove_dir_all(root)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Lets the owner enter and change every directory.
fn open_up(directory: &Path) {
    // What cannot be changed will be told by the removal that follows.
    let _ = fs::set_permissions(directory, fs::Permissions::from_mode(0o700));
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn directory() -> (tempfile::TempDir, Directory) {
        let outer = tempfile::tempdir().expect("a temporary directory can be made");
        let directory = Directory::create(outer.path().join("fs")).expect("it can be made");
        (outer, directory)
    }

    #[test]
    fn paths_of_the_api_lie_below_the_private_directory() {
        let (_outer, directory) = directory();
        let inside = |path: &str| directory.inside(path).display().to_string();
        assert_eq!(inside("a.txt"), "home/daytona/a.txt");
        assert_eq!(inside("/home/daytona/a.txt"), "home/daytona/a.txt");
        assert_eq!(inside("/etc/passwd"), "etc/passwd");
        assert_eq!(inside("../../../../etc/passwd"), "etc/passwd");
        assert_eq!(inside("/.."), ".");
        assert_eq!(inside("/"), ".");
        let real = directory.home().join("x");
        assert_eq!(inside(&real.display().to_string()), "home/daytona/x");
    }

    #[test]
    fn symbolic_links_do_not_lead_out() {
        let (outer, directory) = directory();
        fs::write(outer.path().join("secret"), "theirs").expect("it can be written");
        let home = directory.home();
        symlink(outer.path().join("secret"), home.join("absolute")).expect("a link can be made");
        symlink("../../../secret", home.join("relative")).expect("a link can be made");
        symlink(outer.path(), home.join("outer")).expect("a link can be made");
        for path in ["absolute", "relative", "outer/secret"] {
            let read = directory.open().and_then(|dir| dir.read(directory.inside(path)));
            assert!(read.is_err(), "{path} was read");
            let metadata = directory.metadata(&directory.inside(path));
            assert!(metadata.is_err(), "{path} was looked at");
        }
        let made = directory.create_dir_all(&directory.inside("outer/new"), 0o755);
        assert!(made.is_err(), "a directory was made outside");
        assert!(!outer.path().join("new").exists());
    }

    #[test]
    fn what_may_not_be_entered_is_removed_too() {
        let (_outer, directory) = directory();
        let locked = directory.home().join("locked");
        fs::create_dir_all(locked.join("deeper")).expect("it can be made");
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).expect("it is ours");
        remove_tree(directory.root()).expect("it can be removed");
        assert!(!directory.root().exists());
        remove_tree(directory.root()).expect("that it is gone already is fine");
    }
}
