//! A server that is killed while clients are at work: what they were told before counts afterwards, and what they were not told may have
//! happened or not (SEC-S2, T4, T5).

use std::thread;
use std::time::{Duration, Instant};

use gatehouse_histories::{CountedToken, Object, TokenFamily, WrappedResponse, drive, drive_while};
use gatehouse_tests::{Installation, Storage};

use crate::HOST;
use crate::connection::Connection;

const CLIENTS: usize = 8;
const KILLS: u64 = 4;
/// Calls of each client before the kill, if it did not come.
const WITHOUT_END: usize = 10_000;
const PATIENCE: Duration = Duration::from_secs(30);

fn start() -> Installation {
    Installation::start_program(HOST.program(), Storage::Durable, "").unwrap()
}

/// Kills the server once `object` has had `calls` calls or more, starts it again, and lets new clients go on with it.
fn interrupt(
    installation: &mut Installation,
    object: &dyn Object,
    count: &dyn Fn() -> usize,
    calls: usize,
    seed: u64,
) -> Connection {
    let server = Connection::to(installation);
    drive_while(object, &server, CLIENTS, WITHOUT_END, seed, || {
        let deadline = Instant::now() + PATIENCE;
        while count() < calls && Instant::now() < deadline {
            thread::yield_now();
        }
        installation.server().kill();
    });
    assert!(count() >= calls, "the clients are too slow");
    installation.run().unwrap();
    drive(object, &server, CLIENTS, 4, seed);
    server
}

#[test]
fn t4_uses_never_exceed_their_number_over_a_crash() {
    let mut installation = start();
    for round in 0..KILLS {
        let token = CountedToken::create(&Connection::to(&installation), 60, 0);
        let count = || token.recorder().count();
        let server = interrupt(&mut installation, &token, &count, 40, round);
        token.settle(&server).unwrap();
    }
}

#[test]
fn t5_what_was_revoked_stays_revoked_over_a_crash() {
    let mut installation = start();
    for round in 0..KILLS {
        let family = TokenFamily::create(&Connection::to(&installation));
        let count = || family.recorder().count();
        let server = interrupt(&mut installation, &family, &count, 60, round);
        family.settle(&server).unwrap();
    }
}

#[test]
fn contract_1_8_a_response_is_given_out_at_most_once_over_a_crash() {
    let mut installation = start();
    for round in 0..KILLS {
        let response = WrappedResponse::create(&Connection::to(&installation));
        let count = || response.recorder().count();
        let server = interrupt(&mut installation, &response, &count, 10, round);
        response.settle(&server).unwrap();
    }
}
