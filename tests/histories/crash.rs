//! A server that is killed while clients are at work: what they were told before counts afterwards, and what they were not told may have
//! happened or not (SEC-S2, T4, T5).

use std::thread;
use std::time::{Duration, Instant};

use gatehouse_histories::{CountedToken, Object, TokenFamily, WrappedResponse, drive, drive_while};
use gatehouse_tests::{Installation, ServerProcess, Storage};

use crate::HOST;
use crate::connection::{Connection, further_servers};

const CLIENTS: usize = 8;
const KILLS: u64 = 4;
/// Calls of each client before the kill, if it did not come.
const WITHOUT_END: usize = 10_000;
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs `round` so often against a server, and against three on one database of which the first is killed.
fn over_every_durable_store(round: impl Fn(&mut Servers, u64)) {
    let durable = crate::STORAGES.iter().filter(|it| **it != Storage::Memory);
    for &storage in durable {
        let installation = Installation::start_program(HOST.program(), storage, "").unwrap();
        let further = further_servers(&installation, storage);
        let mut servers = Servers {
            installation,
            further,
        };
        (0..KILLS).for_each(|number| round(&mut servers, number));
    }
}

struct Servers {
    installation: Installation,
    further: Vec<ServerProcess>,
}

impl Servers {
    fn connect(&self) -> Connection {
        Connection::to_each(&self.installation, &self.further)
    }
}

/// Kills the first server once `object` has had `calls` calls or more, starts it again, and lets new clients go on with it.
fn interrupt(
    servers: &mut Servers,
    object: &dyn Object,
    count: &dyn Fn() -> usize,
    calls: usize,
    seed: u64,
) -> Connection {
    let server = servers.connect();
    drive_while(object, &server, CLIENTS, WITHOUT_END, seed, || {
        let deadline = Instant::now() + PATIENCE;
        while count() < calls && Instant::now() < deadline {
            thread::yield_now();
        }
        servers.installation.server().kill();
    });
    assert!(count() >= calls, "the clients are too slow");
    servers.installation.run().unwrap();
    drive(object, &server, CLIENTS, 4, seed);
    server
}

#[test]
fn t4_uses_never_exceed_their_number_over_a_crash() {
    over_every_durable_store(|servers, round| {
        let token = CountedToken::create(&servers.connect(), 60, 0);
        let count = || token.recorder().count();
        let server = interrupt(servers, &token, &count, 40, round);
        token.settle(&server).unwrap();
    });
}

#[test]
fn t5_what_was_revoked_stays_revoked_over_a_crash() {
    over_every_durable_store(|servers, round| {
        let family = TokenFamily::create(&servers.connect());
        let count = || family.recorder().count();
        let server = interrupt(servers, &family, &count, 60, round);
        family.settle(&server).unwrap();
    });
}

#[test]
fn contract_1_8_a_response_is_given_out_at_most_once_over_a_crash() {
    over_every_durable_store(|servers, round| {
        let response = WrappedResponse::create(&servers.connect());
        let count = || response.recorder().count();
        let server = interrupt(servers, &response, &count, 10, round);
        response.settle(&server).unwrap();
    });
}
