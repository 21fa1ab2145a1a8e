//! A server whose disk can be filled.

use std::fs::{self, File};
use std::io::ErrorKind;

use crate::disk::Disk;
use crate::{PostgresServer, blocking, connect};

/// More than a server keeps for later.
const FILES_OF_LOG: usize = 128;

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

    /// Makes the server's log continue in further files until one fails, as it does on a full disk.
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
