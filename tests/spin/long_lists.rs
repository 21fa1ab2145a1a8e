//! A list of organizations that is too long for one answer, before both fronts (organizations contract 3.1).

use std::thread;
use std::time::Duration;

use gatehouse_tests::{Host, Installation, Storage};

use crate::HOST;
use crate::slow_reader::{MANY, SlowReader, assert_whole, crowd, name};

/// Longer than a client may take to read a part.
const TOO_LONG: Duration = Duration::from_secs(45);

fn crowded(host: Host) -> Installation {
    let installation = Installation::start_program(host.program(), Storage::Memory, "").unwrap();
    crowd(&installation);
    installation
}

#[test]
fn a_long_list_is_whole_and_who_stops_reading_it_is_cut_off() {
    let installation = crowded(HOST);
    let list = installation.as_root("GET", "/api/v2/organizations", None);
    assert_whole(&list.json());

    let mut stopped = SlowReader::ask(&installation, installation.root_token());
    stopped.wait_for_beginning();
    let read = SlowReader::ask(&installation, installation.root_token()).read();
    assert!(read.is_whole);
    assert_whole(&serde_json::from_slice(&read.body).unwrap());
    thread::sleep(TOO_LONG);
    let received = stopped.read();
    assert!(!received.is_whole);
    let body = String::from_utf8(received.body).unwrap();
    assert!(body.contains(&name(0)) && !body.contains(&name(MANY - 1)));
    let one = format!("/api/v2/organizations/{}", name(0));
    assert_eq!(installation.as_root("GET", &one, None).status, 200);
}

#[test]
fn a_long_list_is_whole_on_spin_3() {
    let installation = crowded(Host::Spin3);
    let list = installation.as_root("GET", "/api/v2/organizations", None);
    assert_whole(&list.json());
    let read = SlowReader::ask(&installation, installation.root_token()).read();
    assert!(read.is_whole);
    assert_whole(&serde_json::from_slice(&read.body).unwrap());
}
