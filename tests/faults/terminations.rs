//! SEC-O1: a server that is terminated again and again under load.

use gatehouse_tests::{Installation, Storage};

use crate::HOST;
use crate::killed_server::{assert_alive, under_load};

/// As many as CI has time for. The rule asks for a hundred: `GATEHOUSE_TERMINATIONS=100`.
const TERMINATIONS: usize = 20;
/// Logins that must be acknowledged before the server is terminated, so that every round is a round under load.
const ACKNOWLEDGED_BEFORE_THE_END: usize = 10;

fn terminations() -> usize {
    let given = std::env::var("GATEHOUSE_TERMINATIONS");
    given.map_or(TERMINATIONS, |given| {
        given.parse().expect("GATEHOUSE_TERMINATIONS is a number")
    })
}

#[test]
fn o1_each_of_many_terminations_under_load_is_clean_and_loses_nothing_acknowledged() {
    let mut installation =
        Installation::start_program(HOST.program(), Storage::Durable, "").unwrap();
    installation.set_up_login().unwrap();
    let mut acknowledged: Vec<String> = Vec::new();
    for round in 0..terminations() {
        let mut exit = None;
        let fresh = under_load(&mut installation, ACKNOWLEDGED_BEFORE_THE_END, |server| {
            exit = server.terminate().unwrap();
        });
        assert_eq!(exit, Some(0), "round {round}");
        installation.run().unwrap();
        for token in &fresh {
            assert_alive(&installation, token, round);
        }
        acknowledged.extend(fresh);
    }
    // Later rounds have not undone what earlier ones had acknowledged.
    for token in &acknowledged {
        assert_alive(&installation, token, terminations());
    }
}
