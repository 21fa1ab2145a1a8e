//! The database of three servers is killed, has no connection to spare, or lets statements wait for longer than they may, while clients are at
//! work: an answered call has taken effect, and a call without an answer has taken effect once or not at all (SEC-S2, S7, S8, S9, T4, T5).

use std::thread::sleep;
use std::time::{Duration, Instant};

use gatehouse_histories::{CountedToken, Object, TokenFamily, WrappedResponse, drive};
use gatehouse_postgres_server::{Client, PostgresServer, blocking, connect};
use gatehouse_tests::Storage;

use crate::connection::{Connection, rounds};
use crate::disturbance::{CLIENTS, Servers};
use crate::recovery::await_all_serving;

/// Longer than the database is waited for, so that requests fail meanwhile.
const OUTAGE: Duration = Duration::from_millis(2_500);
/// More connections than the database has.
const MOST_CONNECTIONS: usize = 1_000;
/// The code of a refusal for want of a connection.
const TOO_MANY_CONNECTIONS: &str = "53300";
/// Cuts the servers' connections off.
const CUT_SERVERS_OFF: &str =
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'gatehouse'";
/// The database that the servers use.
const THEIR_DATABASE: &str =
    "select datname::text from pg_stat_activity where application_name = 'gatehouse' limit 1";
/// Calls of each client, before the outage and after it.
const CALLS: usize = 24;
const ROUNDS: usize = 1;

/// The outage of the database.
#[derive(Debug, Clone, Copy)]
enum Outage {
    /// It is killed, and started again.
    Killed,
    /// Other clients take all of its connections, including those that the servers had.
    WithoutConnections,
    /// Every statement waits for longer than it may.
    OutOfTime,
}

impl Outage {
    const ALL: [Self; 3] = [Self::Killed, Self::WithoutConnections, Self::OutOfTime];

    /// Causes the outage, and ends it.
    fn happen(self, database: &PostgresServer) {
        match self {
            Self::Killed => {
                database.kill();
                sleep(OUTAGE);
                database.start_again();
            }
            Self::WithoutConnections => blocking(take_connections(database)),
            Self::OutOfTime => blocking(hold_up(database)),
        }
    }
}

async fn take_connections(database: &PostgresServer) {
    let url = database.url("postgres");
    let mut taken = Vec::new();
    take_all(&url, &mut taken).await;
    taken[0].batch_execute(CUT_SERVERS_OFF).await.unwrap();
    // The outage counts from the time when the connections of the servers are taken too.
    take_all(&url, &mut taken).await;
    let full = Instant::now();
    while full.elapsed() < OUTAGE {
        take_all(&url, &mut taken).await;
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Takes connections until none is left.
async fn take_all(url: &str, taken: &mut Vec<Client>) {
    loop {
        match connect(url).await {
            Ok(client) => taken.push(client),
            Err(refused) => {
                let code = refused.code().map(|code| code.code());
                assert_eq!(code, Some(TOO_MANY_CONNECTIONS), "{refused}");
                return;
            }
        }
        assert!(taken.len() < MOST_CONNECTIONS, "they do not run out");
    }
}

async fn hold_up(database: &PostgresServer) {
    let client = connect(&database.url("postgres")).await.unwrap();
    let row = client.query_one(THEIR_DATABASE, &[]).await.unwrap();
    let client = connect(&database.url(row.get(0))).await.unwrap();
    let lock = "begin; lock table gatehouse.entry";
    client.batch_execute(lock).await.unwrap();
    tokio::time::sleep(OUTAGE).await;
    client.batch_execute("rollback").await.unwrap();
}

/// Runs `round` against three servers, with each of the outages.
fn over_each_outage(round: impl Fn(&mut Servers, u64, Outage)) {
    let mut servers = Servers::start(Storage::Postgres);
    for number in rounds(ROUNDS) {
        for outage in Outage::ALL {
            round(&mut servers, number, outage);
        }
    }
}

/// Causes the outage once `object` has had the number of calls in `after`; new clients continue when every server serves again.
fn interrupt(
    servers: &mut Servers,
    object: &dyn Object,
    after: (&dyn Fn() -> usize, usize),
    seed: u64,
    outage: Outage,
) -> Connection {
    let server = servers.disturb(object, CALLS, seed, after, |servers| {
        outage.happen(servers.installation.database());
    });
    await_all_serving(servers);
    drive(object, &server, CLIENTS, 4, seed);
    server
}

#[test]
fn t4_uses_never_exceed_their_number_over_an_outage_of_the_database() {
    over_each_outage(|servers, round, outage| {
        let token = CountedToken::create(&servers.connect(), 120, 0);
        let count = || token.recorder().count();
        let server = interrupt(servers, &token, (&count, 40), round, outage);
        let settled = token.settle(&server);
        settled.unwrap_or_else(|violation| panic!("{outage:?}: {violation}"));
    });
}

#[test]
fn t5_what_was_revoked_stays_revoked_over_an_outage_of_the_database() {
    over_each_outage(|servers, round, outage| {
        let family = TokenFamily::create(&servers.connect());
        let count = || family.recorder().count();
        let server = interrupt(servers, &family, (&count, 40), round, outage);
        let settled = family.settle(&server);
        settled.unwrap_or_else(|violation| panic!("{outage:?}: {violation}"));
    });
}

#[test]
fn contract_1_8_a_response_is_given_out_at_most_once_over_an_outage_of_the_database() {
    over_each_outage(|servers, round, outage| {
        let response = WrappedResponse::create(&servers.connect());
        let count = || response.recorder().count();
        let server = interrupt(servers, &response, (&count, 10), round, outage);
        let settled = response.settle(&server);
        settled.unwrap_or_else(|violation| panic!("{outage:?}: {violation}"));
    });
}
