//! The front for Spin 3 and SpinKube with its records in a PostgreSQL database, as `spin-3-postgres.toml` has it: one client of each protocol,
//! kills, and histories of two processes on one database.

use gatehouse_histories::{CountedToken, drive};
use gatehouse_tests::Host::Spin3Postgres;
use gatehouse_tests::{Installation, Storage};

use crate::connection::{Connection, rounds};
use crate::killed_server::assert_kills_lose_nothing;
use crate::script::{HOSTED, assert_content};

/// Half of those of Spin 4, which have the same store behind them.
const KILLS: usize = 10;
const CLIENTS: usize = 8;
const ROUNDS: usize = 3;

#[test]
fn hvac_configures_logs_in_renews_and_revokes_on_spin_3_over_postgresql() {
    assert_content(Spin3Postgres, "hvac_login.py", HOSTED);
}

#[test]
fn terrasnek_manages_organizations_on_spin_3_over_postgresql() {
    assert_content(Spin3Postgres, "terrasnek_organizations.py", HOSTED);
}

#[test]
fn s2_every_acknowledged_token_is_there_after_ten_kills_on_spin_3_over_postgresql() {
    assert_kills_lose_nothing(Spin3Postgres, KILLS);
}

#[test]
fn s7_a_counted_token_is_linearizable_over_two_processes_on_spin_3() {
    let program = Spin3Postgres.program();
    let installation = Installation::start_program(program, Storage::Postgres, "").unwrap();
    let second = [installation.another_server().unwrap()];
    let servers = Connection::to_each(&installation, &second);
    for round in rounds(ROUNDS) {
        let token = CountedToken::create(&servers, 1 + round * round, 60);
        drive(&token, &servers, CLIENTS, 8, round);
        token.settle(&servers).unwrap();
    }
}
