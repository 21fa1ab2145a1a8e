//! A disk that can be filled and emptied, as the server sees it.

use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/disk.c");

/// A library that the server's programs load first, and the folder that it looks for flags in.
pub struct Disk {
    folder: PathBuf,
    library: PathBuf,
}

impl Disk {
    /// A disk with room for everything, with the library in the server's folder.
    pub fn new(folder: &Path) -> Self {
        // The library compares with the paths that the system shows.
        let folder = folder.canonicalize().expect("the folder is there");
        let library = folder.join("disk.so");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(&library)
            .arg(SOURCE)
            .output()
            .expect("a C compiler is there");
        let error = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{error}");
        Self { folder, library }
    }

    /// The environment variables that the server's programs need.
    pub fn environment(&self) -> [(&'static str, &Path); 2] {
        [
            ("LD_PRELOAD", &self.library),
            ("GATEHOUSE_DISK", &self.folder),
        ]
    }

    /// The file that exists while a part of the disk is full.
    pub fn flag(&self, part: &str) -> PathBuf {
        self.folder.join(format!("full-{part}"))
    }
}
