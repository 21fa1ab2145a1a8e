//! Making a file's name as durable as its content.

use std::fs::File;
use std::io;
use std::path::Path;

/// Waits until the directory entry of `path` is on disk (SEC-S1).
pub fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    File::open(parent)?.sync_all()
}
