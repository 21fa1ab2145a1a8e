//! A disk that can be filled and emptied, as the server sees it.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{PostgresServer, blocking, connect};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/disk.c");
/// More than a server keeps for later.
const FILES_OF_LOG: usize = 128;

/// A library that the server's programs load first, and the folder that it looks for flags in.
pub struct Disk {
    folder: PathBuf,
    library: PathBuf,
}

impl Disk {
    /// A disk with room for everything, with the library in the server's folder.
    fn new(folder: &Path) -> Self {
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

    /// What the server's programs need in their environment.
    pub fn environment(&self) -> [(&'static str, &Path); 2] {
        [
            ("LD_PRELOAD", &self.library),
            ("GATEHOUSE_DISK", &self.folder),
        ]
    }

    fn flag(&self, part: &str) -> PathBuf {
        self.folder.join(format!("full-{part}"))
    }
}

impl PostgresServer {
    /// Starts a server whose [disk can be filled](Self::fill_disk), for callers without a runtime.
    ///
    /// # Panics
    ///
    /// When there is no C compiler, or the server does not start.
    #[must_use]
    pub fn start_on_a_small_disk(settings: &[&str]) -> Self {
        let server = Self::launch(settings, &[], Some(Disk::new));
        blocking(server.await_ready());
        server
    }

    /// From now on the disk has no room for larger files in these folders of the server's data, of `base` and `pg_wal` for example.
    ///
    /// # Panics
    ///
    /// When the server's disk is not a small one.
    pub fn fill_disk(&self, parts: &[&str]) {
        for part in parts {
            File::create(self.disk().flag(part)).expect("the folder is ours");
        }
    }

    /// From now on the disk has room again.
    ///
    /// # Panics
    ///
    /// As before.
    pub fn empty_disk(&self, parts: &[&str]) {
        for part in parts {
            let emptied = fs::remove_file(self.disk().flag(part));
            let is_empty =
                emptied.map_or_else(|error| error.kind() == ErrorKind::NotFound, |()| true);
            assert!(is_empty, "the folder is ours");
        }
    }

    /// Has the server's log go on in further files until one fails, as it does on a full disk.
    ///
    /// # Panics
    ///
    /// When none fails.
    pub fn use_up_log(&self) {
        const GO_ON: &str =
            "select pg_logical_emit_message(true, 'tests', 'room'); select pg_switch_wal()";
        blocking(async {
            let client = connect(&self.url("postgres")).await;
            let client = client.expect("the server answers");
            for _ in 0..FILES_OF_LOG {
                if client.batch_execute(GO_ON).await.is_err() {
                    return;
                }
            }
            panic!("the log of the server goes on");
        });
    }

    fn disk(&self) -> &Disk {
        self.disk.as_ref().expect("the server has a small disk")
    }
}
