//! `[classes.NAME.prepare]`: what is done in a new sandbox before it is handed out.
//!
//! ```toml
//! [classes.default.prepare]
//! working_directory = "/home/daytona/work"
//! files = [{ path = "settings.json", content = "{}" }]
//! packages = ["pandas==2.3.0"]
//! commands = ["python -c 'import pandas'"]
//! timeout_seconds = 120
//! ```
//!
//! Carried out in that order: packages may be listed in a file, commands may use packages.

mod run;

pub(super) use run::run;

use serde::Deserialize;
use std::path::PathBuf;

/// What is done in a new sandbox of a class.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PrepareSteps {
    /// Made if it does not exist; the commands run in it and relative paths of files start there.
    pub working_directory: Option<String>,
    /// Files to write.
    pub files: Vec<PrepareFile>,
    /// Python packages to install, as pip takes them.
    pub packages: Vec<String>,
    /// Shell commands, run one after another. One that fails ends the start.
    pub commands: Vec<String>,
    /// All steps together may take this long, seconds (1 to 3600).
    pub timeout_seconds: u32,
}

impl Default for PrepareSteps {
    fn default() -> Self {
        Self {
            working_directory: None,
            files: Vec::new(),
            packages: Vec::new(),
            commands: Vec::new(),
            timeout_seconds: 120,
        }
    }
}

impl PrepareSteps {
    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.working_directory.is_none()
            && self.files.is_empty()
            && self.packages.is_empty()
            && self.commands.is_empty()
    }
}

/// A file to write.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "WrittenFile")]
pub struct PrepareFile {
    /// Where it goes in the sandbox.
    pub path: String,
    /// What it holds.
    pub source: FileSource,
}

/// Where a file's content comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileSource {
    /// `content`: the text itself.
    Content(String),
    /// `from`: a file beside the server, read each time a sandbox is prepared.
    From(PathBuf),
}

/// A file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFile {
    path: String,
    content: Option<String>,
    from: Option<PathBuf>,
}

impl TryFrom<WrittenFile> for PrepareFile {
    type Error = String;

    fn try_from(file: WrittenFile) -> Result<Self, String> {
        let source = match (file.content, file.from) {
            (Some(content), None) => FileSource::Content(content),
            (None, Some(from)) => FileSource::From(from),
            _ => return Err(format!("the file {:?} needs one of `content` and `from`", file.path)),
        };
        Ok(Self { path: file.path, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_read_and_its_mistakes_are_told() {
        let block: PrepareSteps = toml::from_str(
            "packages = ['pandas']\nfiles = [{ path = 'a', content = 'x' }, { path = 'b', from = 'c' }]",
        )
        .unwrap();
        assert_eq!(block.timeout_seconds, 120);
        assert_eq!(block.files[1].source, FileSource::From(PathBuf::from("c")));
        assert!(!block.is_empty());
        for (wrong, told) in [
            ("package = []", "unknown field"),
            ("files = [{ path = 'a' }]", "needs one of"),
            ("files = [{ path = 'a', content = '', from = 'b' }]", "needs one of"),
        ] {
            let error = toml::from_str::<PrepareSteps>(wrong).unwrap_err().to_string();
            assert!(error.contains(told), "{wrong}: {error}");
        }
    }
}
