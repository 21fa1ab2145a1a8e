//! Clients that send their bodies slowly, or never to the end: they wait beside each other, and others are served meanwhile.

use std::time::{Duration, Instant};

use gatehouse_tests::{Host, Installation, Storage, number_from};

use crate::HOST;
use crate::slow_request::SlowRequest;

/// More than twice as many as Spin offers to one instance at one time.
const SLOW: usize = 32;
/// Twice as many as there is room for instances. `GATEHOUSE_SLOW_BODIES` sets another number.
const MANY: usize = 300;
/// Slow clients that begin in one moment.
const AT_ONCE: usize = 16;
/// Requests between two pieces of the slow bodies, from this many clients at one time.
const OTHERS: usize = 8;
/// A machine under load is no failure, a server that answers no client is.
const PATIENCE: Duration = Duration::from_secs(60);
/// Half of the time in which a body must arrive: a machine that is slower than that does less before the slow bodies continue.
const HALF_OF_BODY_TIME: Duration = Duration::from_secs(15);

/// Asserts that many clients at once are answered in time; each sends one request, and up to four more until `enough`.
fn assert_others_are_answered_until(enough: Instant, installation: &Installation) {
    let url = format!(
        "http://{}/v1/auth/token/lookup-self",
        installation.address()
    );
    std::thread::scope(|scope| {
        for _ in 0..OTHERS {
            scope.spawn(|| {
                let client = reqwest::blocking::Client::builder()
                    .timeout(PATIENCE)
                    .build()
                    .unwrap();
                for _ in 0..5 {
                    let request = client.get(&url);
                    let request = request.header("X-Vault-Token", installation.root_token());
                    let answer = request.send().expect("an answer in time");
                    assert_eq!(answer.status().as_u16(), 200);
                    if Instant::now() >= enough {
                        break;
                    }
                }
            });
        }
    });
}

fn assert_others_are_answered(installation: &Installation) {
    assert_others_are_answered_until(Instant::now() + PATIENCE, installation);
}

/// A server whose role lets the workload in.
pub fn prepared() -> Installation {
    prepared_on(HOST)
}

/// The same on another host.
pub fn prepared_on(host: Host) -> Installation {
    let installation = Installation::start_program(host.program(), Storage::Memory, "").unwrap();
    installation.set_up_login().unwrap();
    installation
}

#[test]
fn slow_bodies_hold_up_nobody_and_are_answered_in_the_end() {
    let installation = prepared();
    let enough = Instant::now() + HALF_OF_BODY_TIME;
    let mut slow: Vec<SlowRequest> = (0..SLOW)
        .map(|_| SlowRequest::login(&installation))
        .collect();
    for _ in 0..3 {
        assert_others_are_answered_until(enough, &installation);
        slow.iter_mut().for_each(|login| login.send(10));
        if Instant::now() >= enough {
            break;
        }
    }
    // No body waits for the answer to another request.
    slow.iter_mut().for_each(|login| login.send(usize::MAX));
    for login in slow {
        assert_eq!(login.finish(), "HTTP/1.1 200 OK");
    }
    assert_others_are_answered(&installation);
}

#[test]
fn more_slow_bodies_than_there_is_room_for_instances_hold_up_nobody() {
    let installation = prepared();
    let many = number_from("GATEHOUSE_SLOW_BODIES", MANY);
    let mut slow = Vec::with_capacity(many);
    let enough = Instant::now() + HALF_OF_BODY_TIME;
    // Not all in one moment: until an instance has seen that a client is slow, the host makes another instance for the next request.
    for number in 0..many {
        slow.push(SlowRequest::lookup(&installation));
        if number % AT_ONCE == 0 {
            assert_others_are_answered_until(Instant::now(), &installation);
        }
        if Instant::now() >= enough {
            break;
        }
    }
    // No body waits for the answer to another request.
    slow.iter_mut().for_each(|lookup| lookup.send(usize::MAX));
    for lookup in slow {
        assert_eq!(lookup.finish(), "HTTP/1.1 200 OK");
    }
}

#[test]
fn clients_that_go_away_in_the_middle_take_nothing_with_them() {
    let installation = prepared();
    for _ in 0..4 {
        let slow: Vec<SlowRequest> = (0..SLOW)
            .map(|_| SlowRequest::login(&installation))
            .collect();
        assert_others_are_answered(&installation);
        drop(slow);
    }
    assert_others_are_answered(&installation);
    assert_eq!(installation.login().unwrap().status, 200);
}
