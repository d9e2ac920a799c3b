//! Files in a sandbox.

/// A file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContent {
    /// Where it goes; relative paths start in the sandbox's working directory.
    pub path: String,
    /// What it shall hold.
    pub content: Vec<u8>,
}

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// The name within its folder.
    pub name: String,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Bytes; what the provider says of a folder's size means nothing.
    pub size_bytes: u64,
}
