//! What the API tells of a file.

use cap_std::fs::{Metadata, MetadataExt, PermissionsExt};
use serde_json::{Value, json};

/// Owner and group of every file in the eyes of the API.
const USER: &str = "daytona";

/// What is told of a file; `path` is that of the API.
pub(super) fn file_info(path: &str, metadata: &Metadata) -> Value {
    let bits = metadata.permissions().mode();
    let name = path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("/");
    let modified = modified(metadata);
    json!({
        "name": name,
        "path": path,
        "isDir": metadata.is_dir(),
        "size": metadata.len(),
        "mode": mode_text(metadata, bits),
        "permissions": format!("{:04o}", bits & 0o777),
        "owner": USER,
        "group": USER,
        // The layout in which Go writes a time.
        "modTime": modified.strftime("%Y-%m-%d %H:%M:%S%.f +0000 UTC").to_string(),
        "modifiedAt": modified.strftime("%Y-%m-%dT%H:%M:%S%.fZ").to_string(),
    })
}

fn modified(metadata: &Metadata) -> jiff::Timestamp {
    let nanoseconds = i32::try_from(metadata.mtime_nsec()).unwrap_or_default();
    jiff::Timestamp::new(metadata.mtime(), nanoseconds).unwrap_or_default()
}

/// The kind and the permissions as ten letters.
fn mode_text(metadata: &Metadata, bits: u32) -> String {
    // The letters of Go's FileMode.
    let kind = match metadata {
        it if it.is_dir() => 'd',
        it if it.is_symlink() => 'L',
        _ => '-',
    };
    let letters = (0..9).map(|place| {
        let is_set = bits & (0o400 >> place) != 0;
        if is_set { ['r', 'w', 'x'][place % 3] } else { '-' }
    });
    std::iter::once(kind).chain(letters).collect()
}
