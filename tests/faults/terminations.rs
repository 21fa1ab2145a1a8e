//! SEC-O1: a server that is terminated again and again under load, or before it serves.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use gatehouse_tests::{Installation, Storage, gatehouse_binary, number_from};
use rustix::process::{Pid, Signal, kill_process};

use crate::HOST;
use crate::killed_server::{assert_alive, under_load};

/// As many as CI has time for. The rule asks for a hundred: `GATEHOUSE_TERMINATIONS=100`.
const TERMINATIONS: usize = 20;
/// Logins that must be acknowledged before the server is terminated, so that every round is a round under load.
const ACKNOWLEDGED_BEFORE_THE_END: usize = 10;

#[test]
fn o1_each_of_many_terminations_under_load_is_clean_and_loses_nothing_acknowledged() {
    let mut installation =
        Installation::start_program(HOST.program(), Storage::Durable, "").unwrap();
    installation.set_up_login().unwrap();
    let mut acknowledged: Vec<String> = Vec::new();
    let terminations = number_from("GATEHOUSE_TERMINATIONS", TERMINATIONS);
    for round in 0..terminations {
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
        assert_alive(&installation, token, terminations);
    }
}

/// Ends `server` by SIGTERM and waits for it; its exit code.
fn terminate(server: &mut Child) -> Option<i32> {
    let process = i32::try_from(server.id()).unwrap();
    let process = Pid::from_raw(process).unwrap();
    kill_process(process, Signal::TERM).unwrap();
    server.wait().unwrap().code()
}

#[test]
fn o1_a_start_that_waits_for_its_database_is_given_up_at_the_signal() {
    // It takes connections and never says a word.
    let database = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = database.local_addr().unwrap().port();
    let place = tempfile::tempdir().unwrap();
    let configuration = place.path().join("gatehouse.toml");
    let text = format!(
        "[listener]\naddress = \"127.0.0.1:0\"\n[storage]\ntype = \"postgresql\"\n\
         url = \"postgresql://gatehouse@127.0.0.1:{port}/gatehouse?sslmode=disable\"\n[seal]\ntype = \"shamir\"\n"
    );
    fs::write(&configuration, text).unwrap();
    let mut server = Command::new(gatehouse_binary())
        .args(["server", "--config"])
        .arg(&configuration)
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let connection = database.accept().unwrap();
    assert_eq!(terminate(&mut server), Some(0));
    drop(connection);
}

#[test]
fn o1_a_start_that_compiles_is_given_up_at_the_signal_and_leaves_no_compiler() {
    let place = tempfile::tempdir().unwrap();
    let mut server = Command::new(gatehouse_binary())
        .args(["dev", "--listen", "127.0.0.1:0"])
        .env("GATEHOUSE_LOG_LEVEL", "info")
        .env("GATEHOUSE_COMPONENTS_CACHE_DIRECTORY", place.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(server.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("compiling the components") {
        line.clear();
        assert_ne!(log.read_line(&mut line).unwrap(), 0, "nothing was compiled");
    }
    assert_eq!(terminate(&mut server), Some(0));
    // The compiler writes to the same pipe, which ends with the last process that holds it.
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("the start is given up"), "{rest}");
}
