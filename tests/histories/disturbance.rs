//! Servers that are disturbed while clients are at work.

use std::thread;
use std::time::{Duration, Instant};

use gatehouse_histories::{Object, drive_while};
use gatehouse_tests::{Installation, ServerProcess, Storage};

use crate::HOST;
use crate::connection::{Connection, further_servers};

/// How many clients are at work.
pub const CLIENTS: usize = 8;
const PATIENCE: Duration = Duration::from_secs(300);

/// A server, or three on one database.
pub struct Servers {
    pub installation: Installation,
    pub further: Vec<ServerProcess>,
}

impl Servers {
    /// One server with this kind of store, or three where servers share it.
    pub fn start(storage: Storage) -> Self {
        let installation = Installation::start_program(HOST.program(), storage, "").unwrap();
        let further = further_servers(&installation, storage);
        Self {
            installation,
            further,
        }
    }

    /// Connections to each of them.
    pub fn connect(&self) -> Connection {
        Connection::to_each(&self.installation, &self.further)
    }

    /// Lets clients do up to `most` calls each with `object`, and does `disturbance` once there were `calls` or more.
    ///
    /// Clients break off at the first 503, which a busy machine causes by itself; new ones begin until there were so many calls.
    pub fn disturb(
        &mut self,
        object: &dyn Object,
        most: usize,
        seed: u64,
        (count, calls): (&dyn Fn() -> usize, usize),
        disturbance: impl FnOnce(&mut Self),
    ) -> Connection {
        let server = self.connect();
        let deadline = Instant::now() + PATIENCE;
        let mut disturbance = Some(disturbance);
        while let Some(disturb) = disturbance.take() {
            drive_while(object, &server, CLIENTS, most, seed, |are_at_work| {
                while count() < calls && are_at_work() {
                    thread::yield_now();
                }
                if count() < calls {
                    disturbance = Some(disturb);
                } else {
                    disturb(self);
                }
            });
            let in_time = disturbance.is_none() || Instant::now() < deadline;
            assert!(in_time, "the clients are too slow");
        }
        server
    }
}
