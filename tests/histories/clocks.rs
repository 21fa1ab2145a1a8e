//! The clock of one of three servers on one database is set forward and back while clients are at work: no use of a token is lost or
//! counted twice by it, what was revoked stays revoked, and the server's time never goes back (SEC-T6, T4, T5).

use std::thread::sleep;
use std::time::{Duration, Instant};

use gatehouse_histories::{CountedToken, Object, TokenFamily, WrappedResponse, drive};
use gatehouse_ports::{Clock as _, SystemClock};
use gatehouse_tests::{Installation, Storage, set_clock};

use crate::HOST;
use crate::connection::{Connection, further_servers, rounds};
use crate::disturbance::{CLIENTS, Servers};
use crate::recovery::await_all_serving;

/// By how many seconds the clock is set forward in each round. In 200 rounds that is less than what the clients make lasts.
const FORWARD: i32 = 10;
/// By how many seconds it is set back.
const BACK: i32 = 1_200;
/// A clock that was set is read within this time.
const READ_EVERY: Duration = Duration::from_millis(1_500);
const PATIENCE: Duration = Duration::from_secs(300);
/// Calls of each client, before the first step and after it.
const CALLS: usize = 24;
const ROUNDS: usize = 2;

/// Three servers, of which the first has a clock that can be set.
fn start() -> Servers {
    let program = HOST.program().with_settable_clock();
    let installation = Installation::start_program(program, Storage::Postgres, "").unwrap();
    let further = further_servers(&installation, Storage::Postgres);
    Servers {
        installation,
        further,
    }
}

/// The time of the first server, in seconds since 1970.
fn time_of(servers: &Servers) -> u64 {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let health = servers
            .installation
            .send("GET", "/v1/sys/health", None, None);
        // A server that cannot reach its store has none.
        if let Some(time) = health.json()["server_time_utc"].as_u64() {
            return time;
        }
        assert!(Instant::now() < deadline, "{health:?}");
        sleep(Duration::from_millis(100));
    }
}

/// Sets the clock forward, far back and right again, and checks that the server's time goes along forward alone.
fn set_to_and_fro(servers: &Servers, forward: i32) {
    let configuration = servers.installation.configuration();
    let mut latest = time_of(servers);
    for ahead in [forward, forward - BACK, 0] {
        set_clock(&configuration, ahead).unwrap();
        let set = Instant::now();
        // A clock that was set back is not to be seen, so it is given the time in which one that was set forward is read.
        let is_read = |time| match u64::try_from(ahead) {
            Ok(ahead @ 1..) => time + 1 >= SystemClock.now_seconds() + ahead,
            _ => set.elapsed() > READ_EVERY,
        };
        while !is_read(latest) {
            assert!(set.elapsed() < PATIENCE, "the clock is not read");
            sleep(Duration::from_millis(100));
            let time = time_of(servers);
            assert!(time >= latest, "the time has gone back");
            latest = time;
        }
    }
}

/// Sets the clock once `object` has had the number of calls in `after`, and lets new clients continue at the end.
fn step(
    servers: &mut Servers,
    object: &dyn Object,
    after: (&dyn Fn() -> usize, usize),
    round: u64,
) -> Connection {
    let forward = FORWARD * i32::try_from(round + 1).unwrap();
    let server = servers.disturb(object, CALLS, round, after, |servers| {
        set_to_and_fro(servers, forward);
    });
    await_all_serving(servers);
    drive(object, &server, CLIENTS, 4, round);
    server
}

fn over_steps(round: impl Fn(&mut Servers, u64)) {
    let mut servers = start();
    rounds(ROUNDS).for_each(|number| round(&mut servers, number));
}

#[test]
fn t4_uses_never_exceed_their_number_over_a_clock_that_is_set() {
    over_steps(|servers, round| {
        let token = CountedToken::create(&servers.connect(), 120, 0);
        let count = || token.recorder().count();
        let server = step(servers, &token, (&count, 40), round);
        token.settle(&server).unwrap();
    });
}

#[test]
fn t5_what_was_revoked_stays_revoked_over_a_clock_that_is_set() {
    over_steps(|servers, round| {
        let family = TokenFamily::create(&servers.connect());
        let count = || family.recorder().count();
        let server = step(servers, &family, (&count, 40), round);
        family.settle(&server).unwrap();
    });
}

#[test]
fn contract_1_8_a_response_is_given_out_at_most_once_over_a_clock_that_is_set() {
    over_steps(|servers, round| {
        let response = WrappedResponse::create(&servers.connect());
        let count = || response.recorder().count();
        let server = step(servers, &response, (&count, 10), round);
        response.settle(&server).unwrap();
    });
}
