//! A server that is killed while clients are at work: what they were told before counts afterwards, and what they were not told may have
//! happened or not (SEC-S2, T4, T5).

use gatehouse_histories::{CountedToken, Object, TokenFamily, WrappedResponse, drive};
use gatehouse_tests::Storage;

use crate::connection::{Connection, rounds};
use crate::disturbance::{CLIENTS, Servers};

const KILLS: usize = 4;
/// Calls of each client, if the kill did not come.
const WITHOUT_END: usize = 10_000;

/// Runs `round` so often against a server, and against three on one database of which the first is killed.
fn over_every_durable_store(round: impl Fn(&mut Servers, u64)) {
    let durable = crate::STORAGES.iter().filter(|it| **it != Storage::Memory);
    for &storage in durable {
        let mut servers = Servers::start(storage);
        rounds(KILLS).for_each(|number| round(&mut servers, number));
    }
}

/// Kills the first server once `object` has had the number of calls in `after`, starts it again, and lets new clients continue with it.
fn interrupt(
    servers: &mut Servers,
    object: &dyn Object,
    after: (&dyn Fn() -> usize, usize),
    seed: u64,
) -> Connection {
    let server = servers.disturb(object, WITHOUT_END, seed, after, |servers| {
        servers.installation.server().kill();
    });
    servers.installation.run().unwrap();
    drive(object, &server, CLIENTS, 4, seed);
    server
}

#[test]
fn t4_uses_never_exceed_their_number_over_a_crash() {
    over_every_durable_store(|servers, round| {
        let token = CountedToken::create(&servers.connect(), 60, 0);
        let count = || token.recorder().count();
        let server = interrupt(servers, &token, (&count, 40), round);
        token.settle(&server).unwrap();
    });
}

#[test]
fn t5_what_was_revoked_stays_revoked_over_a_crash() {
    over_every_durable_store(|servers, round| {
        let family = TokenFamily::create(&servers.connect());
        let count = || family.recorder().count();
        let server = interrupt(servers, &family, (&count, 60), round);
        family.settle(&server).unwrap();
    });
}

#[test]
fn contract_1_8_a_response_is_given_out_at_most_once_over_a_crash() {
    over_every_durable_store(|servers, round| {
        let response = WrappedResponse::create(&servers.connect());
        let count = || response.recorder().count();
        let server = interrupt(servers, &response, (&count, 10), round);
        response.settle(&server).unwrap();
    });
}
