//! One of three servers on one database, or the database itself, stands still while clients are at work, as a paused virtual machine does:
//! nothing that was answered before is forgotten or done twice after it (SEC-S7, S9, T4, T5).

use std::thread::sleep;
use std::time::Duration;

use gatehouse_histories::{CountedToken, Object, TokenFamily, WrappedResponse, drive};
use gatehouse_tests::Storage;
use rustix::process::{Pid, Signal, kill_process};

use crate::connection::{Connection, rounds};
use crate::disturbance::{CLIENTS, Servers};
use crate::recovery::await_all_serving;

/// Longer than the database is waited for, so that requests fail meanwhile.
const STANDSTILL: Duration = Duration::from_millis(2_500);
/// Calls of each client, before the standstill and after it.
const CALLS: usize = 24;
const ROUNDS: usize = 2;

/// Runs `round` against three servers, the processes that stand still being those of one server or of the database.
fn over_each_standstill(round: impl Fn(&mut Servers, u64, &dyn Fn(&mut Servers) -> Vec<Pid>)) {
    let mut servers = Servers::start(Storage::Postgres);
    for number in rounds(ROUNDS) {
        round(&mut servers, number, &|servers| {
            let id = i32::try_from(servers.installation.server().id()).unwrap();
            vec![Pid::from_raw(id).unwrap()]
        });
        round(&mut servers, number, &|servers| {
            servers.installation.database().processes()
        });
    }
}

/// Stops processes for a while once `object` has had the number of calls in `after`; new clients continue when every server serves again.
fn stand_still(
    servers: &mut Servers,
    object: &dyn Object,
    after: (&dyn Fn() -> usize, usize),
    seed: u64,
    processes: &dyn Fn(&mut Servers) -> Vec<Pid>,
) -> Connection {
    let server = servers.disturb(object, CALLS, seed, after, |servers| {
        let processes = processes(servers);
        // A process of the database may have ended since.
        let signal = |signal| {
            for process in &processes {
                let _ = kill_process(*process, signal);
            }
        };
        signal(Signal::STOP);
        sleep(STANDSTILL);
        signal(Signal::CONT);
    });
    await_all_serving(servers);
    drive(object, &server, CLIENTS, 4, seed);
    server
}

#[test]
fn t4_uses_never_exceed_their_number_over_a_standstill() {
    over_each_standstill(|servers, round, processes| {
        let token = CountedToken::create(&servers.connect(), 120, 0);
        let count = || token.recorder().count();
        let server = stand_still(servers, &token, (&count, 40), round, processes);
        token.settle(&server).unwrap();
    });
}

#[test]
fn t5_what_was_revoked_stays_revoked_over_a_standstill() {
    over_each_standstill(|servers, round, processes| {
        let family = TokenFamily::create(&servers.connect());
        let count = || family.recorder().count();
        let server = stand_still(servers, &family, (&count, 40), round, processes);
        family.settle(&server).unwrap();
    });
}

#[test]
fn contract_1_8_a_response_is_given_out_at_most_once_over_a_standstill() {
    over_each_standstill(|servers, round, processes| {
        let response = WrappedResponse::create(&servers.connect());
        let count = || response.recorder().count();
        let server = stand_still(servers, &response, (&count, 10), round, processes);
        response.settle(&server).unwrap();
    });
}
