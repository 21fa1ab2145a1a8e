//! The database of three processes is killed, and started again, while clients are at work: an answered call has taken effect, and a call without an
//! answer has taken effect once or not at all (SEC-S2, S7, T4, T5).

use std::thread::sleep;
use std::time::Duration;

use gatehouse_histories::{CountedToken, Object, TokenFamily, drive};
use gatehouse_tests::Storage;

use crate::connection::{Connection, rounds};
use crate::disturbance::{CLIENTS, Servers};
use crate::recovery::await_all_serving;

/// Longer than a process answers from what it knew before, so that requests fail meanwhile.
const OUTAGE: Duration = Duration::from_millis(2_500);
/// Calls of each client, before the outage and after it.
const CALLS: usize = 24;
const ROUNDS: usize = 2;

/// Kills the database once `object` has had 40 calls, of which `count` tells; new clients continue when every process serves again.
fn interrupt(
    servers: &mut Servers,
    object: &dyn Object,
    count: &dyn Fn() -> usize,
    seed: u64,
) -> Connection {
    let server = servers.disturb(object, CALLS, seed, (count, 40), |servers| {
        let database = servers.installation.database();
        database.kill();
        sleep(OUTAGE);
        database.start_again();
    });
    await_all_serving(servers);
    drive(object, &server, CLIENTS, 4, seed);
    server
}

#[test]
fn t4_uses_never_exceed_their_number_over_an_outage_of_the_database_under_spin() {
    let mut servers = Servers::start(Storage::Postgres);
    for round in rounds(ROUNDS) {
        let token = CountedToken::create(&servers.connect(), 120, 0);
        let count = || token.recorder().count();
        let server = interrupt(&mut servers, &token, &count, round);
        token.settle(&server).unwrap();
    }
}

#[test]
fn t5_what_was_revoked_stays_revoked_over_an_outage_of_the_database_under_spin() {
    let mut servers = Servers::start(Storage::Postgres);
    for round in rounds(ROUNDS) {
        let family = TokenFamily::create(&servers.connect());
        let count = || family.recorder().count();
        let server = interrupt(&mut servers, &family, &count, round);
        family.settle(&server).unwrap();
    }
}
